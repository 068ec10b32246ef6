"""OpenAI's chat completions: opencode, pi, Qwen Code and many others."""

from __future__ import annotations

from constraintrot.coding_agents.proof.model_apis import Json
from constraintrot.coding_agents.wire.common import (
    Conversation,
    Request,
    call_of,
    request_of,
    text_of,
)


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
