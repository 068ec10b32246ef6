"""Rewriting of the text that tools put into a conversation."""

from collections.abc import Callable
from dataclasses import replace

from inspect_ai.model import ChatMessage, ChatMessageTool, Content, ContentText


def rewritten(message: ChatMessage, change: Callable[[str], str]) -> ChatMessage:
    """A tool's result with its texts changed; any other message as it is.

    Args:
        message: one whose texts stay the same comes back as the same object.
        change: from a text to the one that takes its place.
    """
    if not isinstance(message, ChatMessageTool):
        return message
    changed: dict[str, object] = {}
    if isinstance(message.content, str):
        content: str | list[Content] = change(message.content)
    else:
        content = [_part(part, change) for part in message.content]
    if content != message.content:
        changed["content"] = content
    # Providers send an error's message in place of the content.
    if message.error is not None:
        told = change(message.error.message)
        if told != message.error.message:
            changed["error"] = replace(message.error, message=told)
    return message.model_copy(update=changed) if changed else message


def _part(part: Content, change: Callable[[str], str]) -> Content:
    if not isinstance(part, ContentText):
        return part
    return part.model_copy(update={"text": change(part.text)})
