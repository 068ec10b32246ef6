"""A pipeline in Inspect's agents, and what its page and figures say."""

import asyncio
import shutil
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import Task
from inspect_ai import eval as inspect_eval
from inspect_ai.agent import react
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalSample
from inspect_ai.model import ChatMessage, GenerateConfig, Model, ModelOutput, get_model
from inspect_ai.solver import use_tools
from inspect_ai.tool import Tool, tool

from constraintrot.memory.pipeline import Pipeline
from constraintrot.memory.pipeline.cache import ExactCache
from constraintrot.memory.pipeline.inspect_agent import PipelineModel, pipeline_filter, pipelined
from constraintrot.memory.pipeline.masking import Masking
from constraintrot.memory.pipeline.tools import MetaTools
from results.tools import their_claims
from results.tools.docs_figures import FOLDER
from results.tools.pipeline import claims, measures
from tests.harnesses.messages import user
from tests.memory.pipeline.conversations import RULE, rules


@tool
def write_to() -> Tool:
    async def execute(address: str) -> str:
        """Write to somebody.

        Args:
            address: whom.
        """
        return f"wrote to {address}"

    return execute


def playing(*answers: ModelOutput) -> tuple[Model, list[list[ChatMessage]]]:
    left, shown = list(answers), list[list[ChatMessage]]()

    def answer(input: list[ChatMessage], *_: Any) -> ModelOutput:
        shown.append(list(input))
        return left.pop(0)

    return get_model("mockllm/model", custom_outputs=answer, memoize=False), shown


def call(**arguments: Any) -> ModelOutput:
    return ModelOutput.for_tool_call("m", arguments.pop("function", "write_to"), arguments)


def said(text: str) -> ModelOutput:
    return ModelOutput.from_content("m", text)


def evaluated(agent: Any, request: str, model: Model, folder: Path) -> EvalSample:
    task = Task(dataset=[Sample(input=request)], solver=agent)
    (log,) = inspect_eval(task, model=model, log_dir=str(folder), display="none")
    assert log.status == "success", log.error
    (sample,) = log.samples or []
    return sample


@pytest.mark.parametrize("how", ["solver", "react"])
def test_an_agent_of_inspects_works_through_it(how: str, tmp_path: Any) -> None:
    model, shown = playing(
        call(address="masked-1@example.org"), said("Wrote to masked-1@example.org.")
    )
    pipeline = Pipeline([Masking()], pins=rules(RULE))
    agent: Any = (
        react(model=PipelineModel(pipeline, model), tools=[write_to()], submit=False)
        if how == "react"
        else [use_tools(write_to()), pipelined(pipeline)]
    )
    sample = evaluated(agent, "Write to ana@example.org.", model, tmp_path)
    assert sample.output.completion == "Wrote to ana@example.org."
    assert any(message.text == "wrote to ana@example.org" for message in sample.messages)
    assert len(shown) == 2
    for messages in shown:
        told = "\n".join(message.text for message in messages)
        assert told.count(RULE) == 1
        assert "ana@" not in told


def test_the_solver_answers_meta_tools(tmp_path: Any) -> None:
    search = call(function="search_tools", query="write to somebody")
    through = call(function="execute_tool", toolName="write_to", params={"address": "Ana"})
    model, shown = playing(search, through, said("Done."))
    solver: Any = [use_tools(write_to()), pipelined(Pipeline([MetaTools(above=0)]))]
    evaluated(solver, "Write to Ana.", model, tmp_path)
    assert shown[1][-1].text == "write_to: Write to somebody."
    assert shown[2][-1].text == "wrote to Ana"


def test_a_filter_answers_for_a_bridged_agent() -> None:
    model, shown = playing(said("First."), said("Second."))
    ask = pipeline_filter(Pipeline([ExactCache()], pins=rules(RULE)))
    for _ in range(2):
        output = asyncio.run(ask(model, [user("Hi.")], [], None, GenerateConfig()))
        assert output.completion == "First."
    assert len(shown) == 1
    assert RULE in shown[0][0].text


ROOT = Path(__file__).parents[3]
RESULTS = ROOT / "results"


def test_the_figures_show_the_layers_of_the_committed_table() -> None:
    layers = {row["layer"] for row in their_claims.read(RESULTS / "which-layer.csv")}
    for name in ("pipeline-layers", "pipeline-layers-pinned"):
        drawn = (ROOT / FOLDER / f"{name}.svg").read_text("utf-8")
        assert all(f">{layer}<" in drawn for layer in layers)


def test_the_rows_are_the_committed_tables_and_a_slower_layer_is_told(tmp_path: Path) -> None:
    # One of the rows is the playbook's, and one Governance Decay's.
    others = [RESULTS / "reproduction.yaml", *RESULTS.glob("playbook-adaptation*.csv")]
    for path in (*map(RESULTS.joinpath, claims.TABLES), *others):
        shutil.copy(path, tmp_path)
    page = claims.page(tmp_path)
    assert page == (RESULTS / claims.PAGE).read_text("utf-8")
    assert all(f"*{one.verdict}*:" in page for one in claims.listed(tmp_path))
    path = tmp_path / "pipeline-layers.csv"
    rows = their_claims.read(path)
    for row in rows:
        if row["layer"] == "prefix":
            row["ms_median"] = "1.2"
    their_claims.write(path, rows)
    (line,) = [line for line in claims.page(tmp_path).splitlines() if "L1, prompt" in line]
    assert line.endswith("| below 1 ms | 1.20 ms | opposite |")
    path.unlink()
    assert not claims.there(tmp_path)


def test_the_latencies_are_the_committed_ones() -> None:
    rows = their_claims.read(RESULTS / "pipeline-latency.csv")
    committed = {row["between"]: int(row["requests"]) for row in rows}
    assert {row["between"]: row["requests"] for row in measures.latency()} == committed
