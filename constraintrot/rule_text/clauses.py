"""Clauses of English, Spanish, German and Chinese text.

A rule-based split, made for summaries: sentences, list items, semicolons,
dashes, commas and coordinated clauses are boundaries; quotations, brackets and
code are never parted. A piece that cannot stand by itself ("whoever asks",
"and returns") is a clause that leans on a neighbour, and goes when that goes.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right, insort
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from constraintrot.rule_text.clause_words import (
    ABBREVIATION,
    CONDITION,
    CONNECTIVE,
    COORDINATION,
    DEPENDENT,
    PREDICATE,
)
from constraintrot.rule_text.survival import sentences

_CJK = re.compile(r"[\u3400-\u9fff]")
BULLET = re.compile(
    r"\s*(?:[-*•·–]\s+|\(?\d{1,2}[.)](?:\s+|$)|\d{1,2}、|[(（][\d一二三四五六七八九十]{1,3}[)）]\s*)"
)
_LABEL = re.compile(r"[^:：,，;；.。!?！？\n]{1,48}(?::(?=\s)|：)\**\s*")
_BREAK = re.compile(r"[;；]\s*|\s[–—-]\s+|——\s*|—|,(?=\s)\s*|，")
_PAIRS = {
    "(": ")",
    "（": "）",
    "“": "”",
    "„": "“",
    "「": "」",
    "『": "』",
    "《": "》",
    "[": "]",
    "【": "】",
}
# Fewer words, or Chinese characters, make no clause.
_LEAST = 3
_APART = ";；—–-"
BLANKS = " \t\r\n\u3000"


@dataclass(frozen=True)
class Span:
    """A stretch of a text, from ``start`` to before ``end``, in characters."""

    start: int
    end: int


@dataclass(frozen=True)
class Clause(Span):
    """A clause with its bullet, closing punctuation and trailing blanks.

    Attributes:
        sentence: number of its sentence.
        leans: -1 where it cannot stand without the clause before it, 1 without
            the one after it, else 0.
        label: whether it only names what comes after it ("User instructions:").
        binds: whether the clause that it leans on says something else without it
            (a condition).
    """

    sentence: int
    leans: int = 0
    label: bool = False
    binds: bool = False


def clauses(text: str) -> list[Clause]:
    """The clauses of a text; joined, they are the text."""
    found: list[Clause] = []
    at = 0
    for number, sentence in enumerate(_lines(text)):
        found += _of_sentence(sentence, at, number)
        at += len(sentence)
    return found


def size(text: str) -> int:
    """Words of a text; each Chinese character counts as one."""
    return len(_CJK.findall(text)) + len(re.findall(r"\w+", _CJK.sub(" ", text)))


def by_sentence(parts: Sequence[Clause]) -> list[list[int]]:
    """The numbers of the clauses, a list a sentence."""
    found: list[list[int]] = []
    for at, part in enumerate(parts):
        if not at or part.sentence != parts[at - 1].sentence:
            found.append([])
        found[-1].append(at)
    return found


def overlapping(parts: Sequence[Clause], spans: Iterable[Span]) -> set[int]:
    """The numbers of the clauses that share a character with some spans."""
    starts = [part.start for part in parts]
    found: set[int] = set()
    for span in spans:
        if span.start < span.end:
            found.update(range(bisect_right(starts, span.start) - 1, bisect_left(starts, span.end)))
    return found & set(range(len(parts)))


def with_dependents(parts: Sequence[Clause], chosen: Collection[int]) -> set[int]:
    """Some clauses, and those of the same sentences that cannot stand without them."""
    found: set[int] = set()
    waiting = list(chosen)
    while waiting:
        at = waiting.pop()
        if at not in found:
            found.add(at)
            waiting += _dependents(parts, at)
    return found


def unconnected(piece: str) -> str:
    """A piece without the conjunction that joins it to the one before."""
    piece = piece.lstrip(BLANKS)
    found = CONNECTIVE.match(piece)
    return piece[found.end() :] if found else piece


def _lines(text: str) -> Iterator[str]:
    """Sentences, with a number or an abbreviation that ends in a stop joined to what follows."""
    held = ""
    for sentence in sentences(text):
        held += sentence
        alone = BULLET.fullmatch(held) or ABBREVIATION.search(held)
        if alone and "\n" not in sentence:
            continue
        yield held
        held = ""
    if held:
        yield held


def _of_sentence(sentence: str, offset: int, number: int) -> list[Clause]:
    bullet = BULLET.match(sentence)
    begin = bullet.end() if bullet else 0
    label = _label(sentence, begin)
    starts = ([0] if label is None else [0, label]) + _boundaries(sentence, label or begin)
    ends = [*starts[1:], len(sentence)]
    found: list[Clause] = []
    for start, end in zip(starts, ends, strict=True):
        piece = sentence[start:end]
        named = piece.rstrip(BLANKS + "*").endswith((":", "："))
        separate = start in (0, label) or sentence[:start].rstrip(BLANKS)[-1] in _APART
        said = piece[begin if start == 0 else 0 :]
        leans = 0 if named else _leans(said, separate=separate)
        binds = bool(leans) and CONDITION.match(said) is not None
        found.append(Clause(offset + start, offset + end, number, leans, named, binds))
    return _resolved(found)


def _label(sentence: str, begin: int) -> int | None:
    found = _LABEL.match(sentence, begin)
    if found is None or found.end() == len(sentence) or size(found[0]) > 8:
        return None
    return found.end()


def _resolved(found: list[Clause]) -> list[Clause]:
    """A dependent clause leans back; one that has nothing before it leans forward."""
    heads = [at for at, one in enumerate(found) if not one.leans and not one.label]
    first = heads[0] if heads else len(found)
    resolved: list[Clause] = []
    for at, one in enumerate(found):
        before = at > 0 and not found[at - 1].label
        leans = one.leans and (1 if at < first < len(found) else -1 if before else 0)
        binds = one.binds and leans == 1
        resolved.append(replace(one, leans=leans, binds=binds))
    return resolved


def _boundaries(sentence: str, begin: int) -> list[int]:
    """Yield the places at which a new clause begins within a sentence."""
    shut = _enclosed(sentence)
    marks = [found for found in _BREAK.finditer(sentence, begin) if found.start() not in shut]
    found = [mark.end() for mark in marks if begin < mark.end() < len(sentence.rstrip(BLANKS))]
    for mark in COORDINATION.finditer(sentence, begin):
        place = bisect_left(found, mark.start() - 1)
        if mark.start() in shut or (place < len(found) and found[place] <= mark.start() + 1):
            continue
        right = sentence[mark.end() : found[place] if place < len(found) else len(sentence)]
        left = sentence[found[place - 1] if place else begin : mark.start()]
        if size(left) >= _LEAST and size(right) >= _LEAST and PREDICATE.search(right):
            insort(found, mark.start() + (sentence[mark.start()] in BLANKS))
    return found


def _enclosed(sentence: str) -> set[int]:
    """Positions within quotation marks, brackets or code; an unclosed one encloses nothing."""
    found: set[int] = set()
    at = 0
    while at < len(sentence):
        close = _PAIRS.get(sentence[at], sentence[at] if sentence[at] in '"`' else None)
        end = sentence.find(close, at + 1) if close else -1
        if end > 0:
            found.update(range(at, end))
            at = end
        at += 1
    return found


def _leans(piece: str, *, separate: bool) -> int:
    """-1 for a piece that cannot stand by itself, else 0.

    Args:
        piece: the piece.
        separate: whether it begins a sentence or comes after a semicolon or a dash.
    """
    bare = unconnected(piece)
    if DEPENDENT.match(bare):
        return -1
    if size(bare) < _LEAST and not separate:
        return -1
    return 0 if separate or _CJK.search(bare) or PREDICATE.search(bare) else -1


def _dependents(parts: Sequence[Clause], gone: int) -> Iterator[int]:
    """The clauses that go when a clause goes, but for those that go in turn."""
    for other in (gone - 1, gone + 1):
        if 0 <= other < len(parts) and parts[other].sentence == parts[gone].sentence:
            # A condition takes along what it is the condition of.
            bound = parts[gone].binds and other > gone
            if bound or parts[other].leans == gone - other:
                yield other
