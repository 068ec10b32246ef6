"""Requests of coding agents, as they write them, read as messages; and what is answered."""

import json
from http.client import HTTPConnection
from typing import Any, ClassVar

import pytest
from inspect_ai.model import ChatMessage, ChatMessageAssistant, ChatMessageTool
from inspect_ai.tool import ToolCall

from constraintrot.coding_agents.endpoint import serving
from constraintrot.coding_agents.wire import answers
from constraintrot.coding_agents.wire.answers import Protocol
from constraintrot.coding_agents.wire.conversation import OpaqueError
from constraintrot.coding_agents.wire.conversation import read as read_request
from constraintrot.coding_agents.wire.messages import ModelRequest, Usage, answer_of

USAGE = Usage(7, 2)
CALL = ToolCall(id="c9", function="send", arguments={"to": "a@example.org"})
REPLY = ChatMessageAssistant(content="I send it.", tool_calls=[CALL])


def read(protocol: Protocol, body: dict[str, Any]) -> ModelRequest:
    return ModelRequest.of(read_request(protocol, body))


def made(message: ChatMessage) -> list[ToolCall]:
    assert isinstance(message, ChatMessageAssistant)
    return message.tool_calls or []


def answered(request: ModelRequest) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    protocol, answer = request.request.protocol, answer_of(request.request, REPLY, USAGE)
    lines = list(answers.events(protocol, answer))
    # The API's own end of a stream.
    done = [("", "[DONE]")] if protocol == "chat" else []
    events = [json.loads(data) for _, data in lines[: len(lines) - len(done)]]
    assert lines[len(events) :] == done
    names = [name for name, _ in lines[: len(events)]]
    assert names == [event.get("type", "") for event in events]
    return answers.whole(protocol, answer), events


def told(request: ModelRequest) -> list[tuple[str, str]]:
    return [(m.role, m.text) for m in request.messages]


def test_a_message_of_several_blocks_is_one_and_results_are_the_tools(  # Claude Code
) -> None:
    body: dict[str, Any] = {
        "model": "m",
        "system": [{"type": "text", "text": "Be kind."}, {"type": "text", "text": "Be brief."}],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "<note>"}, {"type": "text", "text": "Go"}]},
            {"role": "assistant", "content": [
                {"type": "thinking", "thinking": "hm"},
                {"type": "text", "text": "Yes."},
                {"type": "tool_use", "id": "t1", "name": "mcp__office__send", "input": {"to": "x"}},
            ]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "sent"}]},
                {"type": "image", "source": {}},
            ]},
        ],
        "tools": [{"name": "mcp__office__send", "description": "d", "input_schema": {"properties": {}}}],
    }  # fmt: skip
    request = read("messages", body)
    assert told(request) == [
        ("system", "Be kind.\nBe brief."),
        ("user", "<note>\nGo"),
        ("assistant", "Yes."),
        ("tool", "sent"),
        ("user", "[image]"),
    ]
    result = request.messages[3]
    assert isinstance(result, ChatMessageTool)
    assert result.function == "send"
    assert [tool.name for tool in request.tools] == ["send"]
    whole, events = answered(request)
    assert whole["content"][1]["name"] == "mcp__office__send"
    assert whole["stop_reason"] == "tool_use"
    kinds = [event["type"] for event in events]
    assert kinds[0] == "message_start"
    assert kinds[-2:] == ["message_delta", "message_stop"]
    assert kinds.count("content_block_start") == 2


def test_items_namespaces_and_developer_messages() -> None:  # Codex
    body: dict[str, Any] = {
        "instructions": "Base.",
        "input": [
            {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "Rule."}]},
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Go"}]},
            {"type": "reasoning", "summary": []},
            {"type": "function_call", "call_id": "c1", "namespace": "mcp__office", "name": "send",
             "arguments": "{\"to\": \"x\"}"},
            {"type": "function_call_output", "call_id": "c1", "output": "[{\"page\": 1}]"},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Ok"}]},
        ],
        "tools": [
            {"type": "namespace", "name": "mcp__office", "tools": [{"name": "send", "parameters": {}}]},
            {"type": "function", "name": "exec_command", "parameters": {}},
            {"type": "web_search"},
        ],
    }  # fmt: skip
    request = read("responses", body)
    assert told(request) == [
        ("system", "Base."),
        ("system", "Rule."),
        ("user", "Go"),
        ("assistant", ""),
        # JSON that a tool returned is what it returned.
        ("tool", '[{"page": 1}]'),
        ("assistant", "Ok"),
    ]
    assert made(request.messages[3])[0].arguments == {"to": "x"}
    assert [tool.name for tool in request.tools] == ["send", "exec_command", "web_search"]
    whole, events = answered(request)
    assert (whole["output"][1]["namespace"], whole["output"][1]["name"]) == ("mcp__office", "send")
    assert events[-1]["response"]["usage"]["total_tokens"] == 9
    # OpenAI's client gives up at a text without its part.
    kinds = " ".join(event["type"].removeprefix("response.") for event in events)
    part = "content_part.added output_text.delta output_text.done content_part.done"
    assert part in kinds


