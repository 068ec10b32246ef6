"""Taking blocks out of a text: exactly what was put in, and what was put beside it."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict

from constraintrot.defenses.pinning.block_marks import SEPARATOR, Span


class Removed(BaseModel):
    """The characters that were taken out of a text.

    Attributes:
        characters: how many, the line breaks that parted it from the rest included.
        digest: their SHA-256, hex.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    characters: int
    digest: str


class Rest(NamedTuple):
    """A text less some stretches, and what these were."""

    text: str
    removed: tuple[Removed, ...]


def removed(text: str) -> Removed:
    """The record of a text that was taken out."""
    digest = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return Removed(characters=len(text), digest=digest)


def without(text: str, spans: Iterable[Span], separator: str = SEPARATOR) -> Rest:
    """A text less some stretches, each with one separator beside it.

    Args:
        text: the text.
        spans: the stretches, in order and apart from each other.
        separator: that parts a block from the text before it, else from that behind it.
    """
    parts: list[str] = []
    gone: list[Removed] = []
    at = 0
    for start, end in spans:
        if text.endswith(separator, at, start):
            start -= len(separator)
        elif text.startswith(separator, end):
            end += len(separator)
        parts.append(text[at:start])
        gone.append(removed(text[start:end]))
        at = end
    if not gone:
        return Rest(text, ())
    return Rest("".join([*parts, text[at:]]), tuple(gone))


def cut_text(text: str, blocks: Iterable[str]) -> str:
    """A text less some blocks, byte for byte, and less a line break beside each."""
    for block in blocks:
        text = without(text, _places(text, block), "\n").text
    return text


def _places(text: str, block: str) -> Iterable[Span]:
    start = text.find(block) if block else -1
    while start >= 0:
        yield Span(start, start + len(block))
        start = text.find(block, start + len(block))
