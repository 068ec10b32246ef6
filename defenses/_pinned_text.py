"""Finding a pinned block in a context, and taking it out, in whatever revision."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from inspect_ai.model import ChatMessage, ContentText

from constraintrot.wrapped import merged, summarised

# In a message's metadata: this was put in by us. No text can claim it.
PINNED = "pinned"
_OPENING = re.compile(r"(~{3,}) [^\n]+\n")


def holds(message: ChatMessage, block: str) -> bool:
    """Whether a message that an operator or user stands for holds the block.

    A summary does not, whatever it quotes, unless Inspect merged it with the block.
    """
    if message.role not in ("system", "user") or block not in message.text:
        return False
    return not summarised(message) or (merged(message) and PINNED in (message.metadata or {}))


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


def cut_frames(text: str, heading: str) -> str:
    """A text less each heading with the frames after it, whatever they hold."""
    begins = f"{heading}\n"
    at = 0
    while (start := text.find(begins, at)) >= 0:
        end = _after_frames(text, start + len(begins))
        if end == start + len(begins) or (start and text[start - 1] != "\n"):
            at = start + 1
            continue
        # The line break is the one that merging put between the two.
        text = _closed(text, start, end)
        at = start
    return text


def cut_text(text: str, blocks: Iterable[str]) -> str:
    """A text less some blocks, byte for byte."""
    for block in blocks:
        while block and (start := text.find(block)) >= 0:
            text = _closed(text, start, start + len(block))
    return text


def _closed(text: str, start: int, end: int) -> str:
    """A text less a stretch, and less the line break that merging put beside it."""
    rest = text[end:].removeprefix("\n")
    return text[:start] + rest if rest else text[:start].removesuffix("\n")


def _after_frames(text: str, at: int) -> int:
    """Where the frames that begin at ``at`` end."""
    while opening := _OPENING.match(text, at):
        closing = f"\n{opening[1]}\n"
        end = text.find(closing, opening.end() - 1)
        if end < 0:
            break
        at = end + len(closing)
    return at
