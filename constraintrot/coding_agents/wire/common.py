"""What all APIs have in common: a request as the harness sees it, and how it is put together."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageTool,
    ChatMessageUser,
)
from inspect_ai.tool import ToolCall, ToolInfo, ToolParams

from constraintrot.coding_agents.proof.model_apis import Answer, Call, Json, Protocol
from constraintrot.episode.messages import last_user_text
from constraintrot.errors import EpisodeError

# The name under which the agents know the MCP server of the scenario's tools. Some names,
# as "workspace", are reserved: Claude Code leaves such a server out without a word.
SERVER = "office"
# They put the server's name before its tools' names, each in its own way.
_PREFIX = re.compile(rf"^(?:mcp_+)?{SERVER}_+")


class OpaqueError(EpisodeError):
    """A request or an answer holds what its provider alone can read, so nothing can be measured."""

    def __init__(self) -> None:
        super().__init__(
            "the agent asked its provider for a compaction of its own, whose result is an opaque"
            " item: nobody can say what of the policy is in it, so it is no measurement; name the"
            " provider anything but OpenAI"
        )


def plain_name(name: str) -> str:
    """A tool's name without that of its MCP server."""
    return _PREFIX.sub("", name)


@dataclass(frozen=True)
class Usage:
    """Tokens that an answer is said to have taken."""

    input: int
    output: int

    @property
    def total(self) -> int:
        """Both."""
        return self.input + self.output


@dataclass(frozen=True)
class Request:
    """What an agent sent.

    Attributes:
        protocol: the API.
        messages: the conversation; a message of several texts is one of several lines.
        tools: those on offer, by their plain names.
        names: the agent's name of each tool, by the plain one; a pair of a namespace
            and a name where the agent has those.
        stream: whether the answer is to be streamed.
        model: the model's name in the request.
        body: the request itself.
    """

    protocol: Protocol
    messages: list[ChatMessage]
    tools: list[ToolInfo]
    names: Mapping[str, tuple[str, str]]
    stream: bool
    model: str
    body: Json = field(repr=False)

    @property
    def last_user_text(self) -> str:
        """The user's last message; empty where there is none."""
        return last_user_text(self.messages)

    def wire_name(self, name: str) -> tuple[str, str]:
        """The namespace (or nothing) and the name that the agent knows a tool by."""
        return self.names.get(name, ("", name))


class Conversation:
    """Messages in the order in which they are read; an assistant's parts become one message."""

    def __init__(self) -> None:
        self.messages: list[ChatMessage] = []
        self._functions: dict[str, str] = {}

    def system(self, text: str) -> None:
        """Add a system message, if it says anything."""
        if text:
            self.messages.append(ChatMessageSystem(content=text))

    def user(self, text: str) -> None:
        """Add a message of the user's, if it says anything."""
        if text:
            self.messages.append(ChatMessageUser(content=text))

    def assistant(self, text: str = "", call: ToolCall | None = None) -> None:
        """Add what the assistant said or called to its message."""
        last = self.messages[-1] if self.messages else None
        if not isinstance(last, ChatMessageAssistant):
            last = ChatMessageAssistant(content="")
            self.messages.append(last)
        if text:
            last.content = f"{last.text}\n{text}" if last.text else text
        if call is not None:
            last.tool_calls = [*(last.tool_calls or []), call]
            self._functions[call.id] = call.function

    def tool(self, call_id: str, text: str, function: str | None = None) -> None:
        """Add what a tool returned."""
        self.messages.append(
            ChatMessageTool(
                content=text,
                tool_call_id=call_id,
                function=function or self._functions.get(call_id),
            )
        )


def call_of(call_id: str, name: str, arguments: object) -> ToolCall:
    """A tool call; arguments that are no JSON object are kept as an error of its parsing."""
    problem = None
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments or "{}")
        except ValueError as error:
            problem, arguments = str(error), {}
    if not isinstance(arguments, dict):
        problem, arguments = "the arguments are no object", {}
    return ToolCall(
        id=call_id,
        function=plain_name(name),
        arguments=cast("dict[str, Any]", arguments),
        parse_error=problem,
    )


def tool_info(name: str, description: str | None, schema: Mapping[str, Any] | None) -> ToolInfo:
    """A tool on offer; of its schema what Inspect knows of schemas."""
    schema = schema or {}
    return ToolInfo(
        name=plain_name(name),
        description=description or name,
        parameters=ToolParams.model_validate(
            {
                "properties": schema.get("properties") or {},
                "required": schema.get("required") or [],
            }
        ),
    )


def request_of(
    protocol: Protocol,
    said: Conversation,
    tools: Sequence[tuple[str, str | None, Mapping[str, Any] | None]],
    body: Json,
    stream: bool,
) -> Request:
    """A request of an API whose tools have one name each.

    Args:
        protocol: as in ``Request``.
        said: its messages.
        tools: name, description and schema of each.
        body: the request itself.
        stream: whether the answer is to be streamed.
    """
    return Request(
        protocol,
        said.messages,
        [tool_info(*tool) for tool in tools],
        names_of(name for name, _, _ in tools),
        stream,
        str(body.get("model", "")),
        body,
    )


def text_of(content: object) -> str:
    """The text of a message's content, whatever form an API gives it; other parts are named."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    parts = cast("Iterable[Any]", [content] if isinstance(content, dict) else content)
    found: list[str] = []
    for part in parts:
        if isinstance(part, str):
            found.append(part)
        elif "text" in part:
            found.append(str(part["text"] or ""))
        elif part.get("type") not in ("thinking", "redacted_thinking", "reasoning"):
            found.append(f"[{part.get('type', 'content')}]")
    return "\n".join(filter(None, found))


def names_of(tools: Iterable[str]) -> dict[str, tuple[str, str]]:
    """The agent's name of each tool, by the plain one."""
    return {plain_name(name): ("", name) for name in tools}


def call_id(call: ToolCall) -> str:
    """A call's id as all APIs take it."""
    return call.id if call.id.startswith("call_") else f"call_{call.id}"


def answer_of(request: Request, reply: ChatMessageAssistant, usage: Usage) -> Answer:
    """A reply as an answer to a request, which says or calls something."""
    calls: list[Call] = []
    for call in reply.tool_calls or []:
        space, name = request.wire_name(call.function)
        calls.append(Call(call_id(call), name, call.arguments, space))
    text = reply.text or ("" if calls else " ")
    return Answer(text, calls, usage.input, usage.output, request.model)
