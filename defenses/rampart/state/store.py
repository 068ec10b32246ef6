"""The blocks of a registry, in a store that outlives a fork.

The caller holds ``lock``. No callable of the user's runs here, because every value is already
checked, counted and framed.

A child of ``os.fork`` inherits every registry (section 2.6) and locks that threads of the
parent may hold, which nobody in the child would release. So a fork first takes every lock,
which waits for the mutations under way, and the child begins with new ones. A lock is held
only briefly, and nobody takes a second one with it.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Protocol
from uuid import UUID, uuid4
from weakref import WeakSet

from constraintrot.defenses.rampart.block import Block, look_key, name_key, plain_id
from constraintrot.defenses.rampart.errors import DuplicateBlockError, UnknownBlockError
from constraintrot.defenses.rampart.state.accounting import Accesses
from constraintrot.defenses.rampart.state.ledger import Ledger, Line, lineage
from constraintrot.defenses.rampart.state.record_factory import Entry, Moment, Record
from constraintrot.defenses.rampart.state.tier import Tier

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Vectors(Protocol):
    """Embeddings by block key: ``embedding.index.Index``, without its NumPy."""

    def expect(self, key: str) -> None: ...

    def drop(self, key: str) -> None: ...

    def vector(self, key: str) -> NDArray[np.float32] | None: ...


class Store:
    """Two tiers of blocks, their records, their accesses and the log.

    Attributes:
        lock: held around every call; re-entrant.
        revision: a number that each mutation raises by one.
        written: number of blocks ever written, for derived names.
        vectors: the embeddings, once there are any.
    """

    def __init__(self, label: str) -> None:
        self.label = label
        self.lock = threading.RLock()
        self.id = uuid4()
        self.revision = 0
        self.written = 0
        self.pins = Tier()
        self.rest = Tier()
        self.records: dict[str, Record] = {}
        self.accesses = Accesses(self.records)
        self.ledger = Ledger()
        self.vectors: Vectors | None = None
        self._keys: dict[UUID, str] = {}
        self._looks: dict[str, str] = {}
        self._pinned: tuple[tuple[Entry, ...], str, str] | None = None
        self._moment: Moment | None = None
        with _guard:
            _stores.add(self)

    def pinned(self) -> tuple[tuple[Entry, ...], str, str]:
        """The pins in order, their framed text, and their manifest."""
        if self._pinned is None:
            pins = tuple(self.pins.entries())
            facts = json.dumps([[e.name, e.digest] for e in pins], separators=(",", ":"))
            text = "".join(entry.frame for entry in pins)
            self._pinned = (pins, text, sha256(facts.encode()).hexdigest())
        return self._pinned

    def lines(self) -> tuple[Line, ...]:
        """Return the lives of all its blocks, removed ones included."""
        with self.lock:
            where, log = self.id, self.ledger.entries()
        return lineage(where, log)

    def written_by(self, author: UUID) -> tuple[Line, ...]:
        return tuple(line for line in self.lines() if line.author == author)

    def moment(self) -> Moment:
        """Return all that a compile needs, unchangeable, for use after the lock is released."""
        if self._moment is None:
            pins, text, manifest = self.pinned()
            rest = self.rest
            self._moment = Moment(
                pins, text, self.pins.tokens, manifest, rest.entries(), rest.tokens, self.revision
            )
        return self._moment

    def entries(self) -> list[Entry]:
        return self.pins.entries() + self.rest.entries()

    def record(self, block_id: UUID) -> Record:
        if type(block_id) is not UUID:
            block_id = plain_id("a block is addressed", block_id)
        key = self._keys.get(block_id)
        if key is None:
            raise UnknownBlockError(
                f"no block of id {block_id}; ids are renewed at load and restore, "
                "and named() finds a block by its name"
            )
        return self.records[key]

    def find(self, block_id: UUID) -> Record | None:
        key = self._keys.get(block_id)
        return None if key is None else self.records[key]

    def view(self, record: Record) -> Block:
        entry, known = record.entry, record.fields
        if known is None or known[0] is not entry:
            known = record.fields = entry, _fields(record)
        kept = known[1]
        if kept["embedding"] is None and self.vectors is not None:
            kept["embedding"] = self.vectors.vector(entry.key)
        facts = kept.copy()
        facts["accesses"], facts["last_access"], facts["idle"] = self.accesses.of(record)
        # A frozen dataclass's own constructor takes five times as long.
        block = object.__new__(Block)
        object.__setattr__(block, "__dict__", facts)
        return block

    def views(self, entries: Sequence[Entry]) -> tuple[Block, ...]:
        return tuple(self.view(self.records[entry.key]) for entry in entries)

    def named(self, name: str) -> Record:
        record = self.records.get(name_key(name))
        if record is None or record.entry.name != name:
            raise UnknownBlockError(f"no block named {name!r} in registry {self.label!r}")
        return record

    def takers(self, name: str) -> list[Record]:
        """Return the records with a name or one that looks like it, at most two."""
        keys = dict.fromkeys((name_key(name), self._looks.get(look_key(name))))
        return [self.records[key] for key in keys if key in self.records]

    def free(self, record: Record) -> None:
        """Check that a new record's name is free."""
        name = record.entry.name
        for taken in self.takers(name):
            other = taken.entry.name
            alike = "" if taken.entry.key == record.entry.key else f", which {name!r} looks like"
            raise DuplicateBlockError(
                f"a block named {other!r} is in the registry{alike}; amend or evict that one, "
                f"or choose another name; the owner can reclaim({name!r})"
            )

    def insert(self, record: Record, at: int | None) -> None:
        self.accesses.join(record)
        self.records[record.entry.key] = record
        self._keys[record.entry.id] = record.entry.key
        self._looks[look_key(record.entry.name)] = record.entry.key
        self._tier(record).insert(record.entry, at)
        if self.vectors:
            self.vectors.expect(record.entry.key)
        self.written += 1
        self._changed(record.pinned)

    def remove(self, record: Record) -> None:
        key = record.entry.key
        self._tier(record).remove(key)
        del self.records[key], self._keys[record.entry.id]
        del self._looks[look_key(record.entry.name)]
        if self.vectors:
            self.vectors.drop(key)
        self._changed(record.pinned)

    def replace(self, record: Record, entry: Entry, content: str) -> None:
        """Give a record other content, or another free name, at the same place."""
        was = record.entry
        del self.records[was.key], self._looks[look_key(was.name)]
        record.entry, record.content = entry, content
        self.records[entry.key] = record
        self._keys[entry.id] = self._looks[look_key(entry.name)] = entry.key
        self._tier(record).replace(was.key, entry)
        if self.vectors:
            self.vectors.drop(was.key)
            self.vectors.expect(entry.key)
        self._changed(record.pinned)

    def move(self, records: Sequence[Record], position: int) -> None:
        self._tier(records[0]).move([record.entry.key for record in records], position)
        self._changed(records[0].pinned)

    def move_one(self, record: Record, position: int) -> None:
        if position:
            self._tier(record).move([record.entry.key], position)
        else:
            self._tier(record).to_front(record.entry.key)
        self._changed(record.pinned)

    def changed(self) -> None:
        """Count a mutation that changes no block."""
        self._changed(pinned=False)

    def _tier(self, record: Record) -> Tier:
        return self.pins if record.pinned else self.rest

    def _changed(self, pinned: bool) -> None:
        self.revision += 1
        self._moment = None
        if pinned:
            self._pinned = None


