"""A conversation with a model, in one form for the requests of all APIs."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias, cast

from constraintrot.coding_agents.wire.answers import Json, Protocol

Role: TypeAlias = Literal["system", "developer", "user", "assistant", "tool"]
SERVER: Final = "office"
"""The name under which the agents know the MCP server of a scenario's tools.

Some names, as "workspace", are reserved: Claude Code silently leaves out a server of that name.
"""
# Each agent prefixes the tools' names with the server's name in its own way.
_PREFIX: Final = re.compile(rf"^(?:mcp_+)?{SERVER}[_-]+")
_THOUGHTS: Final = ("thinking", "redacted_thinking", "reasoning")


@dataclass(frozen=True)
class CallMade:
    """A tool call in the history."""

    id: str
    name: str  # the tool's plain name
    arguments: Json  # of the call; empty if they are not a JSON object
    problem: str | None = None  # why the arguments are not a JSON object; None if they are


@dataclass
class Said:
    """A message."""

    role: Role
    text: str = ""  # its texts, joined by line breaks
    calls: list[CallMade] = field(default_factory=list[CallMade])
    call_id: str = ""  # the call that a tool's result answers
    function: str | None = None  # the tool that was called, if known


@dataclass(frozen=True)
class Offered:
    name: str
    description: str | None = None
    schema: Mapping[str, Any] = field(default_factory=dict[str, Any])
    space: str = ""

    @property
    def plain(self) -> str:
        """The tool's name without its namespace and MCP server."""
        return plain_name(f"{self.space}__{self.name}" if self.space else self.name)


@dataclass(frozen=True)
class Request:
    protocol: Protocol
    said: list[Said]
    offered: list[Offered]
    body: Json = field(repr=False)

    @property
    def model(self) -> str:
        return str(self.body.get("model", ""))


def unescaped(text: str) -> str:
    """Return a text with plain angle brackets: Gemini CLI escapes a hook's brackets as HTML."""
    return text.replace("&lt;", "<").replace("&gt;", ">")


def plain_name(name: str) -> str:
    """Return a tool's name without the prefix of its MCP server."""
    return _PREFIX.sub("", name)


class Conversation:
    """The messages read so far; consecutive assistant parts become one message."""

    def __init__(self) -> None:
        self.messages: list[Said] = []
        self._functions: dict[str, str] = {}

    def add(self, role: Role, content: object) -> None:
        """Add a message that is not the assistant's, unless it is empty."""
        if text := _text(content):
            self.messages.append(Said(role, text))

    def assistant(self, content: object = "") -> Said:
        """Add to the assistant's current message, and return it."""
        if not self.messages or self.messages[-1].role != "assistant":
            self.messages.append(Said("assistant"))
        last = self.messages[-1]
        last.text = "\n".join(filter(None, (last.text, _text(content))))
        return last

    def call(self, call_id: str, name: str, arguments: object) -> None:
        call_id = str(call_id)  # A recording may hold anything.
        made = _call(call_id, name, arguments)
        self.assistant().calls.append(made)
        self._functions[call_id] = made.name

    def result(self, call_id: str, content: object) -> None:
        call_id = str(call_id)
        known = self._functions.get(call_id)
        self.messages.append(Said("tool", _text(content), call_id=call_id, function=known))


def _call(call_id: str, name: str, arguments: object) -> CallMade:
    problem = None
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments or "{}")
        except ValueError as error:
            problem, arguments = str(error), {}
    if not isinstance(arguments, dict):
        problem, arguments = "the arguments are no object", {}
    return CallMade(call_id, plain_name(name), cast(Json, arguments), problem)


def _text(content: object) -> str:
    """Return the text of any API's message content; other parts are shown as ``[type]``."""
    if content is None or isinstance(content, str):
        return content or ""
    parts = cast("Iterable[Any]", [content] if isinstance(content, dict) else content)
    found: list[str] = []
    for part in parts:
        if isinstance(part, str):
            found.append(part)
        elif "text" in part:
            found.append(str(part["text"] or ""))
        elif part.get("type") not in _THOUGHTS:
            found.append(f"[{part.get('type', 'content')}]")
    return "\n".join(filter(None, found))