@pytest.mark.parametrize("order", [1, -1])
def test_a_call_goes_to_the_scenario_s_tool_and_not_to_the_agent_s_own(order: int) -> None:
    declared = [{"name": "send"}, {"name": "mcp_office_send"}][::order]
    request = read("gemini", {"contents": [], "tools": [{"functionDeclarations": declared}]})
    whole, _ = answered(request)
    (_, called) = whole["candidates"][0]["content"]["parts"]
    assert called["functionCall"]["name"] == "mcp_office_send"


@pytest.mark.parametrize("kind", ["compaction_trigger", "compaction"])
def test_a_compaction_that_only_its_provider_can_read_is_no_measurement(kind: str) -> None:
    body = {"input": [{"role": "user", "content": "Go"}, {"type": kind}]}
    with pytest.raises(OpaqueError, match="so it is no measurement"):
        read("responses", body)


def test_chat_completions() -> None:  # opencode, pi
    function = {"name": "office_send", "description": "d", "parameters": {"required": ["to"]}}
    calls = [{"id": "c1", "function": {"name": "office_send", "arguments": "not json"}}]
    body: dict[str, Any] = {
        "messages": [
            {"role": "system", "content": "Base."},
            {"role": "user", "content": [{"type": "text", "text": "Go"}]},
            {"role": "assistant", "content": None, "tool_calls": calls},
            {"role": "tool", "tool_call_id": "c1", "content": "sent"},
        ],
        "tools": [{"type": "function", "function": function}],
    }
    request = read("chat", body)
    assert [m.role for m in request.messages] == ["system", "user", "assistant", "tool"]
    assert made(request.messages[2])[0].parse_error
    assert told(request)[1] == ("user", "Go")
    _, (first, last, usage) = answered(request)
    assert first["choices"][0]["delta"]["tool_calls"][0]["function"]["name"] == "office_send"
    assert last["choices"][0]["finish_reason"] == "tool_calls"
    assert usage["usage"]["prompt_tokens"] == 7


def test_parts_without_ids_are_matched_in_order() -> None:  # Gemini CLI
    body: dict[str, Any] = {
        "systemInstruction": {"role": "user", "parts": [{"text": "Base."}]},
        "contents": [
            {"role": "user", "parts": [{"text": "Go"}]},
            {"role": "model", "parts": [
                {"text": "hm", "thought": True},
                {"functionCall": {"name": "mcp_office_send", "args": {"to": "x"}}},
                {"functionCall": {"name": "mcp_office_send", "args": {"to": "y"}}},
            ]},
            {"role": "user", "parts": [
                {"functionResponse": {"name": "mcp_office_send", "response": {"output": "one"}}},
                {"functionResponse": {"name": "mcp_office_send", "response": {"error": "two"}}},
            ]},
        ],
        "tools": [{"functionDeclarations": [
            {"name": "mcp_office_send", "parameters": {"properties": {"to": {"type": "STRING"}}}},
        ]}],
    }  # fmt: skip
    request = read("gemini", body)
    assert told(request)[-2:] == [("tool", "one"), ("tool", "two")]
    ids = [call.id for call in made(request.messages[2])]
    assert [m.tool_call_id for m in request.messages[3:] if isinstance(m, ChatMessageTool)] == ids
    assert request.tools[0].parameters.properties["to"].type == "string"
    _, (event,) = answered(request)
    parts = event["candidates"][0]["content"]["parts"]
    assert [part.get("text") for part in parts] == ["I send it.", None]
    assert parts[1]["functionCall"]["name"] == "mcp_office_send"


def test_an_unreadable_body_is_a_fault_and_no_empty_conversation() -> None:
    class Broken:
        faults: ClassVar[list[Exception]] = []

        def broke(self, error: Exception) -> None:
            self.faults.append(error)

    model: Any = Broken()
    bodies = [(b"{", {}), (b"[]", {}), (b"x", {"Content-Encoding": "gzip"}), (b"\x28\xb5", {})]
    with serving(model) as port:
        for body, headers in bodies:
            asked = HTTPConnection("127.0.0.1", port)
            asked.request("POST", "/v1/messages", body, headers)
            assert asked.getresponse().status == 400
        asked = HTTPConnection("127.0.0.1", port)
        asked.request("POST", "/telemetry", b"{")
        assert asked.getresponse().status == 404
    assert ["a request" in str(one) for one in model.faults] == [True] * len(bodies)
