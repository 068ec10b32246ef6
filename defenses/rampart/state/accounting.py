"""The number and the last time of each block's compiles.

Counting a compile must not cost a step for each block. So a compile touches the smaller
side, the blocks held or left out; in the latter case one number counts for all others. A
compile repeated without any change adds to another number, which is spread out on reading.

The scorers of evictions read these counts: the default of section 2.5 weighs priority, inverse
access count, and the recency of accesses.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from constraintrot.defenses.rampart.block import Block
from constraintrot.defenses.rampart.errors import RegistryError
from constraintrot.defenses.rampart.state.record_factory import Entry, Record


class Accesses:
    """The count of compiles and, through each ``Record``, its accesses."""

    def __init__(self, records: Mapping[str, Record], compiles: int = 0) -> None:
        self.compiles = compiles
        self._records = records
        self._general = 0  # compiles that all but the blocks touched were part of
        self._last_general = 0
        self._touched: list[Record] = []
        self._touched_were_in = True
        self._repeats = 0

    def join(self, record: Record) -> None:
        """Begin counting for a new block."""
        self.settle()
        record.joined, record.born = self._general, self.compiles

    def compiled(self, held: Sequence[Entry], left: Sequence[Entry], *, current: bool) -> None:
        """Count one compile.

        Args:
            held: the blocks that were part of it.
            left: the blocks that were left out.
            current: whether these two are all present blocks.
        """
        if self._repeats:
            self.settle()
        self._touched_were_in = not current or len(held) <= len(left)
        touched = held if self._touched_were_in else left
        self._touched = []
        if touched:
            records = ((self._records.get(e.key), e) for e in touched)
            self._touched = [r for r, e in records if r is not None and r.entry.id == e.id]
        self._repeats = 1
        self.compiles += 1
        self.settle()

    def repeated(self) -> None:
        """Count the last compile once more; constant time."""
        self._repeats += 1
        self.compiles += 1

    def settle(self) -> None:
        """Spread out the counts; must be called before a block is added."""
        times, self._repeats = self._repeats, 0
        if not times:
            return
        if self._touched_were_in:
            for record in self._touched:
                record.extra += times
                record.last = self.compiles
            return
        for record in self._touched:
            record.last = self._last(record)
            record.extra -= times
            record.skipped = self.compiles
        self._general += times
        self._last_general = self.compiles

    def of(self, record: Record) -> tuple[int, int | None, int]:
        """Return a block's accesses, the last one, and the compiles since then or its writing."""
        if self._repeats:
            self.settle()
        last = self._last(record)
        since = self.compiles - (record.born if last is None else last)
        return record.extra + self._general - record.joined, last, since

    def _last(self, record: Record) -> int | None:
        general = self._last_general
        if general <= record.born or general == record.skipped:
            return record.last
        return general if record.last is None else max(general, record.last)


Scorer: TypeAlias = Callable[[Block], float]
"""The worth of a block; the lowest is evicted first, ``math.inf`` never."""


@dataclass(frozen=True, slots=True)
class WeightedScorer:
    """A weighted sum of three terms, each from 0 to 1.

    Attributes:
        priority: weight of the priority / 100.
        access: weight of 1 - 1 / (1 + accesses).
        recency: weight of 1 / (1 + idle), where idle counts compiles.
    """

    priority: float = 0.5
    access: float = 0.3
    recency: float = 0.2

    def __call__(self, block: Block) -> float:
        """Return the worth of a block."""
        return (
            self.priority * block.priority / 100
            + self.access * (1 - 1 / (1 + block.accesses))
            + self.recency / (1 + block.idle)
        )


default_scorer = WeightedScorer()


def lowest(blocks: Sequence[Block], scorer: Scorer) -> list[Block]:
    """Return the blocks of finite worth, the lowest first and ties in order."""
    scored: list[tuple[float, int]] = []
    for at, block in enumerate(blocks):
        score = float(scorer(block))
        if math.isnan(score):
            raise RegistryError(f"the scorer gives block {block.name!r} no number (nan)")
        if score != math.inf:
            scored.append((score, at))
    return [blocks[at] for _, at in sorted(scored)]
