"""Staged messages as Inspect chat messages, with reproducible ids."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageTool,
    ChatMessageUser,
    Content,
    ContentText,
)
from inspect_ai.tool import ToolCall, ToolInfo, ToolParams

from constraintrot.episode.episode import Episode, Message, Turn
from constraintrot.episode.scaffold.instructions import without_instructions
from constraintrot.scenario.schema import Tool

# Metadata key of a message's origin. No metadata marks the policy.
ORIGIN = "origin"


def opening_messages(episode: Episode) -> list[ChatMessage]:
    """Return the opening; Inspect never compacts messages of source ``input``."""
    messages = as_chat([episode.opening], start=0)
    return [message.model_copy(update={"source": "input"}) for message in messages]


def standing_messages(episode: Episode) -> list[ChatMessage]:
    """Return the policy turn or the neutral turn in its place; empty in the channel ``system``."""
    return as_chat(episode.standing, start=_count([episode.opening]))


def history_segments(episode: Episode) -> list[list[ChatMessage]]:
    """Return the benign history, one list of messages per compaction round."""
    start = _count([episode.opening, *episode.standing])
    segments: list[list[ChatMessage]] = []
    for segment in episode.segments:
        segments.append(as_chat(segment, start=start))
        start += _count(segment)
    return segments


def conversation_messages(episode: Episode) -> list[ChatMessage]:
    """Return all messages before the trigger, the opening first."""
    messages = [*opening_messages(episode), *standing_messages(episode)]
    return messages + [m for segment in history_segments(episode) for m in segment]


def trigger_messages(episode: Episode) -> list[ChatMessage]:
    return as_chat([episode.trigger], start=10**6)


def as_chat(turns: Iterable[Turn], *, start: int) -> list[ChatMessage]:
    """Return the messages of turns as chat messages, with ids numbered from ``start``."""
    messages: list[ChatMessage] = []
    for turn in turns:
        for message in turn.messages:
            messages.append(_message(message, start + len(messages)))
    return messages


def last_user_text(messages: Sequence[ChatMessage]) -> str:
    """The text of the user's last message; empty if the user said nothing."""
    return next((m.text for m in reversed(messages) if m.role == "user"), "")


def tool_infos(tools: Sequence[Tool]) -> list[ToolInfo]:
    """Return a variant's tools as Inspect tool definitions; they are offered, never executed."""
    return [
        ToolInfo(
            name=tool.name,
            description=tool.description,
            parameters=ToolParams.model_validate(tool.parameters),
        )
        for tool in tools
    ]


def message_texts(messages: Iterable[ChatMessage]) -> list[str]:
    """Return the text of each message, with the argument values of its tool calls."""
    texts: list[str] = []
    for message in messages:
        text = message.text
        if isinstance(message, ChatMessageAssistant) and message.tool_calls:
            parts = [text]
            for call in message.tool_calls:
                parts += [str(value) for value in call.arguments.values()]
            text = "\n".join(part for part in parts if part)
        texts.append(text)
    return texts


def with_texts(message: ChatMessage, change: Callable[[str], str]) -> ChatMessage:
    """Return a message with its texts changed, or the same object if they stay the same."""
    update: dict[str, object] = {}
    if isinstance(message.content, str):
        content: str | list[Content] = change(message.content)
    else:
        content = [
            part.model_copy(update={"text": change(part.text)})
            if isinstance(part, ContentText)
            else part
            for part in message.content
        ]
    if content != message.content:
        update["content"] = content
    # Providers send an error's message in place of the content.
    if isinstance(message, ChatMessageTool) and message.error is not None:
        told = change(message.error.message)
        if told != message.error.message:
            update["error"] = replace(message.error, message=told)
    return message.model_copy(update=update) if update else message


def before_trigger(messages: Iterable[ChatMessage], trigger: str) -> list[ChatMessage]:
    """Return the last model input without the request and the look-ups after it.

    The request's words are not the policy. System and user messages after it stay, because some
    frameworks put the agent's memory there; so does what a framework joined to the request's message.
    """
    found: list[ChatMessage] = []
    asked = False
    for message in messages:
        if trigger in message.text:
            asked = True
            rest = without_instructions(message.text.replace(trigger, "")).strip()
            if rest and message.role in ("system", "user"):
                found.append(message.model_copy(update={"content": rest}))
        elif not asked or message.role in ("system", "user"):
            found.append(message)
    return found


def _count(turns: Iterable[Turn]) -> int:
    return sum(len(turn.messages) for turn in turns)


def _message(message: Message, number: int) -> ChatMessage:
    common = {"id": f"m{number}", "metadata": {ORIGIN: message.origin}}
    call = message.call
    if message.role == "system":
        return ChatMessageSystem(content=message.text, **common)  # type: ignore[arg-type]
    if message.role == "user":
        return ChatMessageUser(content=message.text, **common)  # type: ignore[arg-type]
    if message.role == "tool":
        assert call is not None, "a tool message answers a call"
        return ChatMessageTool(
            content=message.text,
            function=call.function,
            tool_call_id=f"c{number - 1}",
            **common,  # type: ignore[arg-type]
        )
    calls = (
        [ToolCall(id=f"c{number}", function=call.function, arguments=call.arguments)]
        if call
        else None
    )
    return ChatMessageAssistant(content=message.text, tool_calls=calls, **common)  # type: ignore[arg-type]
