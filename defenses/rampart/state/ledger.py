"""A log of mutations, chained by hashes so that an edit shows, and the blocks' lineage in it.

Each entry's hash covers the entry before it, so one saved hash shows later whether anything up
to that entry was changed, left out or inserted. Blocks are recorded by name, because ids are
renewed at every restore. The lineage (section 2.5) has the removed blocks too.
"""

import json
import secrets
import time
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from typing import Final, Literal, TypeAlias, get_args
from uuid import UUID

from constraintrot.defenses.rampart.block import Source, name_key
from constraintrot.defenses.rampart.errors import RegistryError

Action: TypeAlias = Literal[
    "create", "grant", "revoke", "pin", "write", "amend", "promote", "rename", "evict",
    "rollback", "restore",
]  # fmt: skip
ACTIONS: Final[tuple[Action, ...]] = get_args(Action)
MOST_MOVES: Final = 1 << 16
START: Final = "0" * 64
_Row: TypeAlias = "tuple[float, Action, UUID, str, str, tuple[tuple[str, object], ...]]"
_encode = json.JSONEncoder(separators=(",", ":")).encode


@dataclass(frozen=True, slots=True)
class Entry:
    """One mutation.

    Attributes:
        index: position in the log, from 0.
        time: seconds since the epoch.
        action: the kind of mutation.
        by: the principal, as proven at the call.
        name: the block's name, "" for none or several blocks.
        digest: SHA-256 hex of the block's content then, or "".
        detail: further facts as a JSON object.
        previous: hash of the entry before, 64 zeros for the first.
        hash: SHA-256 hex over all fields above.
    """

    index: int
    time: float
    action: Action
    by: UUID
    name: str
    digest: str
    detail: str
    previous: str
    hash: str

    def row(self) -> list[object]:
        return [
            *(self.index, self.time, self.action, self.by.hex, self.name),
            *(self.digest, self.detail, self.previous, self.hash),
        ]


class Ledger:
    """An append-only chain of entries.

    The hash of a mutation is made when the log is read, because mutations are far more frequent
    than readings. Until then a checksum, which starts from a number of this process, shows
    whether the waiting entries are unchanged.

    An agent moves blocks at every turn, and a move changes no text, so after ``MOST_MOVES``
    only each doubling of their number is logged, with the number.
    """

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self._entries = list(entries)
        self._head = (len(self._entries), self._entries[-1].hash if self._entries else START)
        self._waiting: list[_Row] = []
        self._moves = sum(entry.action == "promote" for entry in self._entries)
        self._start = self._sum = hash(secrets.token_bytes(16))
        self._whole = True

    def append(
        self,
        action: Action,
        by: UUID,
        name: str = "",
        digest: str = "",
        detail: Mapping[str, object] | None = None,
    ) -> None:
        """Add one mutation; the values of ``detail`` are hashable."""
        if action == "promote":
            self._moves += 1
            if self._moves > MOST_MOVES and self._moves & (self._moves - 1):
                return
            if self._moves > MOST_MOVES:
                detail = {**(detail or {}), "moves": self._moves}
        row = (time.time(), action, by, name, digest, tuple(detail.items()) if detail else ())
        self._waiting.append(row)
        self._sum = hash((self._sum, row))

    def mark(self) -> tuple[int, int]:
        """Return a mark for ``back``; the log must not be read in between."""
        return len(self._waiting), self._sum

    def back(self, mark: tuple[int, int]) -> None:
        """Forget the entries added since a mark."""
        del self._waiting[mark[0] :]
        self._sum = mark[1]

    def _chain(self) -> None:
        """Hash the entries since the last reading."""
        checked = self._start
        for row in self._waiting:
            checked = hash((checked, row))
            when, action, by, name, digest, detail = row
            count, previous = self._head
            fields = (count, when, action, by, name, digest, _encode(dict(detail)), previous)
            entry = Entry(*fields, _hash(*fields))
            self._entries.append(entry)
            self._head = (count + 1, entry.hash)
        self._whole = self._whole and checked == self._sum
        self._waiting.clear()
        self._start = self._sum

    def entries(self) -> tuple[Entry, ...]:
        self._chain()
        return tuple(self._entries)

    def intact(self) -> bool:
        """Return whether no entry was changed, inserted, removed or moved since it was made."""
        entries = self.entries()
        last = entries[-1].hash if entries else START
        return self._whole and chained(entries) and self._head == (len(entries), last)


