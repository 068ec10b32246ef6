"""The four protocols that coding agents speak, as far as a scripted answer needs them.

Anthropic's messages, OpenAI's responses and chat completions, and Gemini's generateContent,
each whole or as a stream.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

Protocol: TypeAlias = Literal["messages", "responses", "chat", "gemini"]
Json: TypeAlias = dict[str, Any]
_ROLES: Final = {"model": "assistant"}


@dataclass(frozen=True)
class Said:
    """One text in a request, and the role that it is in."""

    role: str
    text: str


@dataclass(frozen=True)
class Reply:
    """What the endpoint answers.

    Attributes:
        text: of the answer; empty with a call.
        call: name and arguments of a tool to call, if any.
        used: tokens that the request is said to have had.
    """

    text: str
    used: int
    call: tuple[str, Json] | None = None


def protocol_of(path: str) -> Protocol | None:
    """The protocol of a request's path; None for what is no request for an answer."""
    path = path.partition("?")[0]
    if path.endswith("/chat/completions"):
        return "chat"
    if path.endswith("/responses"):
        return "responses"
    if path.endswith("/messages"):
        return "messages"
    return "gemini" if path.endswith((":generateContent", ":streamGenerateContent")) else None


def said(protocol: Protocol, body: Json) -> list[Said]:
    """The texts of a request, in their order, instructions first."""
    if protocol == "gemini":
        first = [("system", (body.get("systemInstruction") or {}).get("parts"))]
        turns = [(turn.get("role", "user"), turn.get("parts")) for turn in body["contents"]]
    elif protocol == "responses":
        given = body.get("input") or []
        items = [{"role": "user", "content": given}] if isinstance(given, str) else given
        first = [("instructions", body.get("instructions"))]
        turns = [(item.get("role", "tool"), item.get("content")) for item in items]
    else:
        first = [("system", body.get("system"))]
        turns = [(turn["role"], turn.get("content")) for turn in body["messages"]]
    return [
        Said(_ROLES.get(role, role), text)
        for role, content in first + turns
        for text in _texts(content)
    ]


def tools_of(protocol: Protocol, body: Json) -> list[str]:
    """Names of the tools on offer."""
    tools = body.get("tools") or []
    if protocol == "gemini":
        return [one["name"] for tool in tools for one in tool.get("functionDeclarations", [])]
    if protocol == "chat":
        return [tool["function"]["name"] for tool in tools if "function" in tool]
    return [tool.get("name", tool.get("type", "")) for tool in tools]


def streamed(protocol: Protocol, path: str, body: Json) -> bool:
    """Whether the answer is wanted as a stream."""
    return "stream" in path if protocol == "gemini" else bool(body.get("stream"))


def whole(protocol: Protocol, body: Json, reply: Reply) -> Json:
    """The answer in one piece."""
    return _WHOLE[protocol](body, reply)


def events(protocol: Protocol, body: Json, reply: Reply) -> list[tuple[str | None, str]]:
    """The answer as the events of a stream: a name, if the protocol has it, and the data."""
    made = _EVENTS[protocol](body, reply)
    named = protocol in ("messages", "responses")
    lines = [(event["type"] if named else None, json.dumps(event)) for event in made]
    return [*lines, (None, "[DONE]")] if protocol == "chat" else lines


def _texts(content: Any) -> list[str]:
    if content is None:
        return []
    if isinstance(content, str):
        return [content]
    parts = content if isinstance(content, list) else [content]
    return [part["text"] for part in parts if isinstance(part, dict) and part.get("text")]


def _output_tokens(reply: Reply) -> int:
    return max(1, len(reply.text) // 4)


def _messages(body: Json, reply: Reply) -> Json:
    block: Json = {"type": "text", "text": reply.text}
    if reply.call:
        block = {"type": "tool_use", "id": "toolu_1", "name": reply.call[0], "input": reply.call[1]}
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": body.get("model"),
        "content": [block],
        "stop_reason": "tool_use" if reply.call else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": reply.used, "output_tokens": _output_tokens(reply)},
    }


def _messages_events(body: Json, reply: Reply) -> list[Json]:
    message = _messages(body, reply)
    (block,) = message["content"]
    if reply.call:
        empty: Json = {**block, "input": {}}
        delta: Json = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
    else:
        empty, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": reply.text}
    ending = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    return [
        {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}},
        {"type": "content_block_start", "index": 0, "content_block": empty},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": ending, "usage": message["usage"]},
        {"type": "message_stop"},
    ]


def _responses(body: Json, reply: Reply) -> Json:
    text = {"type": "output_text", "text": reply.text, "annotations": []}
    output = _output_tokens(reply)
    return {
        "id": "resp_1",
        "object": "response",
        "status": "completed",
        "model": body.get("model"),
        "output": [
            {
                "type": "message",
                "id": "msg_1",
                "role": "assistant",
                "status": "completed",
                "content": [text],
            }
        ],
        "usage": {
            "input_tokens": reply.used,
            "output_tokens": output,
            "total_tokens": reply.used + output,
        },
    }


def _responses_events(body: Json, reply: Reply) -> list[Json]:
    response = _responses(body, reply)
    (item,) = response["output"]
    place = {"output_index": 0}
    started = {**response, "status": "in_progress", "output": [], "usage": None}
    return [
        {"type": "response.created", "response": started},
        {"type": "response.output_item.added", **place, "item": {**item, "content": []}},
        {
            "type": "response.output_text.delta",
            **place,
            "item_id": item["id"],
            "content_index": 0,
            "delta": reply.text,
        },
        {"type": "response.output_item.done", **place, "item": item},
        {"type": "response.completed", "response": response},
    ]


def _chat(body: Json, reply: Reply) -> Json:
    output = _output_tokens(reply)
    message = {"role": "assistant", "content": reply.text}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 0,
        "model": body.get("model"),
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {
            "prompt_tokens": reply.used,
            "completion_tokens": output,
            "total_tokens": reply.used + output,
        },
    }


def _chat_events(body: Json, reply: Reply) -> list[Json]:
    made = _chat(body, reply)
    usage, (choice,) = made.pop("usage"), made.pop("choices")
    made["object"] = "chat.completion.chunk"
    said_now = {"index": 0, "delta": choice["message"], "finish_reason": None}
    ended = {"index": 0, "delta": {}, "finish_reason": "stop"}
    return [
        {**made, "choices": [said_now]},
        {**made, "choices": [ended]},
        {**made, "choices": [], "usage": usage},
    ]


def _gemini(body: Json, reply: Reply) -> Json:
    part: Json = {"text": reply.text}
    if reply.call:
        part = {"functionCall": {"name": reply.call[0], "args": reply.call[1]}}
    elif body.get("generationConfig", {}).get("responseMimeType") == "application/json":
        part = {"text": json.dumps({"reasoning": reply.text, "next_speaker": "user"})}
    output = _output_tokens(reply)
    content = {"role": "model", "parts": [part]}
    return {
        "candidates": [{"content": content, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {
            "promptTokenCount": reply.used,
            "candidatesTokenCount": output,
            "totalTokenCount": reply.used + output,
        },
    }


def _gemini_events(body: Json, reply: Reply) -> list[Json]:
    return [_gemini(body, reply)]


_WHOLE: Final = {
    "messages": _messages,
    "responses": _responses,
    "chat": _chat,
    "gemini": _gemini,
}
_EVENTS: Final = {
    "messages": _messages_events,
    "responses": _responses_events,
    "chat": _chat_events,
    "gemini": _gemini_events,
}
