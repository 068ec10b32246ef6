"""Simulated outcomes with known rates in correlated clusters, for the coverage check."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

from constraintrot.stats import bootstrap
from constraintrot.stats.interval import CONFIDENCE, Floats
from constraintrot.stats.rate import Resampler

RATES = (0.0, 0.02, 0.3, 0.97)
PAIRS = ((0.0, 0.0), (0.02, 0.02), (0.3, 0.02), (0.3, 0.3), (0.97, 0.3), (0.97, 0.97))
"""True rates of the two arms of a comparison."""
EFFECTS = ((0.0, 0.0, 0.6), (0.0, 0.15, 0.6), (0.02, 0.3, 0.6), (0.5, 0.1, 0.9))
"""True rates of control, summary_restored and compaction."""
RATERS = ((0.5, 0.0), (0.5, 0.02), (0.5, 0.2), (0.2, 0.05), (0.05, 0.05))
"""Share of the rarer category, and share of the units that two raters see differently."""
CLUSTERS = (1, 2, 5, 9, 30)
CORRELATIONS = (0.0, 0.3, 0.7, 1.0)
SIZES: dict[str, tuple[int, ...]] = {
    "1": (1,),
    "3": (3,),
    "10": (10,),
    "1 to 20": (1, 2, 5, 10, 20),
}
"""By name, the episodes per cluster; a pattern is repeated over the clusters."""
UNEVEN: dict[str, tuple[int, ...]] = {
    "27 x 1, 3 x 40": (1,) * 27 + (40,) * 3,
    "20 x 3, 3 x 30": (3,) * 20 + (30,) * 3,
    "100 x 1, 5 x 20": (1,) * 100 + (20,) * 5,
}
"""By name, the episodes per cluster where a few clusters are large; used as they are."""
SINGLE = (6, 27, 100, 204)
"""Further numbers of clusters of one episode: there Wilson's interval covers too little."""
BETWEEN_ARMS = 0.7


@dataclass(frozen=True)
class Cell:
    """One setting of the simulation.

    Attributes:
        rates: true rate of each arm.
        clusters: number of clusters.
        size: name of the cluster sizes, a key of ``SIZES`` or ``UNEVEN``.
        correlation: intra-cluster correlation.
    """

    rates: tuple[float, ...]
    clusters: int
    size: str
    correlation: float

    @property
    def sizes(self) -> Floats:
        """Episodes per cluster, shape (clusters,)."""
        return np.resize(np.asarray((SIZES | UNEVEN)[self.size], np.float64), self.clusters)


def grid(arms: Iterable[tuple[float, ...]]) -> Iterator[Cell]:
    """All cells for some rates; clusters of one episode have no intra-cluster correlation."""
    even = list(itertools.product(CLUSTERS, SIZES))
    uneven = [(len(sizes), name) for name, sizes in UNEVEN.items()]
    for rates in arms:
        for (count, size), correlation in itertools.product([*even, *uneven], CORRELATIONS):
            if size != "1" or correlation == 0:
                yield Cell(rates, count, size, correlation)
        for count in SINGLE if "1" in SIZES else ():
            yield Cell(rates, count, "1", 0.0)


def simulate(cell: Cell, simulations: int, rng: np.random.Generator) -> list[Floats]:
    """Simulated outcomes 1 per cluster, for each arm of shape (simulations, clusters)."""
    shape = (simulations, cell.clusters)
    return [
        rng.binomial(cell.sizes.astype(int), chance).astype(np.float64)
        for chance in chances(cell.rates, cell.correlation, shape, rng)
    ]


def two_raters(cell: Cell, simulations: int, rng: np.random.Generator) -> tuple[Floats, float]:
    """Two raters' ratings 0 or 1 of the same units, and their true agreement beyond chance.

    A cluster has its own share of ones and its own share of disagreement; where the raters
    disagree, either may have said 1.

    Args:
        cell: whose rates are the share of ones where they agree, and that of disagreement.
        simulations: number of simulations.
        rng: source of randomness.

    Returns:
        Units of a cluster that both, only the first, only the second, and neither called 1,
        shape (simulations, clusters, 4); and the true kappa, which is also the true alpha.
    """
    ones, apart = cell.rates
    shape = (simulations, cell.clusters)
    # Drawn each for itself, so that the marginal rates are known.
    (of_ones,) = chances((ones,), cell.correlation, shape, rng)
    (of_apart,) = chances((apart,), cell.correlation, shape, rng)
    differ = rng.binomial(cell.sizes.astype(int), of_apart)
    first = rng.binomial(differ, 0.5)
    both = rng.binomial(cell.sizes.astype(int) - differ, of_ones)
    neither = cell.sizes.astype(int) - differ - both
    table = np.stack([both, first, differ - first, neither], -1).astype(np.float64)
    said = ones * (1 - apart) + apart / 2
    return table, 1 - apart / (2 * said * (1 - said))


def chances(
    rates: Sequence[float], correlation: float, shape: tuple[int, int], rng: np.random.Generator
) -> Iterator[Floats]:
    """Each cluster's own rate in each arm, beta-distributed, with a Gaussian copula between arms.

    Args:
        rates: true rate of each arm.
        correlation: intra-cluster correlation.
        shape: (simulations, clusters).
        rng: source of randomness.
    """
    common = rng.standard_normal(shape)
    for rate in rates:
        independent = rng.standard_normal(shape)
        if correlation and 0 < rate < 1:
            mixed: Floats = BETWEEN_ARMS**0.5 * common + (1 - BETWEEN_ARMS) ** 0.5 * independent
            yield _chances(rate, correlation, special.ndtr(mixed))
        else:
            yield np.full(shape, rate)


def _chances(rate: float, correlation: float, quantile: Floats) -> Floats:
    """Quantiles of the beta distribution of a cluster's rate; at a correlation of 1 it is 0 or 1."""
    if correlation == 1:
        return (quantile > 1 - rate).astype(np.float64)
    strength = 1 / correlation - 1
    return np.asarray(special.betaincinv(rate * strength, (1 - rate) * strength, quantile))


def resampler(count: int, resamples: int, rng: np.random.Generator) -> Resampler:
    """A resampler that all simulations of a cell share, to save time.

    The distribution of each simulation's resamples is the same as with separate draws.

    Args:
        count: number of clusters.
        resamples: number of resamples.
        rng: source of randomness.
    """
    weights = rng.multinomial(count, np.full(count, 1 / count), resamples).astype(np.float64)

    def draw(totals: Floats, statistic: bootstrap.Statistic) -> Floats:
        return statistic(np.tensordot(weights, totals, axes=(1, -2)))

    return draw


def wilson(k: Floats, n: Floats, confidence: float = CONFIDENCE) -> tuple[Floats, Floats]:
    """Wilson's score limits of k of n, which the report does not print (see ``stats.rate.rate``)."""
    k, n = np.asarray(k, np.float64), np.asarray(n, np.float64)
    z = float(special.ndtri((1 + confidence) / 2))
    centre = (k + z**2 / 2) / (n + z**2)
    half = z / (n + z**2) * np.sqrt(k * (n - k) / n + z**2 / 4)
    # Rounding errors leave the limits at k = 0 and k = n an ulp off 0 and 1.
    return np.where(k == 0, 0.0, centre - half), np.where(k == n, 1.0, centre + half)
