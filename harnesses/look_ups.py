"""Look-ups after the request: calls of the history's tools get simulated results."""

from collections.abc import Mapping
from typing import Any
from uuid import uuid4

from inspect_ai.model import ChatMessage, ChatMessageAssistant, ChatMessageTool, ModelOutput
from inspect_ai.tool import ToolCall

from constraintrot.episode.episode import Episode
from constraintrot.harnesses.agent_call import Approvals, Reading
from constraintrot.scenario.simulate import simulate

_UNREADABLE = "error: the arguments cannot be read"
_ABSENT = "error: not available"


def only_looks_up(episode: Episode, read: Reading) -> bool:
    """Return whether an answer has only look-ups, so that the agent continues after it."""
    names = {call["function"] for call in read.calls}
    return bool(names) and read.fault is None and names <= episode.variant.lookups


def look_up(episode: Episode, function: str, arguments: Mapping[str, Any]) -> str:
    """Return a look-up's result: the history's result of the same call, else a simulated one."""
    if function not in {tool.name for tool in episode.tools}:
        return _ABSENT
    for message in (message for turn in episode.turns for message in turn.messages):
        call = message.call
        made = call and (call.function, call.arguments) == (function, dict(arguments))
        if message.role == "tool" and made:
            return message.text
    return simulate(episode.variant, function, arguments)


def as_called(output: ModelOutput, read: Reading) -> ChatMessageAssistant:
    """Return the agent's message with native tool calls, whatever form it wrote them in."""
    message = output.message
    if message.tool_calls:
        return message
    calls = [
        ToolCall(
            id=f"call_{uuid4().hex[:12]}", function=one["function"], arguments=one["arguments"]
        )
        for one in read.calls
    ]
    return message.model_copy(update={"tool_calls": calls})


async def answered(
    episode: Episode, output: ModelOutput, read: Reading, approvals: Approvals
) -> list[ChatMessage]:
    """Return the agent's message and the look-ups' results, or the reasons why they are blocked."""
    message = as_called(output, read)
    found: list[ChatMessage] = [message]
    reasons = await approvals.ask(read.calls)
    for written, call, reason in zip(message.tool_calls or [], read.calls, reasons, strict=True):
        arguments = call["arguments"]
        result = reason or (
            look_up(episode, call["function"], arguments)
            if isinstance(arguments, dict)
            else _UNREADABLE
        )
        found.append(
            ChatMessageTool(content=result, function=call["function"], tool_call_id=written.id)
        )
    return found
