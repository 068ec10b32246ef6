"""Finding a pinned block in a context, and taking it out, in whatever revision."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from inspect_ai.model import ChatMessage, ContentText

from constraintrot.compaction.strategy_wrapper import merged, summarised

# In a message's metadata: this was put in by us. No text can claim it.
PINNED = "pinned"


def holds(message: ChatMessage, block: str) -> bool:
    """Whether a message in an operator's or user's name holds the block.

    A summary does not, whatever it quotes, unless Inspect merged it with the block.
    """
    if message.role not in ("system", "user") or block not in message.text:
        return False
    return not summarised(message) or (merged(message) and PINNED in (message.metadata or {}))


def leading(messages: Sequence[ChatMessage]) -> int:
    """How many system messages there are at the start."""
    at = 0
    while at < len(messages) and messages[at].role == "system":
        at += 1
    return at


def without_pins(messages: Sequence[ChatMessage], cut: Callable[[str], str]) -> list[ChatMessage]:
    """The messages less every block that was ever put in.

    A message that holds nothing else goes; of one that Inspect merged with others,
    the others stay. What merely looks like a block is content, and stays.

    Args:
        messages: a context.
        cut: takes the blocks out of a text.
    """
    kept: list[ChatMessage] = []
    for message in messages:
        if PINNED not in (message.metadata or {}):
            kept.append(message)
        elif merged(message):
            rest = _rest(message, cut)
            if rest.text.strip() or not isinstance(rest.content, str):
                kept.append(rest)
    return kept


def _rest(message: ChatMessage, cut: Callable[[str], str]) -> ChatMessage:
    metadata = {key: value for key, value in (message.metadata or {}).items() if key != PINNED}
    if isinstance(message.content, str):
        text = cut(message.content)
        return message.model_copy(update={"content": text, "metadata": metadata})
    parts = [
        part.model_copy(update={"text": cut(part.text)}) if isinstance(part, ContentText) else part
        for part in message.content
    ]
    kept = [part for part in parts if not isinstance(part, ContentText) or part.text]
    return message.model_copy(update={"content": kept, "metadata": metadata})
