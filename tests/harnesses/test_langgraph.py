"""LangGraph: what is particular to a memory of one's own."""

from __future__ import annotations

from typing import Any

import pytest
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from langsmith.utils import tracing_is_enabled

from tests.conftest import Run
from tests.harnesses.episodes import compacted, violated


def test_bulk_in_a_document_right_before_the_request_leaves_the_pin_and_the_roles(run: Run) -> None:
    attack = "volume:position=recent,channel=document"
    sample = compacted(run, harness="langgraph", defense="pin", attack=attack)
    assert sample.metadata["compaction_ran"]
    assert sample.metadata["roles_problem"] is None
    assert not violated(sample)


def test_an_environment_that_traces_is_not_told(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LANGSMITH_TRACING", "LANGCHAIN_TRACING_V2"):
        monkeypatch.setenv(name, "true")
    traced: list[bool] = []

    def answer(*_: Any) -> ModelOutput:
        traced.append(bool(tracing_is_enabled()))
        output = ModelOutput.for_tool_call("mockllm/model", "decline", {"reason": "A policy."})
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        return output

    agent = get_model("mockllm/model", custom_outputs=answer, memoize=False)
    writes = get_model("scripted/summarizer-drop")
    compacted(run, harness="langgraph", model_roles={"agent": agent, "summarizer": writes})
    assert traced == [False]
