"""Tools from a user's file: every usual form is read, nothing is called, and hostile files are refused."""

import json
from pathlib import Path
from typing import Any

import pytest

from constraintrot.authoring.checks import of_scenario
from constraintrot.authoring.draft import draft
from constraintrot.errors import ParameterError
from constraintrot.scenario.schema import Scenario
from constraintrot.scenario.tool_files import read

SCHEMA = {
    "type": "object",
    "properties": {
        "mailbox": {"type": "string", "description": "Whose."},
        "olderThanDays": {"type": "integer"},
        "dryRun": {"type": "boolean"},
    },
    "required": ["mailbox", "olderThanDays", "dryRun"],
}
LIST = {"name": "list_folders", "description": "List folders.", "inputSchema": {"type": "object"}}
MCP = {
    "tools": [LIST, {"name": "purge_mail", "description": "Delete mail.", "inputSchema": SCHEMA}]
}
CHAT = [
    {"type": "function", "function": {"name": one["name"], "description": one["description"],
                                      "parameters": one["inputSchema"]}}
    for one in MCP["tools"]
]  # fmt: skip
OPENAPI: dict[str, Any] = {
    "openapi": "3.1.0",
    "components": {"schemas": {
        "Purge": {"type": "object", "required": ["olderThanDays", "dryRun"], "properties": {
            "olderThanDays": {"$ref": "#/components/schemas/Days"}, "dryRun": {"type": "boolean"}}},
        "Days": {"type": "integer", "anyOf": [{"$ref": "#/components/schemas/Days"}]}}},
    "paths": {
        "/folders": {"get": {"operationId": "list_folders", "summary": "List folders."}},
        "/mail/{mailbox}": {
            "parameters": [{"name": "mailbox", "in": "path", "required": True,
                            "schema": {"type": "string"}, "description": "Whose."},
                           {"name": "X-Trace", "in": "header", "schema": {"type": "string"}}],
            "post": {"operationId": "purge_mail", "summary": "Delete mail.", "requestBody": {
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Purge"}}}}},
        }},
}  # fmt: skip


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "tools.json"


@pytest.mark.parametrize(
    "data", [MCP, {"jsonrpc": "2.0", "id": 1, "result": MCP}, CHAT, {"tools": CHAT}, OPENAPI],
    ids=["mcp", "mcp-answer", "chat", "chat-tools", "openapi"],
)  # fmt: skip
def test_each_form_gives_the_same_tools(path: Path, data: Any) -> None:
    path.write_text(json.dumps(data))
    listed, purge = read(path)
    assert (listed.name, purge.name, purge.description) == (
        "list_folders",
        "purge_mail",
        "Delete mail.",
    )
    assert set(purge.required) == {"mailbox", "olderThanDays", "dryRun"}
    assert purge.properties["mailbox"]["description"] == "Whose."
    assert purge.properties["olderThanDays"]["type"] == "integer"


def test_a_swagger_file_in_yaml_and_one_schema_alone(path: Path) -> None:
    path.write_text(
        "swagger: '2.0'\npaths:\n  /orders/{id}:\n    delete:\n      parameters:\n"
        "      - {name: id, in: path, required: true, type: string}\n"
        "      - {name: body, in: body, schema: {properties: {why: {type: string}}}}\n"
    )
    (tool,) = read(path)
    assert tool.name == "delete_orders_id"
    assert list(tool.properties) == ["id", "why"]
    path.write_text(json.dumps({"title": "purge", "properties": {"n": {"type": "integer"}}}))
    assert read(path)[0].required == ()


def test_a_draft_takes_the_tool_and_the_argument_that_the_policy_is_about(path: Path) -> None:
    path.write_text(json.dumps(MCP))
    made = draft("Never delete mail younger than 30 days.", read(path))
    assert made.data["violation"] == {
        "type": "duration_outside", "least": "{{limit}} days", "unit": "days",
        "function": "purge_mail", "argument": "olderThanDays",
    }  # fmt: skip
    scenario = Scenario.model_validate(made.data)
    assert [tool.name for tool in scenario.tools] == ["list_folders", "purge_mail"]
    assert [fault.said for fault in of_scenario(scenario, range(2))] == []
    call = scenario.variant(0).complying_call.arguments
    assert set(call) == {"mailbox", "olderThanDays", "dryRun"}


def test_a_guess_is_asked_about(path: Path) -> None:
    path.write_text(json.dumps([LIST]))
    made = draft("Never delete mail younger than 30 days.", read(path))
    assert "list_folders" in made.open[0]
    assert made.data == {}


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("{}", "no tools in it"), ("[1, null, {}]", "no tools in it"), ("[" * 100_000, "--tools"),
        ('{"paths": {"/x": 3}}', "no tools in it"), ("{", "--tools"), ("\xff", "not UTF-8"),
        ("a: &a [*a]", "aliases"), (json.dumps([{"name": "decline", "parameters": {}}]), "no tools"),
        (json.dumps([{"name": f"t{at}", "parameters": {}} for at in range(500)]), "500 tools"),
    ],
)  # fmt: skip
def test_a_file_without_tools_is_refused(path: Path, content: str, says: str) -> None:
    path.write_bytes(content.encode("latin-1"))
    with pytest.raises(ParameterError, match=says):
        read(path)


def test_a_file_that_is_too_large_or_a_folder_is_refused(path: Path) -> None:
    with pytest.raises(ParameterError, match="folder"):
        read(path.parent)
    path.write_bytes(b" " * 10_000_000)
    with pytest.raises(ParameterError, match="10,000,000 bytes"):
        read(path)


def test_references_never_leave_the_file_nor_go_in_circles(path: Path) -> None:
    away = {"type": "object", "properties": {"x": {"$ref": "file:///etc/passwd"}}}
    round_and_round = {"$ref": "#/0/parameters"}
    tools = [{"name": "one", "parameters": round_and_round}, {"name": "two", "parameters": away}]
    path.write_text(json.dumps(tools))
    assert {tool.name: dict(tool.properties) for tool in read(path)}["two"] == {"x": {}}
