"""Finding and removing a pinned block, of any revision, in Inspect's messages."""

from collections.abc import Callable, Sequence

from inspect_ai.model import ChatMessage, ContentText

from constraintrot.compaction.strategy_wrapper import merged

# Metadata key of our own messages, which no text can claim.
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

    A message with nothing else is dropped; the rest of a merged message stays, as does any
    text that only looks like a block. ``cut`` takes the blocks out of a merged text;
    ``key`` is the owner's metadata key.
    """
    kept: list[ChatMessage] = []
    for message in messages:
        if key not in (message.metadata or {}):
            kept.append(message)
        elif merged(message):
            rest = _rest(message, cut, key)
            if rest.text.strip() or not isinstance(rest.content, str):
                kept.append(rest)
    return kept


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
