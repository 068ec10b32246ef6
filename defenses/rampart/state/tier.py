"""The order of blocks within one tier."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from constraintrot.defenses.rampart.state.records import Entry


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

    def rename(self, key: str, entry: Entry) -> None:
        """Put an entry of another key in the place of one; costs the size of the tier."""
        half = self._half(key)
        self.tokens += entry.tokens - half[key].tokens
        kept = [(entry.key, entry) if at == key else (at, one) for at, one in half.items()]
        half.clear()
        half.update(kept)

    def remove(self, key: str) -> None:
        """Take an entry out."""
        self.tokens -= self._half(key).pop(key).tokens

    def to_front(self, key: str) -> None:
        """Move one to the beginning."""
        front = self._front
        front[key] = (front if key in front else self._back).pop(key)

    def move(self, keys: Sequence[str], position: int) -> None:
        """Move a group, its inner order kept, so that ``position`` others come before it.

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
