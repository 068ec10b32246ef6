"""OpenAI's responses: Codex."""

from __future__ import annotations

from inspect_ai.tool import ToolInfo

from constraintrot.coding_agents.proof.model_apis import Json
from constraintrot.coding_agents.wire.common import (
    Conversation,
    OpaqueError,
    Request,
    call_of,
    plain_name,
    text_of,
    tool_info,
)

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
