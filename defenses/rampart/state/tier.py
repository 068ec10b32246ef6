"""Records, and one ordered tier of them.

What a compile reads of a block is one immutable tuple, so that a compile can go on
from a copy of a tier while other threads change the tier itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple
from uuid import UUID

from constraintrot.defenses.rampart.block import Source


class Entry(NamedTuple):
    """What a compile reads of a block; ``key`` is its name as uniqueness sees it."""

    frame: str
    tokens: int
    name: str
    id: UUID
    digest: str
    key: str


@dataclass(slots=True, eq=False)
class Record:
    """What the registry keeps of a block; never handed out.

    ``extra`` to ``skipped`` belong to ``accounting.Accesses``.
    """

    entry: Entry
    content: str
    priority: int
    source: Source
    author: UUID
    removable: bool
    run: str | None
    created: float
    tags: tuple[str, ...]
    pinned: bool
    extra: int = 0
    joined: int = 0
    born: int = 0
    last: int | None = None
    skipped: int = 0


class Tier:
    """Entries by key in their order; both ends are reached in constant time.

    Two plain dicts, the front one in reverse: iterating those costs a compile a
    twentieth of what an ``OrderedDict`` costs it, and each can grow at its end.
    """

    def __init__(self) -> None:
        self._front: dict[str, Entry] = {}
        self._back: dict[str, Entry] = {}
        self.tokens = 0

    def __len__(self) -> int:
        return len(self._front) + len(self._back)

    def entries(self) -> list[Entry]:
        """All entries in order."""
        return [*reversed(self._front.values()), *self._back.values()]

    def insert(self, entry: Entry, at: int | None) -> None:
        """Put a new entry before position ``at``, or last."""
        self._back[entry.key] = entry
        self.tokens += entry.tokens
        if at is not None:
            self.move([entry.key], at)

    def replace(self, entry: Entry) -> None:
        """Put an entry in the place of the one of the same key."""
        half = self._half(entry.key)
        self.tokens += entry.tokens - half[entry.key].tokens
        half[entry.key] = entry

    def remove(self, key: str) -> None:
        """Take an entry out."""
        self.tokens -= self._half(key).pop(key).tokens

    def move(self, keys: Sequence[str], position: int) -> None:
        """Move a group, its inner order kept, so that ``position`` others stand before it.

        Costs the group and the position, whatever the size of the tier (section 2.5).
        """
        group = [self._half(key).pop(key) for key in keys]
        if position >= len(self):
            self._back.update((entry.key, entry) for entry in group)
            return
        ahead = [self._front.popitem()[1] for _ in range(min(position, len(self._front)))]
        beyond = list(islice(self._back, position - len(ahead)))
        ahead += [self._back.pop(key) for key in beyond]
        for entry in (*reversed(group), *reversed(ahead)):
            self._front[entry.key] = entry

    def _half(self, key: str) -> dict[str, Entry]:
        return self._front if key in self._front else self._back
