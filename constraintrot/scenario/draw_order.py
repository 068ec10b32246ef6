"""The order in which seeds go through all combinations of a scenario's pools."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence, Set
from functools import lru_cache
from typing import TypeAlias

from constraintrot.scenario.template import Value

Pools: TypeAlias = Mapping[str, Sequence[Mapping[str, Value]]]


def variants(pools: Pools) -> int:
    """The number of combinations."""
    return math.prod(len(entries) for entries in pools.values())


@lru_cache
def stride(count: int) -> int:
    """The step between the combinations of neighbouring seeds.

    Coprime to the count, it walks through all combinations once, and near the
    golden ratio it moves every pool between neighbours.
    """
    step = max(1, round(count * 0.618034))
    while math.gcd(step, count) != 1:
        step += 1
    return step


def entries(pools: Pools, seed: int) -> dict[str, int]:
    """By pool, which of its entries a seed has."""
    count = variants(pools)
    index = seed * stride(count) % count
    drawn: dict[str, int] = {}
    for name, pool in pools.items():
        index, drawn[name] = divmod(index, len(pool))
    return drawn


def earlier(pools: Pools, wanted: Set[str], seed: int) -> list[int]:
    """The lower seeds that draw the same entries from all pools that give a wanted value."""
    telling = [name for name, pool in pools.items() if wanted & set(pool[0])]
    mine = entries(pools, seed)

    def same(other: dict[str, int]) -> bool:
        return all(other[name] == mine[name] for name in telling)

    return [other for other in range(seed) if same(entries(pools, other))]
