"""A rate, k of n, with an interval by the method that the coverage check chose."""

from collections.abc import Callable, Hashable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from constraintrot.errors import ParameterError
from constraintrot.stats import bootstrap, clusters
from constraintrot.stats.interval import (
    CONFIDENCE,
    TOO_FEW,
    Estimate,
    Floats,
    Interval,
    NoInterval,
    around,
)

Labels: TypeAlias = Sequence[Hashable] | npt.NDArray[Any]
Resampler: TypeAlias = Callable[[Floats, bootstrap.Statistic], Floats]

# With fewer effective clusters, in all or with the rarer outcome, the bootstrap is too narrow.
BOOTSTRAP_CLUSTERS = 15
BOOTSTRAP_INFORMATIVE = 20

EXACT = "Clopper-Pearson"
BCA = "cluster bootstrap, BCa"
METHODS = (
    f"Intervals are {100 * CONFIDENCE:.0f} %. A rate with one episode a variant has {EXACT}'s. With"
    f" replicates it has the BCa bootstrap's over variants if there are {BOOTSTRAP_CLUSTERS} effective"
    f" variants, and {BOOTSTRAP_INFORMATIVE} with the rarer outcome, else {EXACT}'s at the effective"
    " number of episodes. A difference has the same, paired: Newcombe's square-and-add of both rates'"
    " limits where the bootstrap is not used, and nothing narrower than the limits of the pairs that"
    " differ."
)
"""The note on intervals for readers."""


class Limits(NamedTuple):
    """Limits of many rates at once, each of shape (...); ``resampled`` masks the bootstrap's."""

    lower: Floats
    upper: Floats
    resampled: npt.NDArray[np.bool_]


def clopper_pearson(k: int, n: int, confidence: float = CONFIDENCE) -> Estimate:
    """Return the rate of k of n independent episodes, with the exact interval.

    Raises:
        ParameterError: k is not between 0 and n.
    """
    if not 0 <= k <= n:
        raise ParameterError(f"{k} of {n} is no rate")
    if n == 0:
        return NoInterval("no episodes")
    limits = clusters.clopper_pearson(np.asarray(k), np.asarray(n), confidence)
    return around(k / n, float(limits[0]), float(limits[1]), k, n, EXACT)


def rate(
    outcomes: npt.ArrayLike,
    labels: Labels | None = None,
    *,
    confidence: float = CONFIDENCE,
    seed: int = 0,
) -> Estimate:
    """Return the share of episodes with outcome 1; every page and decision uses this interval.

    For independent episodes it is Clopper-Pearson's, whatever their number: Wilson's covers
    83 % for n = 6 at a rate of .97, 90 % for n = 27 at .02, and still less than 93 % for
    n = 204. For clusters of several it is the BCa cluster bootstrap if there are at least 15
    effective clusters and at least 20 with the rarer outcome, else Clopper-Pearson at the
    effective sample size.

    Args:
        outcomes: 0 or 1, one per episode.
        labels: cluster of each episode, such as (family, seed); None: episodes are
            independent.
        confidence: nominal coverage.
        seed: seed of the bootstrap.

    Raises:
        ParameterError: an outcome is missing or not 0 or 1, or lengths differ.
    """
    values = clusters.numbers(outcomes)
    grouped = clusters.group([values], labels)
    clusters.binary(values)
    k, n = int(values.sum()), len(values)
    if n == 0 or grouped.single:
        return clopper_pearson(k, n, confidence)
    return _clustered(grouped.column(0).tobytes(), grouped.sizes.tobytes(), confidence, seed)


# The same cell is in many tables, and its resamples take longest.
@lru_cache(maxsize=1024)
def _clustered(column: bytes, per_cluster: bytes, confidence: float, seed: int) -> Estimate:
    hits, sizes = np.frombuffer(column), np.frombuffer(per_cluster)
    k, n = int(hits.sum()), int(sizes.sum())
    size = float(clusters.kish(sizes))
    if size < 2:
        return NoInterval(TOO_FEW, k, n, k / n)
    limits = rate_limits(hits, sizes, confidence, drawer(seed))
    name = BCA if limits.resampled else fallback(size)
    return around(k / n, float(limits.lower), float(limits.upper), k, n, name)


def fallback(size: float) -> str:
    """Name the method that is used when there are too few clusters, with the reason."""
    why = f"{size:.0f} clusters" if size < BOOTSTRAP_CLUSTERS else "the clusters differ too little"
    return f"Clopper-Pearson at effective n (Korn-Graubard, t-based; no bootstrap: {why})"


def drawer(seed: int) -> Resampler:
    """Return a resampler of one cell's clusters, for ``rate_limits`` and ``difference_limits``."""

    def draw(totals: Floats, statistic: bootstrap.Statistic) -> Floats:
        return bootstrap.resample(totals, statistic, bootstrap.RESAMPLES, seed)

    return draw


def ratio(sums: Floats) -> Floats:
    return np.asarray(sums[..., 0] / sums[..., 1])


def rate_limits(
    hits: Floats, sizes: Floats, confidence: float = CONFIDENCE, draw: Resampler | None = None
) -> Limits:
    """Limits of clustered rates, each by the method that the coverage check chose."""
    lower, upper = clusters.limits(hits, sizes, confidence, alone=True)
    size = clusters.kish(sizes)
    may = (size >= BOOTSTRAP_CLUSTERS) & (
        clusters.informative(hits, sizes) >= BOOTSTRAP_INFORMATIVE
    )
    return bootstrapped(
        Limits(lower, upper, may), np.stack([hits, sizes], -1), size, confidence, draw
    )


def bootstrapped(
    limits: Limits,
    totals: Floats,
    size: Floats,
    confidence: float,
    draw: Resampler | None,
) -> Limits:
    """Replace the limits by the bootstrap's of ``ratio`` where ``limits.resampled`` is true.

    A cell whose resamples are all alike keeps its limits. ``totals`` has numerators and sizes,
    shape (..., clusters, 2).
    """
    if draw is None or not limits.resampled.any():
        return limits._replace(resampled=np.zeros_like(limits.resampled))
    low, high = bootstrap.bca(
        draw(totals, ratio),
        ratio(totals.sum(-2)),
        bootstrap.jackknife(totals, ratio),
        confidence,
        size,
    )
    # If all clusters have one rate, all resamples have it too, which is not certainty.
    may = limits.resampled & (low < high)
    return Limits(np.where(may, low, limits.lower), np.where(may, high, limits.upper), may)


def shown(estimate: Estimate) -> str:
    """Return ``16/27 = 59 % [39, 78] (Clopper-Pearson)``, or the reason for no interval."""
    return f"{estimate} ({estimate.method})" if isinstance(estimate, Interval) else str(estimate)
