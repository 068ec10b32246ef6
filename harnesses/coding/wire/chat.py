"""OpenAI's chat completions: opencode, pi, Qwen Code and many others."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any
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

NAMED_EVENTS, DONE = False, "[DONE]"


def read(body: Json, stream: bool) -> Request:
    """A request's body."""
    said = Conversation()
    for message in body.get("messages") or []:
        _add(said, message)
    functions = [tool["function"] for tool in body.get("tools") or [] if tool.get("function")]
    offered = [(f["name"], f.get("description"), f.get("parameters")) for f in functions]
    return request_of("chat", said, offered, body, stream)


def _add(said: Conversation, message: Json) -> None:
    role, text = message["role"], text_of(message.get("content"))
    if role in ("system", "developer"):
        said.system(text)
    elif role == "user":
        said.user(text)
    elif role == "tool":
        said.tool(message["tool_call_id"], text)
    else:
        said.assistant(text)
        for call in message.get("tool_calls") or []:
            function = call["function"]
            said.assistant(call=call_of(call["id"], function["name"], function.get("arguments")))


def answer(request: Request, reply: ChatMessageAssistant, usage: Usage) -> Json:
    """A whole answer."""
    text, calls = reply_texts(reply)
    message: Json = {"role": "assistant", "content": text or None}
    if calls:
        message["tool_calls"] = [
            {
                "id": call_id(call),
                "type": "function",
                "function": {
                    "name": request.wire_name(call.function)[1],
                    "arguments": json.dumps(call.arguments),
                },
            }
            for call in calls
        ]
    return {
        "id": f"chatcmpl-{uuid4().hex[:12]}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": request.model,
        "choices": [
            {
                "index": 0,
                "message": message,
                "finish_reason": "tool_calls" if calls else "stop",
            }
        ],
        "usage": {
            "prompt_tokens": usage.input,
            "completion_tokens": usage.output,
            "total_tokens": usage.total,
        },
    }


def events(whole: Json) -> Iterator[Json]:
    """The same as a stream."""
    base = {name: whole[name] for name in ("id", "created", "model")}
    base["object"] = "chat.completion.chunk"
    (choice,) = whole["choices"]
    delta: dict[str, Any] = dict(choice["message"])
    if "tool_calls" in delta:
        delta["tool_calls"] = [{"index": at, **call} for at, call in enumerate(delta["tool_calls"])]
    yield base | {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    last = {"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}
    yield base | {"choices": [last]}
    yield base | {"choices": [], "usage": whole["usage"]}
