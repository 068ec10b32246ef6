"""What a scripted answer needs to know of a request: its texts, and the tools on offer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from constraintrot.coding_agents.proof.model_apis import Json, Protocol

_ROLES: Final = {"model": "assistant"}


@dataclass(frozen=True)
class Said:
    """One text in a request, and the role that it is in."""

    role: str
    text: str


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


def _texts(content: Any) -> list[str]:
    if content is None:
        return []
    if isinstance(content, str):
        return [content]
    parts = content if isinstance(content, list) else [content]
    return [part["text"] for part in parts if isinstance(part, dict) and part.get("text")]
