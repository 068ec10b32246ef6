"""A coding agent's request as Inspect's messages, and an Inspect reply as its answer."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageTool,
    ChatMessageUser,
)
from inspect_ai.tool import ToolCall, ToolInfo, ToolParams

from constraintrot.coding_agents.wire.answers import Answer, Call
from constraintrot.coding_agents.wire.conversation import Offered, Request, Said


@dataclass(frozen=True)
class Usage:
    input: int
    output: int


@dataclass(frozen=True)
class ModelRequest:
    """An agent's request in Inspect's types."""

    request: Request = field(repr=False)
    # The conversation; the texts of one message are joined by line breaks.
    messages: list[ChatMessage]
    tools: list[ToolInfo]  # the offered tools, under their plain names

    @classmethod
    def of(cls, request: Request) -> ModelRequest:
        messages = [message(one) for one in request.said]
        return cls(request, messages, [_tool(one) for one in request.offered])

    def less(self, names: Collection[str]) -> ModelRequest:
        """Return the request without some arguments, in its tools' schemas and its past calls."""
        if not names:
            return self
        tools = [_less(tool, names) for tool in self.tools]
        return replace(
            self, messages=[_called_less(one, names) for one in self.messages], tools=tools
        )


def answer_of(request: Request, reply: ChatMessageAssistant, usage: Usage) -> Answer:
    """Return a reply as an answer to a request; an empty reply becomes one space."""
    # Sorted last, a scenario's tool wins over the agent's own tool of the same name.
    offered = sorted(request.offered, key=lambda one: one.plain != one.name or bool(one.space))
    names = {one.plain: (one.space, one.name) for one in offered}
    calls: list[Call] = []
    for call in reply.tool_calls or []:
        space, name = names.get(call.function, ("", call.function))
        call_id = call.id if call.id.startswith("call_") else f"call_{call.id}"
        calls.append(Call(call_id, name, call.arguments, space))
    text = reply.text or ("" if calls else " ")
    return Answer(text, calls, usage.input, usage.output, request.model)


def _less(tool: ToolInfo, names: Collection[str]) -> ToolInfo:
    known = tool.parameters
    kept = {name: value for name, value in known.properties.items() if name not in names}
    required = [name for name in known.required if name not in names]
    parameters = known.model_copy(update={"properties": kept, "required": required})
    return tool.model_copy(update={"parameters": parameters})


def _called_less(message: ChatMessage, names: Collection[str]) -> ChatMessage:
    if not isinstance(message, ChatMessageAssistant) or not message.tool_calls:
        return message
    calls = [
        replace(call, arguments={k: v for k, v in call.arguments.items() if k not in names})
        for call in message.tool_calls
    ]
    return message.model_copy(update={"tool_calls": calls})


def with_arguments(
    reply: ChatMessageAssistant, added: Mapping[str, object]
) -> ChatMessageAssistant:
    if not added or not reply.tool_calls:
        return reply
    calls = [replace(call, arguments={**call.arguments, **added}) for call in reply.tool_calls]
    return reply.model_copy(update={"tool_calls": calls})


def message(said: Said) -> ChatMessage:
    if said.role in ("system", "developer"):
        return ChatMessageSystem(content=said.text)
    if said.role == "user":
        return ChatMessageUser(content=said.text)
    if said.role == "tool":
        return ChatMessageTool(content=said.text, tool_call_id=said.call_id, function=said.function)
    calls = [ToolCall(one.id, one.name, one.arguments, one.problem) for one in said.calls]
    return ChatMessageAssistant(content=said.text, tool_calls=calls or None)


def _tool(offered: Offered) -> ToolInfo:
    """Return an offered tool with the properties and required names of its schema."""
    schema = {
        "properties": offered.schema.get("properties") or {},
        "required": offered.schema.get("required") or [],
    }
    return ToolInfo(
        name=offered.plain,
        description=offered.description or offered.plain,
        parameters=ToolParams.model_validate(schema),
    )