def _fields(record: Record) -> dict[str, Any]:
    """Return the fields of a block's views, except its accesses."""
    entry = record.entry
    return {
        "id": entry.id, "name": entry.name, "content": record.content,
        "priority": record.priority, "source": record.source, "author": record.author,
        "removable": record.removable, "run": record.run, "created": record.created,
        "accesses": 0, "last_access": None, "idle": 0, "embedding": None, "tags": record.tags,
        "pinned": record.pinned, "tokens": entry.tokens, "digest": entry.digest,
    }  # fmt: skip


_guard = threading.Lock()
# Never handed out: a store can be written to without any principal.
_stores: WeakSet[Store] = WeakSet()
_held: list[Store] = []


def written_elsewhere(here: Store, author: UUID) -> tuple[Line, ...]:
    """Return the lives of an author's blocks in all other stores of this process."""
    with _guard:
        others = [store for store in _stores if store is not here]
    return tuple(line for store in others for line in store.written_by(author))


def _before() -> None:
    _guard.acquire()
    _held[:] = list(_stores)
    for store in _held:
        store.lock.acquire()


def _in_parent() -> None:
    for store in _held:
        store.lock.release()
    _held.clear()
    _guard.release()


def _in_child() -> None:
    global _guard
    _guard = threading.Lock()
    for store in _held:
        store.lock = threading.RLock()
    _held.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_in_parent, after_in_child=_in_child)