def chained(entries: Iterable[Entry]) -> bool:
    """Return whether the entries of a log, from its first on, are an unbroken chain."""
    previous = START
    for at, entry in enumerate(entries):
        fields = (
            *(entry.index, entry.time, entry.action, entry.by),
            *(entry.name, entry.digest, entry.detail, entry.previous),
        )
        if entry.index != at or entry.previous != previous or _hash(*fields) != entry.hash:
            return False
        previous = entry.hash
    return True


def parsed(row: object) -> Entry:
    """Return an entry from its ``row``."""
    match row:
        case [
            int() as index, float() as when, str() as action, str() as by, str() as name,
            str() as digest, str() as detail, str() as previous, str() as own,
        ] if action in ACTIONS:  # fmt: skip
            return Entry(index, when, action, UUID(by), name, digest, detail, previous, own)
        case _:
            raise RegistryError("a log entry is not a row of the nine fields of one")


def _hash(
    index: int, when: float, action: str, by: UUID, name: str, digest: str, detail: str, prev: str
) -> str:
    text = _encode((index, when, action, by.hex, name, digest, detail, prev))
    return sha256(text.encode()).hexdigest()


State: TypeAlias = Literal["live", "evicted", "rolled back"]


@dataclass(frozen=True, slots=True)
class Line:
    """The life of one block.

    Attributes:
        registry: id of the block's registry.
        digest: digest of its last content.
        source: its origin as its author stated it.
        author: the author, proven at its writing.
        run: the run that wrote it.
        created: seconds since the epoch.
        amended: number of changes of its content.
        state: live, or how it ended.
        ended_by: the principal that removed it.
    """

    registry: UUID
    name: str
    digest: str
    source: Source
    author: UUID
    run: str | None
    pinned: bool
    created: float
    amended: int = 0
    state: State = "live"
    ended_by: UUID | None = None


@dataclass(frozen=True, slots=True)
class Provenance:
    """The lineage of a registry's blocks.

    Attributes:
        here: blocks of the registry, removed ones included, in order of writing.
        elsewhere: blocks that its owner wrote into other registries of this process.
    """

    here: tuple[Line, ...]
    elsewhere: tuple[Line, ...]

    def rows(self) -> list[dict[str, object]]:
        """Return all lines as plain dicts, for a table."""
        return [asdict(line) for line in (*self.here, *self.elsewhere)]


def lineage(registry: UUID, log: Iterable[Entry]) -> tuple[Line, ...]:
    lines: list[Line] = []
    live: dict[str, int] = {}
    for entry in log:
        key = name_key(entry.name)
        if entry.action in ("write", "pin"):
            live[key] = len(lines)
            lines.append(_line(registry, entry))
        elif entry.action == "amend":
            at = live[key]
            lines[at] = replace(lines[at], digest=entry.digest, amended=lines[at].amended + 1)
        elif entry.action == "rename":
            at = live[key] = live.pop(name_key(json.loads(entry.detail)["was"]))
            lines[at] = replace(lines[at], name=entry.name)
        elif entry.action in ("evict", "rollback"):
            at = live.pop(key)
            state: State = "evicted" if entry.action == "evict" else "rolled back"
            lines[at] = replace(lines[at], state=state, ended_by=entry.by)
    return tuple(lines)


def _line(registry: UUID, entry: Entry) -> Line:
    facts: Mapping[str, object] = json.loads(entry.detail)
    return Line(
        registry=registry,
        name=entry.name,
        digest=entry.digest,
        source=facts["source"],  # type: ignore[arg-type]  # from our own log
        author=entry.by,
        run=facts["run"],  # type: ignore[arg-type]  # from our own log
        pinned=entry.action == "pin",
        created=entry.time,
    )
