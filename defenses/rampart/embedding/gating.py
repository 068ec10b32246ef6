"""The relevance gate: which unpinned blocks a query lets in.

A gate is any callable of the query and the blocks. ``CosineGate``, the default, is
recognised by the registry and scored on its kept matrix instead.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from constraintrot.defenses.rampart.block import Block
from constraintrot.defenses.rampart.errors import RegistryError


@dataclass(frozen=True, slots=True)
class CosineGate:
    """Lets in blocks whose embedding is close to the query's.

    Attributes:
        least: cosine from which on a block is let in, -1 to 1.
        most: how many at most, the closest first; None for any number.
    """

    least: float = 0.25
    most: int | None = None

    def __post_init__(self) -> None:
        if not -1 <= self.least <= 1 or (self.most is not None and self.most < 0):
            raise RegistryError(
                f"a cosine gate takes least from -1 to 1 and most from 0; got {self}"
            )

    def admitted(self, scores: Sequence[float]) -> list[bool]:
        """One verdict a block; what has no score yet (nan) is let in.

        Args:
            scores: cosines in registry order.
        """
        passed = [not score < self.least for score in scores]
        if self.most is not None and sum(passed) > self.most:
            # Stable, so that among equals the earlier block is let in.
            ranked = sorted((at for at, ok in enumerate(passed) if ok), key=lambda at: -scores[at])
            kept = set(ranked[: self.most])
            passed = [at in kept for at in range(len(scores))]
        return passed


Gate: TypeAlias = Callable[[str, Sequence[Block]], Sequence[bool]] | CosineGate
"""From a query and the unpinned blocks to one verdict a block."""
