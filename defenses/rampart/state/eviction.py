"""Replaceable scorers that choose the block to evict first.

The default of section 2.5 weighs priority and inverse access count, and the
recency of accesses, which the paper names as the most obvious next step.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from constraintrot.defenses.rampart.block import Block
from constraintrot.defenses.rampart.errors import RegistryError

Scorer: TypeAlias = Callable[[Block], float]
"""A block's worth; the lowest is evicted first, ``math.inf`` never."""


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
        """The worth of a block."""
        return (
            self.priority * block.priority / 100
            + self.access * (1 - 1 / (1 + block.accesses))
            + self.recency / (1 + block.idle)
        )


default_scorer = WeightedScorer()


def lowest(blocks: Sequence[Block], scorer: Scorer) -> list[Block]:
    """Blocks from the least worth on, the earlier first among equals, without the infinite.

    Raises:
        RegistryError: a score is not a number.
    """
    scored: list[tuple[float, int]] = []
    for at, block in enumerate(blocks):
        score = float(scorer(block))
        if math.isnan(score):
            raise RegistryError(f"the scorer gives block {block.name!r} no number (nan)")
        if score != math.inf:
            scored.append((score, at))
    return [blocks[at] for _, at in sorted(scored)]
