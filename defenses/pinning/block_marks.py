"""Marks that tell a registry's pinned block from a text that looks like one.

A block's heading ends with an id that nobody can work out beforehand: a keyed digest of the
heading and the pins, by a nonce of the registry's. A registry keeps its blocks by these
ids, and finds them again byte for byte in any revision. Nothing else counts as a block.
"""

from __future__ import annotations

import hmac
import re
import secrets
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from threading import Lock
from typing import Any, Final, NamedTuple, TypeAlias
from weakref import WeakKeyDictionary, WeakValueDictionary

from constraintrot.defenses.rampart import Registry
from constraintrot.errors import ParameterError
from constraintrot.strict import Strict

SEPARATOR: Final = "\n\n"
"""The separator between a block and the text beside it."""

# A block so many revisions old is hardly left in any conversation.
_KEPT: Final = 1024
_MOST_CHARACTERS: Final = 16_000_000
_MARK: Final = re.compile(r" \[([0-9a-f]{16})\](?=\n)")


class Span(NamedTuple):
    """The span of a block in a text."""

    start: int
    end: int


class Found(NamedTuple):
    """A block in a text, and whether it is one to take out."""

    start: int
    end: int
    own: bool = True


Find: TypeAlias = Callable[[str, int], Found | None]
"""The first block of a text from a place on."""


@dataclass(frozen=True, eq=False)
class Written:
    """A block as a registry once wrote it.

    Attributes:
        text: the block, without a line break at its end.
        mark_at: index of the blank before the id.
    """

    text: str
    mark_at: int


class Marks:
    """The blocks that a registry wrote, by their ids.

    Attributes:
        nonce: the key of the ids; drawn unless one is chosen.
    """

    def __init__(self, label: str) -> None:
        self.label = label
        self.nonce = secrets.token_hex(16)
        self._lock = Lock()
        self._past: OrderedDict[str, Written] = OrderedDict()
        self._size = 0

    def __deepcopy__(self, memo: dict[int, Any]) -> Marks:
        return self

    @property
    def owner(self) -> str:
        """An id that distinguishes the registry from others and does not reveal its nonce."""
        return sha256(f"owner\0{self.label}\0{self.nonce}".encode()).hexdigest()[:16]

    def choose(self, nonce: str) -> None:
        """Make ids with a nonce from now on.

        Raises:
            ParameterError: it is blank, or blocks were written with another.
        """
        if not nonce.strip():
            raise ParameterError(
                "the nonce is blank, so anybody could work out the ids of blocks; is the variable"
                " that it comes from set?"
            )
        with self._lock:
            if self._past and nonce != self.nonce:
                raise ParameterError(
                    "this registry's blocks are marked with another nonce already; give the same"
                    " nonce= to everything that pins from it, before its first use"
                )
            self.nonce = nonce

    def write(self, heading: str, pinned: str) -> str:
        """Return a block of a heading and the pins, and keep it to be found again."""
        key = self.nonce.encode()
        mark = hmac.new(key, f"{heading}\0{pinned}".encode(), sha256).hexdigest()[:16]
        body = pinned.removesuffix("\n")
        written = Written(f"{heading} [{mark}]\n{body}", len(heading))
        with self._lock:
            # Registries that write the same block share it, so that it is known while one lives.
            kept = _ALL.setdefault(mark, written)
            self._size += len(kept.text) if mark not in self._past else 0
            self._past[mark] = kept
            self._past.move_to_end(mark)
            # The last one may be in a conversation whatever its size.
            while len(self._past) > 2 and (
                len(self._past) > _KEPT or self._size > _MOST_CHARACTERS
            ):
                self._size -= len(self._past.popitem(last=False)[1].text)
        return kept.text

    def spans(self, text: str) -> Iterator[Span]:
        """Return the spans of this registry's blocks, in time linear in the text.

        A block inside of another registry's whole block is a part of that one.
        """
        return (Span(start, end) for start, end, own in self._blocks(text) if own)

    def less(self, text: str) -> Rest:
        """A text less this registry's blocks, and what was taken out."""
        if _MARK.search(text) is None:
            return Rest(text, ())
        every = [*self._past.values(), *(one() for one in _ALL.valuerefs())]
        reach = max((len(one.text) for one in every if one is not None), default=0)
        return emptied(text, lambda said, at: next(self._blocks(said, at), None), reach)

    def _blocks(self, text: str, at: int = 0) -> Iterator[Found]:
        """Return the blocks of all registries of this process, outer ones only."""
        found = _blocks(text, lambda mark: self._past.get(mark) or _ALL.get(mark), at)
        return (Found(start, end, mark in self._past) for start, end, mark in found)


