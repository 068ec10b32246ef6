"""Finding and removing a pinned block, of any revision, in Inspect's messages."""

import hashlib
from collections.abc import Callable, Sequence

from inspect_ai.model import ChatMessage, ContentText

# In a message's metadata: this was put in by us. No text can claim it.
PINNED = "pinned"


def pin_key(owner: str) -> str:
    """Return the metadata key of one owner's blocks; several owners can share a conversation."""
    return f"{PINNED}:{owner}"


def is_pinned(message: ChatMessage) -> bool:
    """Return whether a message is any owner's block, or holds one that Inspect merged into it."""
    return any(key.startswith(PINNED) for key in message.metadata or {})


def leading(messages: Sequence[ChatMessage]) -> int:
    """Return the number of system messages at the start."""
    at = 0
    while at < len(messages) and messages[at].role == "system":
        at += 1
    return at


def without_pins(
    messages: Sequence[ChatMessage], cut: Callable[[str], str], key: str
) -> list[ChatMessage]:
    """Return the messages less every block that the key's owner ever put in.

    A message that holds nothing else goes; what somebody else added to it stays, as
    where Inspect merged it with others. What merely looks like a block is content, and stays.

    ``cut`` takes the blocks out of a message's text; ``key`` is in the owner's metadata.
    """
    kept: list[ChatMessage] = []
    for message in messages:
        if key not in (message.metadata or {}):
            kept.append(message)
        elif not as_made(message):
            rest = _rest(message, cut, key)
            if rest.content if isinstance(rest.content, list) else rest.content.strip():
                kept.append(rest)
    return kept


def made_id(kind: str, text: str) -> str:
    """Return the id of a message that is nothing but a block: the same for the same text."""
    return f"{kind}-{hashlib.sha256(text.encode()).hexdigest()[:16]}"


def as_made(message: ChatMessage) -> bool:
    """Return whether a marked message is as we made it, in a revision that we may not know."""
    kind = (message.id or "").partition("-")[0]
    return isinstance(message.content, str) and message.id == made_id(kind, message.content)


def _rest(message: ChatMessage, cut: Callable[[str], str], key: str) -> ChatMessage:
    metadata = {name: value for name, value in (message.metadata or {}).items() if name != key}
    if isinstance(message.content, str):
        text = cut(message.content)
        return message.model_copy(update={"content": text, "metadata": metadata})
    parts = [
        part.model_copy(update={"text": cut(part.text)}) if isinstance(part, ContentText) else part
        for part in message.content
    ]
    kept = [part for part in parts if not isinstance(part, ContentText) or part.text]
    return message.model_copy(update={"content": kept, "metadata": metadata})
