"""Pruning forbids nothing, and what is withheld is called by no name."""

import json
from typing import Any

import pytest
from inspect_ai.model import ModelOutput
from inspect_ai.tool import ToolCall, ToolFunction

from constraintrot.memory.pipeline import Budget, Pipeline
from constraintrot.memory.pipeline.tools import META, MetaTools, ToolPruning
from tests.harnesses.messages import user
from tests.memory.pipeline.conversations import prepared, tool

TOOLS = [tool(f"report_{at:03}", "Writes a report.") for at in range(120)]
DELETE = tool("delete_branch", "Deletes a branch of the repository.")
LIST = tool("list_files", "Lists the files of a folder.")


def calls(output: ModelOutput) -> list[tuple[str, dict[str, Any]]]:
    return [(call.function, call.arguments) for call in output.message.tool_calls or []]


def called(name: str, /, **arguments: Any) -> ModelOutput:
    return ModelOutput.for_tool_call("m", name, arguments)


def test_few_tools_are_left_alone_and_many_are_chosen_by_the_request() -> None:
    pipeline = Pipeline([ToolPruning(core=["list_files"])])
    few = [*TOOLS[:13], DELETE, LIST]
    assert prepared(pipeline, [user("Delete the branch.")], few).tools == few
    found = prepared(pipeline, [user("Delete the branch.")], [*TOOLS[:20], DELETE, LIST])
    names = [one.name for one in found.tools]
    assert len(names) == Budget().most_tools
    assert {"delete_branch", "list_files"} <= set(names)
    assert names == sorted(names)
    assert len(found.traces[0].notes["pruned"]) == 10


def test_a_withheld_tool_is_never_offered_and_no_call_of_it_goes_through() -> None:
    pipeline = Pipeline([ToolPruning(withheld=["delete_branch"])])
    found = prepared(pipeline, [user("Delete the branch.")], [DELETE, LIST])
    assert [one.name for one in found.tools] == ["list_files"]
    for output in (
        called("delete_branch", name="main"),
        called("execute_tool", toolName="delete_branch", params={"name": "main"}),
    ):
        stopped = found.answered(output)
        assert calls(stopped) == []
        assert "'delete_branch' was stopped" in stopped.completion
    assert calls(found.answered(called("list_files"))) == [("list_files", {})]


def test_a_large_catalogue_is_three_tools_and_calls_leave_under_their_own_names() -> None:
    layer = MetaTools(core=["list_files"], withheld=["delete_branch"])
    catalogue = [*TOOLS, DELETE, LIST]
    found = prepared(Pipeline([layer]), [user("Go.")], catalogue)
    assert [one.name for one in found.tools] == ["list_files", *(one.name for one in META)]
    inner = {"toolName": "report_007", "params": {"of": "May"}}
    for output in (
        called("execute_tool", **inner),
        called("execute_tool", toolName="report_007", params=json.dumps({"of": "May"})),
        called("execute_tool", toolName="execute_tool", params=inner),
    ):
        assert calls(found.answered(output)) == [("report_007", {"of": "May"})]
    for name in ("delete_branch", "no_such_tool", ""):
        output = called("execute_tool", toolName=name, params={})
        assert calls(found.answered(output)) == []


def test_a_stopped_call_takes_no_other_with_it() -> None:
    layer = MetaTools(withheld=["delete_branch"])
    found = prepared(Pipeline([layer]), [user("Go.")], [*TOOLS, DELETE])
    output = called("execute_tool", toolName="report_001", params={})
    assert output.message.tool_calls is not None
    output.message.tool_calls.append(
        ToolCall(id="2", function="execute_tool", arguments={"toolName": "delete_branch"})
    )
    assert calls(found.answered(output)) == [("report_001", {})]


def test_search_and_schema_tell_of_what_is_not_withheld() -> None:
    layer = MetaTools(withheld=["delete_branch"])
    catalogue = [*TOOLS, DELETE, LIST]
    search = ToolCall(
        id="1", function="search_tools", arguments={"query": "files of a folder", "limit": 1}
    )
    assert layer.look_up(catalogue, search) == "list_files: Lists the files of a folder."
    schema = ToolCall(id="1", function="get_tool_schema", arguments={"toolName": "list_files"})
    assert str(layer.look_up(catalogue, schema)).startswith("list_files: Lists")
    hidden = ToolCall(id="1", function="get_tool_schema", arguments={"toolName": "delete_branch"})
    assert layer.look_up(catalogue, hidden) == "There is no tool 'delete_branch'."
    assert layer.look_up(catalogue, ToolCall(id="1", function="list_files", arguments={})) is None


@pytest.mark.parametrize("layer", [ToolPruning, MetaTools])
def test_a_tool_that_the_answer_must_call_is_on_offer(layer: type[ToolPruning]) -> None:
    chosen = ToolFunction("report_119")
    found = prepared(Pipeline([layer()]), [user("Delete it.")], TOOLS, tool_choice=chosen)
    assert "report_119" in [one.name for one in found.tools]
    gone = Pipeline([layer(withheld=["report_119"])])
    found = prepared(gone, [user("Delete it.")], TOOLS, tool_choice=chosen)
    assert "report_119" not in [one.name for one in found.tools]
