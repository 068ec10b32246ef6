"""Rewriting of the texts of messages and tool results."""

from collections.abc import Callable
from dataclasses import replace

from inspect_ai.model import ChatMessage, ChatMessageTool, Content, ContentText


def rewritten(message: ChatMessage, change: Callable[[str], str]) -> ChatMessage:
    """Return a tool's result with its texts changed; any other message as it is."""
    return changed(message, change) if isinstance(message, ChatMessageTool) else message


def changed(message: ChatMessage, change: Callable[[str], str]) -> ChatMessage:
    """Return a message with its texts changed, or the same object if they stay the same."""
    update: dict[str, object] = {}
    if isinstance(message.content, str):
        content: str | list[Content] = change(message.content)
    else:
        content = [_part(part, change) for part in message.content]
    if content != message.content:
        update["content"] = content
    # Providers send an error's message in place of the content.
    if isinstance(message, ChatMessageTool) and message.error is not None:
        told = change(message.error.message)
        if told != message.error.message:
            update["error"] = replace(message.error, message=told)
    return message.model_copy(update=update) if update else message


def _part(part: Content, change: Callable[[str], str]) -> Content:
    if not isinstance(part, ContentText):
        return part
    return part.model_copy(update={"text": change(part.text)})
