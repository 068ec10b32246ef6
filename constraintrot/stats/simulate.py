"""Outcomes of known rates in correlated clusters, for the coverage check."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy import special

from constraintrot.stats import bootstrap
from constraintrot.stats.interval import Floats
from constraintrot.stats.rate import Resampler

RATES = (0.0, 0.02, 0.3, 0.97)
PAIRS = ((0.0, 0.0), (0.02, 0.02), (0.3, 0.02), (0.3, 0.3), (0.97, 0.3), (0.97, 0.97))
"""Rates of the two arms."""
EFFECTS = ((0.0, 0.0, 0.6), (0.0, 0.15, 0.6), (0.02, 0.3, 0.6))
"""Rates of control, restored and compaction."""
CLUSTERS = (1, 2, 5, 9, 30)
CORRELATIONS = (0.0, 0.3)
SIZES: dict[str, tuple[int, ...]] = {
    "1": (1,),
    "3": (3,),
    "10": (10,),
    "1 to 20": (1, 2, 5, 10, 20),
}
"""Episodes of the clusters in turn."""
BETWEEN_ARMS = 0.7


@dataclass(frozen=True)
class Cell:
    """What is simulated.

    Attributes:
        rates: true rate of each arm.
        clusters: how many.
        size: name of their sizes.
        correlation: within clusters.
    """

    rates: tuple[float, ...]
    clusters: int
    size: str
    correlation: float

    @property
    def sizes(self) -> Floats:
        """Episodes by cluster, shape (clusters,)."""
        return np.resize(np.asarray(SIZES[self.size], np.float64), self.clusters)


def grid(arms: Iterable[tuple[float, ...]]) -> Iterator[Cell]:
    """All cells; single episodes have no correlation within clusters."""
    for rates, count, size, correlation in itertools.product(arms, CLUSTERS, SIZES, CORRELATIONS):
        if size != "1" or correlation == 0:
            yield Cell(rates, count, size, correlation)


def simulate(cell: Cell, simulations: int, rng: np.random.Generator) -> list[Floats]:
    """Hits of each arm, shape (simulations, clusters)."""
    shape = (simulations, cell.clusters)
    common = rng.standard_normal(shape)
    arms: list[Floats] = []
    for rate in cell.rates:
        own = rng.standard_normal(shape)
        chance: Floats = np.full(shape, rate)
        if cell.correlation and 0 < rate < 1:
            strength = 1 / cell.correlation - 1
            mixed: Floats = BETWEEN_ARMS**0.5 * common + (1 - BETWEEN_ARMS) ** 0.5 * own
            chance = special.betaincinv(rate * strength, (1 - rate) * strength, special.ndtr(mixed))
        arms.append(rng.binomial(cell.sizes.astype(int), chance).astype(np.float64))
    return arms


def resampler(count: int, resamples: int, rng: np.random.Generator) -> Resampler:
    """Resampling that all simulations of a cell share, which leaves each one's law as it is."""
    weights = rng.multinomial(count, np.full(count, 1 / count), resamples).astype(np.float64)

    def draw(totals: Floats, statistic: bootstrap.Statistic) -> Floats:
        return statistic(np.tensordot(weights, totals, axes=(1, -2)))

    return draw
