"""Taking pinned blocks out of a text, in whatever revision; no Inspect needed."""

from __future__ import annotations

import re
from collections.abc import Iterable

_OPENING = re.compile(r"(~{3,}) [^\n]+\n")


def cut_frames(text: str, heading: str) -> str:
    """A text less each heading with the frames after it, whatever they hold."""
    begins = f"{heading}\n"
    at = 0
    # Else a text of nothing but openings would be searched to its end for each.
    unclosed: set[str] = set()
    while (start := text.find(begins, at)) >= 0:
        end = _after_frames(text, start + len(begins), unclosed)
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


def _after_frames(text: str, at: int, unclosed: set[str]) -> int:
    """Where the frames that begin at ``at`` end.

    Args:
        text: the text.
        at: where.
        unclosed: fences known to end nothing within the rest of the text.
    """
    while opening := _OPENING.match(text, at):
        closing = f"\n{opening[1]}"
        known = closing in unclosed
        end = -1 if known else text.find(f"{closing}\n", opening.end() - 1)
        if end < 0:
            unclosed.add(closing)
            # At the end of a text a frame may have lost its last line break.
            return len(text) if text.endswith(closing, opening.end() - 1) else at
        at = end + len(closing) + 1
    return at
