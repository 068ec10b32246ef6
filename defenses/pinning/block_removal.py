"""Blocks taken out of a text: byte for byte, from within each other too, and nothing else."""

from collections.abc import Callable, Iterable
from hashlib import sha256
from typing import Final, NamedTuple, TypeAlias

from constraintrot.strict import Strict

SEPARATOR: Final = "\n\n"
"""The separator between a block and the text beside it."""


class Span(NamedTuple):
    start: int
    end: int


Find: TypeAlias = Callable[[str, int], tuple[Span, bool] | None]
"""Finds the first block of a text from a place on, and says whether it is to be taken out."""


class Removed(Strict):
    """The characters that were taken out of a text.

    Attributes:
        characters: how many, the line breaks that parted it from the rest included.
        digest: their SHA-256, hex.
    """

    characters: int
    digest: str


class Rest(NamedTuple):
    text: str
    removed: tuple[Removed, ...]


def removed(text: str) -> Removed:
    """The record of a text that was taken out."""
    digest = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return Removed(characters=len(text), digest=digest)


def emptied(text: str, find: Find, reach: int, separator: str = SEPARATOR) -> Rest:
    """A text less its own blocks, until none is left: taking one out may make another whole.

    Only who attacks puts copies of a block into each other. Such a block stands across
    the place where another was taken out, so only there is the text read again.

    Args:
        text: the text.
        find: finds the blocks.
        reach: the length of the longest block.
        separator: one goes with each, the one before it, else the one behind it.
    """
    kept: list[Span] = []
    gone: list[Removed] = []
    at = 0
    while True:
        before = _end(text, kept, reach) if gone else ""
        seam = len(before)
        near = before + text[at : at + reach] if gone else ""
        across = _across(near, seam, find)
        # Whole only since a block within it is gone, so whoever attacks wrote it, not its owner.
        found = (across, True) if across is not None else find(text, at)
        if across is None:
            near, seam = text, at
        if found is None:
            return Rest("".join([*(text[a:b] for a, b in kept), text[at:]]), tuple(gone))
        (start, end), own = found
        if not own or start > seam:
            kept.append(Span(at, at + (start if own else end) - seam))
        at += end - seam
        if not own:
            continue
        _shorten(kept, seam - start)
        taken = near[start:end]
        # A block right behind the one before it has nothing of its own before it.
        if start != seam and kept and text.endswith(separator, *kept[-1]):
            _shorten(kept, len(separator))
            taken = separator + taken
        elif text.startswith(separator, at):
            at += len(separator)
            taken += separator
        gone.append(removed(taken))


def _across(text: str, seam: int, find: Find) -> Span | None:
    """Return the block, whoever's, that begins before a place in a text and ends behind it."""
    found = find(text, 0) if seam else None
    while found is not None and found[0].end <= seam:
        found = find(text, found[0].end)
    return found[0] if found is not None and found[0].start < seam else None


def _end(text: str, kept: list[Span], most: int) -> str:
    """Return the last characters of what is kept of a text."""
    parts: list[str] = []
    for start, end in reversed(kept):
        parts.append(text[max(start, end - most) : end])
        most -= len(parts[-1])
        if not most:
            break
    return "".join(reversed(parts))


def _shorten(kept: list[Span], by: int) -> None:
    while by > 0:
        start, end = kept.pop()
        if end - start > by:
            kept.append(Span(start, end - by))
        by -= end - start


def cut_text(text: str, blocks: Iterable[str]) -> str:
    """A text less some blocks, byte for byte, and less a line break beside each."""
    known = [block for block in blocks if block]
    places: dict[str, int] = {}

    def find(said: str, at: int) -> tuple[Span, bool] | None:
        ahead = places if said is text else {}
        for block in known:
            if ahead.get(block, -1) < at:
                place = said.find(block, at)
                ahead[block] = place if place >= 0 else len(said)
        start, length = min((place, -len(block)) for block, place in ahead.items())
        return (Span(start, start - length), True) if start < len(said) else None

    return emptied(text, find, max(map(len, known)), "\n").text if known else text