_ALL: WeakValueDictionary[str, Written] = WeakValueDictionary()
_MARKS: WeakKeyDictionary[Registry, Marks] = WeakKeyDictionary()
_GUARD = Lock()


def _blocks(
    text: str, known: Callable[[str], Written | None], at: int = 0
) -> Iterator[tuple[int, int, str]]:
    """Return the places of known blocks and their ids, from a place on."""
    for mark in _MARK.finditer(text, at):
        written = known(mark[1])
        start = mark.start() - written.mark_at if written is not None else -1
        # The whole block counts, whatever others wrote right beside it.
        if written is not None and start >= at and text.startswith(written.text, start):
            at = start + len(written.text)
            yield start, at, mark[1]


def outside_blocks(text: str, change: Callable[[str], str]) -> str:
    """Return a text changed outside the blocks of all registries of this process."""
    parts: list[str] = []
    at = 0
    for start, end, _ in _blocks(text, _ALL.get):
        parts += [change(text[at:start]) if start > at else "", text[start:end]]
        at = end
    return "".join([*parts, change(text[at:])]) if at < len(text) else "".join(parts)


def marks_of(registry: Registry) -> Marks:
    """Return a registry's marks, the same for everything that pins from it."""
    with _GUARD:
        return _MARKS.setdefault(registry, Marks(registry.label))


def only_blocks(text: str) -> bool:
    """Return whether a text consists only of blocks that registries of this process wrote.

    So several registries can pin into one place.
    """
    at = 0
    while at < len(text):
        if not text.startswith(SEPARATOR, at):
            return False
        mark = _MARK.search(text, at)
        written = _ALL.get(mark[1]) if mark else None
        start = at + len(SEPARATOR)
        if mark is None or written is None or not text.startswith(written.text, start):
            return False
        at = start + len(written.text)
    return True


class Removed(Strict):
    """The characters that were taken out of a text.

    Attributes:
        characters: their number, the separating line breaks included.
        digest: their SHA-256, hex.
    """

    characters: int
    digest: str


class Rest(NamedTuple):
    """A text less some spans, and the records of these."""

    text: str
    removed: tuple[Removed, ...]


def removed(text: str) -> Removed:
    """Return the record of a text that was taken out."""
    digest = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return Removed(characters=len(text), digest=digest)


def without(text: str, spans: Iterable[Span], separator: str = SEPARATOR) -> Rest:
    """Return a text less some spans, which are in order and do not touch.

    One separator goes with each: the one before it, else the one behind it.
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
        block = _across(near, seam, find)
        if block is None:
            block, near, seam = find(text, at), text, at
        if block is None:
            return Rest("".join([*(text[a:b] for a, b in kept), text[at:]]), tuple(gone))
        start, end, own = block
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


def _across(text: str, seam: int, find: Find) -> Found | None:
    """Return the block that begins before a place in a text and ends behind it."""
    block = find(text, 0) if seam else None
    while block is not None and block.end <= seam:
        block = find(text, block.end)
    return block if block is not None and block.start < seam else None


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

    def find(said: str, at: int) -> Found | None:
        ahead = places if said is text else {}
        for block in known:
            if ahead.get(block, -1) < at:
                place = said.find(block, at)
                ahead[block] = place if place >= 0 else len(said)
        start, length = min((place, -len(block)) for block, place in ahead.items())
        return Found(start, start - length) if start < len(said) else None

    return emptied(text, find, max(map(len, known)), "\n").text if known else text
