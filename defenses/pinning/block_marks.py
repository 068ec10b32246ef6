"""Marks that tell a registry's pinned block from a text that looks like one.

A block's heading ends with an id that nobody can work out beforehand: a keyed digest of the
heading and the pins, by a nonce of the registry's. A registry keeps its blocks by these
ids, and finds them again byte for byte in any revision. Nothing else counts as a block.
"""

import hmac
import re
import secrets
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from threading import Lock
from typing import Final, NamedTuple
from weakref import WeakKeyDictionary, WeakValueDictionary

from constraintrot.defenses.rampart import Registry
from constraintrot.errors import ParameterError
from constraintrot.strict import Strict

SEPARATOR: Final = "\n\n"
"""The separator between a block and the text beside it."""

# A block so many revisions old is hardly left in any conversation.
_KEPT: Final = 1024
_MOST_CHARACTERS: Final = 16_000_000
_NESTED: Final = 32
_MARK: Final = re.compile(r" \[([0-9a-f]{16})\](?=\n)")


class Span(NamedTuple):
    """The span of a block in a text."""

    start: int
    end: int


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
            kept = self._past.setdefault(mark, written)
            self._past.move_to_end(mark)
            self._size += len(written.text) if kept is written else 0
            # The last one may be in a conversation whatever its size.
            while len(self._past) > 2 and (
                len(self._past) > _KEPT or self._size > _MOST_CHARACTERS
            ):
                self._size -= len(self._past.popitem(last=False)[1].text)
            _ALL[mark] = kept
        return kept.text

    def spans(self, text: str) -> Iterator[Span]:
        """Yield the spans of this registry's blocks, in time linear in the text."""
        return _spans(text, self._past)


_ALL: WeakValueDictionary[str, Written] = WeakValueDictionary()
_MARKS: WeakKeyDictionary[Registry, Marks] = WeakKeyDictionary()
_GUARD = Lock()


def _spans(text: str, known: Mapping[str, Written]) -> Iterator[Span]:
    at = 0
    for mark in _MARK.finditer(text):
        written = known.get(mark[1])
        start = mark.start() - written.mark_at if written is not None else -1
        # The whole block counts, whatever others wrote right beside it.
        if written is not None and start >= at and text.startswith(written.text, start):
            at = start + len(written.text)
            yield Span(start, at)


def outside_blocks(text: str, change: Callable[[str], str]) -> str:
    """Return a text changed outside the blocks of all registries of this process."""
    parts: list[str] = []
    at = 0
    for start, end in _spans(text, _ALL):
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


def emptied(text: str, spans: Callable[[str], Iterable[Span]], separator: str = SEPARATOR) -> Rest:
    """Return a text less some spans until none is left: removing one may make another whole.

    Only an attack puts copies of a block into each other. Deeper than ``_NESTED``, the text
    is cut off where the first of them begins.
    """
    gone: list[Removed] = []
    for _ in range(_NESTED):
        rest = without(text, spans(text), separator)
        if not rest.removed:
            return Rest(text, tuple(gone))
        text = rest.text
        gone += rest.removed
    first = next(iter(spans(text)), None)
    if first is not None:
        gone.append(removed(text[first.start :]))
        text = text[: first.start]
    return Rest(text, tuple(gone))


def cut_text(text: str, blocks: Iterable[str]) -> str:
    """Return a text less some blocks, byte for byte, and a line break beside each."""
    kept = list(blocks)
    return emptied(text, lambda said: _first_of(said, kept), "\n").text


def _first_of(text: str, blocks: Iterable[str]) -> Iterable[Span]:
    """Return the spans of the first block in the list that a text holds."""
    for block in blocks:
        if block and block in text:
            return _places(text, block)
    return ()


def _places(text: str, block: str) -> Iterable[Span]:
    start = text.find(block) if block else -1
    while start >= 0:
        yield Span(start, start + len(block))
        start = text.find(block, start + len(block))
