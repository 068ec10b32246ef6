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
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from threading import Lock
from typing import Any, Final
from weakref import WeakKeyDictionary, WeakValueDictionary

from constraintrot.defenses.pinning.block_removal import SEPARATOR, Rest, Span, emptied
from constraintrot.defenses.rampart import Registry
from constraintrot.errors import ParameterError

# A block so many revisions old is hardly left in any conversation.
_KEPT: Final = 1024
_MOST_CHARACTERS: Final = 16_000_000
_MARK: Final = re.compile(r" \[([0-9a-f]{16})\](?=\n)")


@dataclass(frozen=True, eq=False)
class Written:
    """A block as a registry once wrote it."""

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
        """Make ids with a nonce from now on."""
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
        return (span for span, own in self._blocks(text) if own)

    def less(self, text: str) -> Rest:
        """A text less this registry's blocks, and what was taken out."""
        if _MARK.search(text) is None:
            return Rest(text, ())
        every = [*self._past.values(), *(one() for one in _ALL.valuerefs())]
        reach = max((len(one.text) for one in every if one is not None), default=0)
        return emptied(text, lambda said, at: next(self._blocks(said, at), None), reach)

    def _blocks(self, text: str, at: int = 0) -> Iterator[tuple[Span, bool]]:
        """Return the outer blocks of all registries of this process, and which are its own."""
        found = _blocks(text, lambda mark: self._past.get(mark) or _ALL.get(mark), at)
        return ((span, mark in self._past) for span, mark in found)


_ALL: WeakValueDictionary[str, Written] = WeakValueDictionary()
_MARKS: WeakKeyDictionary[Registry, Marks] = WeakKeyDictionary()
_GUARD = Lock()


def _blocks(
    text: str, known: Callable[[str], Written | None], at: int = 0
) -> Iterator[tuple[Span, str]]:
    """Return the places of known blocks and their ids, from a place on."""
    for mark in _MARK.finditer(text, at):
        written = known(mark[1])
        start = mark.start() - written.mark_at if written is not None else -1
        # The whole block counts, whatever others wrote right beside it.
        if written is not None and start >= at and text.startswith(written.text, start):
            at = start + len(written.text)
            yield Span(start, at), mark[1]


def outside_blocks(text: str, change: Callable[[str], str]) -> str:
    """Return a text changed outside the blocks of all registries of this process."""
    parts: list[str] = []
    at = 0
    for (start, end), _ in _blocks(text, _ALL.get):
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
