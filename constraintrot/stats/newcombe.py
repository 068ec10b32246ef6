"""Intervals of a paired difference: Newcombe's method 10, and its extension to clusters."""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from constraintrot.stats import clusters
from constraintrot.stats.interval import (
    CONFIDENCE,
    Estimate,
    Floats,
    Interval,
    NoInterval,
    around,
)
from constraintrot.stats.rate import (
    BOOTSTRAP_CLUSTERS,
    BOOTSTRAP_INFORMATIVE,
    Limits,
    Resampler,
    bootstrapped,
)

Finder: TypeAlias = Callable[[Floats, Floats, float], tuple[Floats, Floats]]
"""Limits of k of n at a confidence."""


def pair_limits(
    tables: Floats, confidence: float = CONFIDENCE, find: Finder = clusters.clopper_pearson
) -> tuple[Floats, Floats]:
    """Limits of b - a for independent pairs: Newcombe's (1998) method 10, or wider ones.

    Squares and adds the distances of the arms' limits, with the phi coefficient corrected
    for continuity. Newcombe takes Wilson's limits, which cover too little for few pairs
    (see ``rate.rate``). Where hardly a pair differs, they are narrower than what the pairs
    that differ say, whose limits then count (``of_differing``).

    The last axis of ``tables`` has the counts that ``count_pairs`` gives.
    """
    both, only_a, only_b, neither = (tables[..., at] for at in range(4))
    n = np.asarray(tables.sum(-1))
    arms = [(k / n, *find(k, n, confidence)) for k in (both + only_a, both + only_b)]
    limits = square_and_add(arms[0], arms[1], phi(both, only_a, only_b, neither))
    return wider(limits, of_differing_pairs(tables, confidence, find))


def of_differing_pairs(
    tables: Floats, confidence: float = CONFIDENCE, find: Finder = clusters.clopper_pearson
) -> tuple[Floats, Floats]:
    """``of_differing`` for independent pairs, with tables as ``pair_limits`` takes them."""
    n = np.asarray(tables.sum(-1))
    only_a, only_b = tables[..., 1], tables[..., 2]
    return of_differing(
        (only_a / n, *find(only_a, n, confidence)), (only_b / n, *find(only_b, n, confidence))
    )


def of_differing(
    only_a: tuple[Floats, Floats, Floats], only_b: tuple[Floats, Floats, Floats]
) -> tuple[Floats, Floats]:
    """Limits of b - a from the shares of pairs with outcome 1 in a only, and in b only.

    Each is given by estimate, lower and upper limit. Without a pair that differs, the upper limit
    is that of a share of which nothing was seen; square-and-add of the arms would give a third of
    it, because two arms that agree correlate fully.
    """
    return square_and_add(only_a, only_b, np.zeros(()))


