"""Anthropic's messages: Claude Code."""

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
