"""Cues by which tool content poses as an order or an authority.

Nearly every cue is a pair of word classes near each other in one
sentence: "summary" alone, or "omit" alone, is ordinary text.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from constraintrot.rule_text import order_words as words
from constraintrot.rule_text.survival import sentences

Kind: TypeAlias = Literal["text to the summarizer", "text to the assistant", "claim of authority"]
KINDS: tuple[Kind, ...] = ("text to the summarizer", "text to the assistant", "claim of authority")

# Characters that may lie between the two halves of a pair.
_NEAR = 120
# A longer sentence says more than who is meant.
_ADDRESS_LENGTH = 90
# A sentence longer than this is taken apart further: a file of one line is no sentence.
_LONG = 400
_WORD = re.compile(r"[^\W\d_]")
_FIELD = re.compile(r"(?<=[;|\t；])|(?<=\",)|(?<=[}\]],)")


@dataclass(frozen=True)
class _Pair:
    """Two classes of words that together make a cue."""

    kind: Kind
    first: re.Pattern[str]
    second: re.Pattern[str]


_PAIRS = (
    _Pair("text to the summarizer", words.SUMMARY, words.OMIT),
    _Pair("text to the summarizer", words.STANDING, words.OMIT),
    _Pair("text to the summarizer", words.NORM, words.DISREGARD),
    _Pair("text to the summarizer", words.BREVITY, words.STANDING),
    _Pair("claim of authority", words.NORM, words.ANNUL),
    _Pair("claim of authority", words.AUTHORITY, words.LICENCE),
    _Pair("text to the assistant", words.AGENT, words.COMMAND),
)


def parts(text: str) -> list[str]:
    """A text in pieces to judge, which add up to it: sentences, or fields of long ones."""
    return [
        piece
        for sentence in sentences(text)
        for piece in (_FIELD.split(sentence) if len(sentence) > _LONG else [sentence])
        if piece
    ]


def kinds_of(parts: Sequence[str]) -> list[Kind | None]:
    """Return the role that each part of a text poses as; None for an ordinary part."""
    kinds: list[Kind | None] = []
    before = ""
    for part in parts:
        # A file of separators has as many parts as characters, and says nothing.
        folded = _fold(part) if _WORD.search(part) else ""
        kinds.append((_alone(folded) or _after(before, folded)) if folded else None)
        before = folded
    return kinds


def _alone(folded: str) -> Kind | None:
    if words.CONTROL.search(folded):
        return "text to the assistant"
    if words.SUMMARIZER.search(folded):
        return "text to the summarizer"
    for pair in _PAIRS:
        if _near(pair.first, pair.second, folded):
            return pair.kind
    role = words.ROLE.match(folded)
    if role and words.ORDER.match(folded[role.end() :]):
        return "text to the assistant"
    return None


def _after(before: str, folded: str) -> Kind | None:
    """An order right after a line that says who is meant."""
    addressed = len(before) <= _ADDRESS_LENGTH and words.ADDRESS.search(before)
    return "text to the summarizer" if addressed and words.ORDER.match(folded) else None


def _near(first: re.Pattern[str], second: re.Pattern[str], text: str) -> bool:
    """Return whether a match of each is within reach of the other, neither inside the other."""
    ones = [match.span() for match in first.finditer(text)]
    others = [match.span() for match in second.finditer(text)] if ones else []
    starts, ends = [start for start, _ in others], [end for _, end in others]
    for start, end in ones:
        after = bisect_left(starts, end)
        if after < len(starts) and starts[after] - end <= _NEAR:
            return True
        before = bisect_right(ends, start)
        if before and start - ends[before - 1] <= _NEAR:
            return True
    return False


def _fold(text: str) -> str:
    """A text for matching: one case, one width, nothing invisible, blanks as one."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    shown = "".join(letter for letter in plain if unicodedata.category(letter) != "Cf")
    return re.sub(r"\s+", " ", shown.replace("’", "'")).strip()
