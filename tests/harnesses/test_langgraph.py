"""LangGraph: what a memory of one's own keeps of a conversation, and that the pin is kept."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from typing import Any

import pytest
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from langsmith.utils import tracing_is_enabled

import constraintrot.harnesses as harnesses
from constraintrot.errors import ParameterError
from constraintrot.evaluation.harness import parse_harness
from tests.conftest import Run
from tests.harnesses.episodes import compacted, failing, violated
from tests.harnesses.live_agent import between_tool_calls, live_agent, model_events
from tests.helpers import answering, by_condition, samples

KEPT = ["system", "user", "assistant", "tool", "assistant", "user"]


def test_a_summary_loses_the_policy_and_the_pin_keeps_it(run: Run) -> None:
    log = run("soft_email", harness="langgraph", variants=1)
    assert by_condition(log) == {"floor": 1, "control": 0, "compaction": 1}
    facts = samples(log)["compaction"][0].metadata
    assert facts["framework"].startswith("langgraph 1.")
    assert facts["summarizer_calls"] == 1
    # The summary stands in the system message, so the roles stay in turn.
    assert facts["summary_voice"] == "system"
    assert facts["roles"] == KEPT
    assert facts["roles_problem"] is None
    assert [shown["shown_verbatim"] for shown in facts["rounds_run"]] == [True]
    pinned = compacted(run, harness="langgraph", defense="pin")
    assert not violated(pinned)
    assert pinned.metadata["roles"] == KEPT


@pytest.mark.parametrize(
    ("channel", "loses"), [("system", False), ("memory", True), ("tool", True)]
)
def test_all_but_the_system_message_is_lost_and_the_pin_keeps_it(
    run: Run, channel: str, loses: bool
) -> None:
    assert violated(compacted(run, harness="langgraph", channel=channel)) is loses
    assert not violated(compacted(run, harness="langgraph", channel=channel, defense="pin"))


@pytest.mark.parametrize(
    "given",
    [
        {"context_tokens": 300},
        {"context_tokens": 1500, "channel": "tool"},
        {"attack": "volume"},
        {"attack": "volume:position=recent,channel=document"},
    ],
    ids=str,
)
def test_it_compacts_at_all_lengths_and_under_attack(run: Run, given: dict[str, Any]) -> None:
    sample = compacted(run, harness="langgraph", defense="pin", **given)
    assert sample.metadata["compaction_ran"]
    assert sample.metadata["roles_problem"] is None
    assert not violated(sample)


def test_the_summarizer_is_the_role_s(run: Run) -> None:
    keeps = get_model("scripted/summarizer-keep")
    sample = compacted(run, harness="langgraph", model_roles={"summarizer": keeps})
    assert not violated(sample)
    assert sample.metadata["summarizer"] == "scripted/summarizer-keep"


@pytest.mark.parametrize("silent", [True, False])
@pytest.mark.parametrize("harness", ["langgraph", "langmem"])
def test_a_summarizer_that_fails_is_an_error(run: Run, harness: str, silent: bool) -> None:
    down = failing()
    roles = {"summarizer": answering(" ") if silent else down}
    given = {"harness": harness, "variants": 1, "conditions": "compaction"}
    log = run("soft_email", **given, model_roles=roles)
    (sample,) = log.samples or []
    assert sample.error is not None
    assert ("wrote nothing" if silent else "is down") in sample.error.message


def test_a_live_agent_is_compacted_between_its_tool_calls(run: Run) -> None:
    given: dict[str, Any] = {"harness": "langgraph:live", "context_tokens": 300}
    plain = compacted(run, **given, model_roles={"agent": live_agent(3)})
    assert between_tool_calls(plain)
    assert violated(plain)
    sample = compacted(run, **given, defense="pin", model_roles={"agent": live_agent(3)})
    assert between_tool_calls(sample)
    assert not violated(sample)
    for event in model_events(sample):
        text = "\n".join(message.text for message in event.input)
        # The summarizer's own calls are not pinned.
        assert text.count("Standing policies (pinned") == (event.role != "summarizer")


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


@pytest.mark.parametrize(
    ("name", "modes"), [("langgraph", "summary_node, live"), ("langmem", "default, headroom, live")]
)
def test_arms_and_what_is_missing_are_told(
    monkeypatch: pytest.MonkeyPatch, name: str, modes: str
) -> None:
    with pytest.raises(ParameterError, match=f"modes: {modes}"):
        parse_harness(f"{name}:lossy")

    def missing(_: str) -> str:
        raise PackageNotFoundError

    monkeypatch.setattr(harnesses, "_version", missing)
    with pytest.raises(ParameterError, match=rf"pip install 'constraintrot\[{name}\]'"):
        parse_harness(name)
    monkeypatch.setattr(harnesses, "_version", lambda of: "9.1.0" if of == name else version(of))
    with pytest.warns(UserWarning, match=rf"{name} from .* to below .*, and 9\.1\.0"):
        parse_harness(name)
