"""Anthropic's messages: Claude Code."""

from __future__ import annotations

import json
from collections.abc import Iterator
from uuid import uuid4

from inspect_ai.model import ChatMessageAssistant

from constraintrot.harnesses.coding.wire.common import (
    Conversation,
    Json,
    Request,
    Usage,
    call_id,
    call_of,
    reply_texts,
    request_of,
    text_of,
)

NAMED_EVENTS, DONE = True, ""


def read(body: Json, stream: bool) -> Request:
    """A request's body; consecutive texts of a message of the user's are one message."""
    said = Conversation()
    said.system(text_of(body.get("system")))
    for message in body.get("messages") or []:
        content = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        _add(said, message["role"], blocks)
    tools = [tool for tool in body.get("tools") or [] if "input_schema" in tool]
    offered = [(t["name"], t.get("description"), t["input_schema"]) for t in tools]
    return request_of("messages", said, offered, body, stream)


def _add(said: Conversation, role: str, blocks: list[Json]) -> None:
    texts: list[Json] = []
    for block in blocks:
        if block["type"] == "tool_result":
            said.tool(block["tool_use_id"], text_of(block.get("content")))
        elif block["type"] == "tool_use":
            said.assistant(call=call_of(block["id"], block["name"], block["input"]))
        elif role == "assistant":
            said.assistant(text_of([block]))
        else:
            texts.append(block)
    (said.system if role == "system" else said.user)(text_of(texts))


def answer(request: Request, reply: ChatMessageAssistant, usage: Usage) -> Json:
    """A whole answer."""
    text, calls = reply_texts(reply)
    content: list[Json] = [{"type": "text", "text": text}] if text else []
    content += [
        {
            "type": "tool_use",
            "id": call_id(call),
            "name": request.wire_name(call.function)[1],
            "input": call.arguments,
        }
        for call in calls
    ]
    return {
        "id": f"msg_{uuid4().hex[:12]}",
        "type": "message",
        "role": "assistant",
        "model": request.model,
        "content": content,
        "stop_reason": "tool_use" if calls else "end_turn",
        "stop_sequence": None,
        "usage": {
            "input_tokens": usage.input,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
            "output_tokens": usage.output,
        },
    }


def events(whole: Json) -> Iterator[Json]:
    """The same as a stream."""
    begun = whole | {"content": [], "stop_reason": None}
    yield {"type": "message_start", "message": begun}
    for at, block in enumerate(whole["content"]):
        if block["type"] == "tool_use":
            empty: Json = {"input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        else:
            empty = {"text": ""}
            delta = {"type": "text_delta", "text": block["text"]}
        yield {"type": "content_block_start", "index": at, "content_block": block | empty}
        yield {"type": "content_block_delta", "index": at, "delta": delta}
        yield {"type": "content_block_stop", "index": at}
    stopped = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": stopped, "usage": whole["usage"]}
    yield {"type": "message_stop"}
