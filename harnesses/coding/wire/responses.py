"""OpenAI's responses: Codex."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from itertools import count
from typing import Any
from uuid import uuid4

from inspect_ai.model import ChatMessageAssistant
from inspect_ai.tool import ToolInfo

from constraintrot.harnesses.coding.wire.common import (
    Conversation,
    Json,
    OpaqueError,
    Request,
    Usage,
    call_id,
    call_of,
    plain_name,
    reply_texts,
    text_of,
    tool_info,
)

NAMED_EVENTS, DONE = True, ""
# Kinds of items that the provider of the model makes and reads, and nobody else.
_OPAQUE = ("compaction_trigger", "compaction", "compaction_summary")


def read(body: Json, stream: bool) -> Request:
    """A request's body.

    Raises:
        OpaqueError: it asks for, or holds, a compaction that only its provider can read.
    """
    said = Conversation()
    said.system(body.get("instructions") or "")
    given = body.get("input") or []
    for item in [{"role": "user", "content": given}] if isinstance(given, str) else given:
        _add(said, item)
    tools, names = _tools(body.get("tools") or [])
    return Request(
        "responses", said.messages, tools, names, stream, str(body.get("model", "")), body
    )


def _add(said: Conversation, item: Json) -> None:
    kind = item.get("type", "message")
    if kind in _OPAQUE:
        raise OpaqueError
    if kind == "message":
        text = text_of(item.get("content"))
        add = {"user": said.user, "assistant": said.assistant}.get(item["role"], said.system)
        add(text)
    elif kind.endswith("_output"):
        said.tool(item["call_id"], text_of(item.get("output")))
    elif kind.endswith("_call"):
        given = item.get("arguments", item.get("input") or item.get("action"))
        name = plain_name(f"{item.get('namespace') or ''}__{item.get('name', kind)}".strip("_"))
        said.assistant(call=call_of(item.get("call_id") or item["id"], name, given))


def _tools(given: list[Json]) -> tuple[list[ToolInfo], dict[str, tuple[str, str]]]:
    tools: list[ToolInfo] = []
    names: dict[str, tuple[str, str]] = {}
    for tool in given:
        space = tool["name"] if tool.get("type") == "namespace" else ""
        for one in tool.get("tools") or [] if space else [tool]:
            name = one.get("name") or one["type"]
            info = tool_info(
                f"{space}__{name}" if space else name, one.get("description"), one.get("parameters")
            )
            tools.append(info)
            names[info.name] = (space, name)
    return tools, names


def answer(request: Request, reply: ChatMessageAssistant, usage: Usage) -> Json:
    """A whole answer."""
    text, calls = reply_texts(reply)
    output: list[Json] = []
    if text:
        part = {"type": "output_text", "text": text, "annotations": []}
        output.append(
            {
                "type": "message",
                "id": f"msg_{uuid4().hex[:12]}",
                "role": "assistant",
                "status": "completed",
                "content": [part],
            }
        )
    for call in calls:
        space, name = request.wire_name(call.function)
        item = {
            "type": "function_call",
            "id": f"fc_{uuid4().hex[:12]}",
            "call_id": call_id(call),
            "name": name,
            "arguments": json.dumps(call.arguments),
            "status": "completed",
        }
        output.append(item | {"namespace": space} if space else item)
    return {
        "id": f"resp_{uuid4().hex[:12]}",
        "object": "response",
        "created_at": int(time.time()),
        "status": "completed",
        "model": request.model,
        "output": output,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": {
            "input_tokens": usage.input,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": usage.output,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": usage.total,
        },
    }


def events(whole: Json) -> Iterator[Json]:
    """The same as a stream."""
    number = count()

    def event(kind: str, **given: Any) -> Json:
        return {"type": kind, "sequence_number": next(number), **given}

    begun = whole | {"status": "in_progress", "output": [], "usage": None}
    yield event("response.created", response=begun)
    for at, item in enumerate(whole["output"]):
        empty: Json = {"content": []} if item["type"] == "message" else {"arguments": ""}
        started = item | {"status": "in_progress"} | empty
        yield event("response.output_item.added", output_index=at, item=started)
        where = {"item_id": item["id"], "output_index": at}
        if item["type"] == "message":
            text = item["content"][0]["text"]
            yield event("response.output_text.delta", **where, content_index=0, delta=text)
        else:
            yield event(
                "response.function_call_arguments.done", **where, arguments=item["arguments"]
            )
        yield event("response.output_item.done", output_index=at, item=item)
    yield event("response.completed", response=whole)
