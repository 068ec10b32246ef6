"""Requests of the four model APIs, read into one form of a conversation.

Inspect's converters of the same formats need each provider's own package, and treat an opaque
compaction or a namespace of tools as ordinary content.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Final, Literal, TypeAlias, cast

from constraintrot.coding_agents.wire.answers import Json, Protocol
from constraintrot.errors import EpisodeError

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


# Items that only the provider of the model can read.
_OPAQUE: Final = ("compaction_trigger", "compaction", "compaction_summary")


class OpaqueError(EpisodeError):
    """A request or answer has content that only its provider can read, so it cannot be measured."""

    def __init__(self) -> None:
        super().__init__(
            "the agent asked its provider for a compaction of its own, whose result is an opaque"
            " item: nobody can say what of the policy is in it, so it is no measurement; name the"
            " provider anything but OpenAI"
        )


def read(protocol: Protocol, body: Json) -> Request:
    said = Conversation()
    return Request(protocol, said.messages, list(_READ[protocol](said, body)), body)


def _messages(said: Conversation, body: Json) -> Iterator[Offered]:
    """Read Claude Code's requests; the texts of one user message become one message."""
    said.add("system", body.get("system"))
    for message in body.get("messages") or []:
        role, content = message["role"], message["content"]
        texts: list[Json] = []
        for block in [{"type": "text", "text": content}] if isinstance(content, str) else content:
            if block["type"] == "tool_result":
                said.result(block["tool_use_id"], block.get("content"))
            elif block["type"] == "tool_use":
                said.call(block["id"], block["name"], block["input"])
            elif role == "assistant":
                said.assistant([block])
            else:
                texts.append(block)
        said.add("system" if role == "system" else "user", texts)
    for tool in body.get("tools") or []:
        if "input_schema" in tool:
            yield Offered(tool["name"], tool.get("description"), tool["input_schema"])


def _chat(said: Conversation, body: Json) -> Iterator[Offered]:
    """Read the requests of most agents: opencode, pi, Qwen Code."""
    for message in body.get("messages") or []:
        role, content = message["role"], message.get("content")
        if role == "tool":
            said.result(message["tool_call_id"], content)
        elif role in ("system", "developer", "user"):
            said.add(cast(Role, role), content)
        else:
            said.assistant(content)
            for call in message.get("tool_calls") or []:
                function = call["function"]
                said.call(call["id"], function["name"], function.get("arguments"))
    for tool in body.get("tools") or []:
        if function := tool.get("function"):
            schema = function.get("parameters") or {}
            yield Offered(function["name"], function.get("description"), schema)


def _responses(said: Conversation, body: Json) -> Iterator[Offered]:
    """Read Codex's requests; calls without an id are numbered."""
    said.add("system", body.get("instructions"))
    numbers = (f"call_r{number}" for number in count(1))
    given = body.get("input") or []
    for item in [{"role": "user", "content": given}] if isinstance(given, str) else given:
        kind = item.get("type", "message")
        if kind in _OPAQUE:
            raise OpaqueError
        if kind == "message":
            content = item.get("content")
            if item["role"] == "assistant":
                said.assistant(content)
            else:
                said.add(cast(Role, item["role"]), content)
        elif kind.endswith("_output"):
            said.result(item["call_id"], item.get("output"))
        elif kind.endswith("_call"):
            arguments = item.get("arguments", item.get("input") or item.get("action"))
            label = item.get("server_label")
            space = item.get("namespace") or (f"mcp__{label}" if label else "")
            name = f"{space}__{item.get('name', kind)}".strip("_")
            known = item.get("call_id") or item.get("id") or next(numbers)
            said.call(known, name, arguments)
            # A call that the provider executes contains its result.
            if kind == "mcp_call" and (output := item.get("output") or item.get("error")):
                said.result(known, output)
    for tool in body.get("tools") or []:
        space = tool["name"] if tool.get("type") == "namespace" else ""
        for one in tool.get("tools") or [] if space else [tool]:
            name, schema = one.get("name") or one["type"], one.get("parameters") or {}
            yield Offered(name, one.get("description"), schema, space)


def _gemini(said: Conversation, body: Json) -> Iterator[Offered]:
    """Read Gemini CLI's requests; calls without an id are numbered and answered in order."""
    system = body.get("systemInstruction") or body.get("system_instruction") or {}
    said.add("system", system.get("parts") if isinstance(system, dict) else system)
    numbers = (f"call_g{number}" for number in count(1))
    open_calls: list[tuple[str, str]] = []
    for content in body.get("contents") or []:
        texts: list[Json] = []
        for part in content.get("parts") or []:
            if call := part.get("functionCall"):
                known = call.get("id") or next(numbers)
                open_calls.append((call["name"], known))
                said.call(known, call["name"], call.get("args") or {})
            elif result := part.get("functionResponse"):
                said.result(_answered(result, open_calls), _output(result.get("response")))
            elif "text" in part and not part.get("thought"):
                texts.append(part)
        if texts and content.get("role") == "model":
            said.assistant(texts)
        else:
            said.add("user", texts)
    for tool in body.get("tools") or []:
        for one in tool.get("functionDeclarations") or tool.get("function_declarations") or []:
            schema = one.get("parametersJsonSchema") or one.get("parameters") or {}
            yield Offered(one["name"], one.get("description"), cast(Json, _lowered(schema)))


def _lowered(schema: object) -> object:
    """Return a schema with its types in lower case, as JSON Schema has them."""
    if isinstance(schema, dict):
        given = cast("dict[str, object]", schema)
        return {
            name: value.lower() if name == "type" and isinstance(value, str) else _lowered(value)
            for name, value in given.items()
        }
    if isinstance(schema, list):
        return [_lowered(one) for one in cast("list[object]", schema)]
    return schema


def _answered(result: Json, open_calls: list[tuple[str, str]]) -> str:
    """Return a result's call id: its own, or that of the first open call of the same name."""
    if result.get("id"):
        return str(result["id"])
    for pair in open_calls:
        if pair[0] == result["name"]:
            open_calls.remove(pair)
            return pair[1]
    return "call_unknown"


def _output(response: object) -> object:
    if isinstance(response, dict):
        given = cast("dict[str, object]", response)
        for name in ("output", "content", "result"):
            if name in given:
                return given[name]
        return str(given.get("error", given))
    return response


_READ: Final[Mapping[Protocol, Callable[[Conversation, Json], Iterator[Offered]]]] = {
    "messages": _messages,
    "responses": _responses,
    "chat": _chat,
    "gemini": _gemini,
}