def wider(one: tuple[Floats, Floats], other: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
    return np.minimum(one[0], other[0]), np.maximum(one[1], other[1])


def square_and_add(
    a: tuple[Floats, Floats, Floats], b: tuple[Floats, Floats, Floats], correlation: Floats
) -> tuple[Floats, Floats]:
    """Limits of b - a from estimate, lower and upper limit of both.

    Newcombe 1998; Zou and Donner 2008. ``correlation`` is that of the two estimates.
    """
    (mean_a, low_a, high_a), (mean_b, low_b, high_b) = a, b

    def reach(up: Floats, down: Floats) -> Floats:
        return np.sqrt(np.maximum(up**2 - 2 * correlation * up * down + down**2, 0))

    difference = mean_b - mean_a
    lower = difference - reach(mean_b - low_b, high_a - mean_a)
    upper = difference + reach(high_b - mean_b, mean_a - low_a)
    return np.maximum(lower, -1), np.minimum(upper, 1)


def unpaired(a: Estimate, b: Estimate, method: str) -> Estimate:
    """The difference b - a of two rates of different episodes, from their intervals."""
    n, difference = a.n + b.n, b.estimate - a.estimate
    if not (isinstance(a, Interval) and isinstance(b, Interval)):
        return NoInterval(str(a.reason or b.reason), None, n, difference)
    first, second = (
        (np.asarray(one.estimate), np.asarray(one.lower), np.asarray(one.upper)) for one in (a, b)
    )
    lower, upper = square_and_add(first, second, np.zeros(()))
    return around(difference, float(lower), float(upper), None, n, method)


def difference_limits(
    a: Floats,
    b: Floats,
    sizes: Floats,
    confidence: float = CONFIDENCE,
    draw: Resampler | None = None,
) -> Limits:
    """Limits of paired differences, each by the method that the coverage check chose for it.

    ``draw`` computes a statistic of resamples; None, or clusters of one pair: no bootstrap.
    """
    if (sizes == 1).all():
        low, high = pair_limits(count_pairs(a, b), confidence)
        return Limits(low, high, np.zeros(np.shape(low), bool))
    n = np.asarray(sizes.sum(-1))
    rates = [np.asarray(arm.sum(-1) / n) for arm in (a, b)]
    arms = [
        (x, *clusters.limits(arm, sizes, confidence)) for x, arm in zip(rates, (a, b), strict=True)
    ]
    residuals = [arm - x[..., None] * sizes for arm, x in zip((a, b), rates, strict=True)]
    limits = square_and_add(arms[0], arms[1], cautious(residuals[0], residuals[1], sizes))
    differing = [
        (hits.sum(-1) / n, *clusters.limits(hits, sizes, confidence, alone=True))
        for hits in (np.maximum(a - b, 0), np.maximum(b - a, 0))
    ]
    low, high = wider(limits, of_differing(differing[0], differing[1]))
    size = clusters.kish(sizes)
    # The bootstrap needs clusters in which some pairs differ and clusters in which some do not.
    informative = clusters.informative(np.abs(b - a), sizes)
    may = (size >= BOOTSTRAP_CLUSTERS) & (informative >= BOOTSTRAP_INFORMATIVE)
    return bootstrapped(
        Limits(low, high, may), np.stack([b - a, sizes], -1), size, confidence, draw
    )


def count_pairs(a: Floats, b: Floats) -> Floats:
    """Numbers of pairs with outcome 1 in both, in a only, in b only, in neither; shape (..., 4)."""
    cells = (a * b, a * (1 - b), (1 - a) * b, (1 - a) * (1 - b))
    return np.stack([cell.sum(-1) for cell in cells], -1)


def phi(both: Floats, only_a: Floats, only_b: Floats, neither: Floats) -> Floats:
    """The phi coefficient with Newcombe's continuity correction of positive values."""
    n = both + only_a + only_b + neither
    cross = both * neither - only_a * only_b
    cross = np.where(cross > 0, np.maximum(cross - n / 2, 0), cross)
    margins = (both + only_a) * (only_b + neither) * (both + only_b) * (only_a + neither)
    return clusters.quotient(cross, np.sqrt(margins))


def cautious(a: Floats, b: Floats, sizes: Floats) -> Floats:
    """Correlation of cluster residuals; a positive one is lowered by one standard error.

    Few clusters can correlate by chance, and too high a correlation makes the interval
    too narrow. So it is lowered on Fisher's z scale; with at most four effective clusters a
    positive correlation is taken as 0. If cluster sizes are unequal, a few large ones determine
    it, so it is further multiplied by the effective over the actual number of clusters.
    """
    squares = (a**2).sum(-1) * (b**2).sum(-1)
    product = (a * b).sum(-1)
    return lowered(clusters.quotient(product, np.sqrt(squares)), sizes)


def lowered(raw: Floats, sizes: Floats) -> Floats:
    """Lower a correlation of cluster residuals, as ``cautious`` says; it rises with ``raw``."""
    size = clusters.kish(sizes)
    error = 1 / np.sqrt(np.maximum(size - 3, 1))
    less = np.tanh(np.arctanh(np.clip(raw, -0.999, 0.999)) - error)
    equal = size / (sizes > 0).sum(-1)
    positive = np.where(size > 4, np.maximum(less, 0) * equal, 0.0)
    return np.where(raw > 0, positive, raw)
