"""Intervals of a paired difference: Newcombe's method 10, and its extension to clusters."""

from __future__ import annotations

import numpy as np

from constraintrot.stats import clusters
from constraintrot.stats.interval import CONFIDENCE, Estimate, Floats, NoInterval, around
from constraintrot.stats.rate import (
    BOOTSTRAP_CLUSTERS,
    BOOTSTRAP_INFORMATIVE,
    WILSON_FROM,
    Limits,
    Resampler,
    bootstrapped,
)


def newcombe(
    both: int, only_a: int, only_b: int, neither: int, confidence: float = CONFIDENCE
) -> Estimate:
    """The interval of b - a for independent pairs: Newcombe's (1998) method 10.

    Squares and adds the distances of the arms' Wilson limits, with the phi
    coefficient corrected for continuity.

    Args:
        both: number of pairs with outcome 1 in both arms.
        only_a: number of pairs with outcome 1 in a only.
        only_b: number of pairs with outcome 1 in b only.
        neither: number of pairs with outcome 0 in both arms.
        confidence: nominal coverage.
    """
    n = both + only_a + only_b + neither
    if n == 0:
        return NoInterval("no pairs")
    k = np.asarray([both + only_a, both + only_b], np.float64)
    lower, upper = clusters.wilson(k, np.asarray(n, np.float64), confidence)
    correlation = phi(*(np.asarray(x, np.float64) for x in (both, only_a, only_b, neither)))
    low, high = square_and_add(
        (k[0] / n, lower[0], upper[0]), (k[1] / n, lower[1], upper[1]), correlation
    )
    name = "Newcombe paired, square-and-add of Wilson"
    return around((only_b - only_a) / n, float(low), float(high), only_b - only_a, n, name)


def square_and_add(
    a: tuple[Floats, Floats, Floats], b: tuple[Floats, Floats, Floats], correlation: Floats
) -> tuple[Floats, Floats]:
    """Limits of b - a from those of a and b (Newcombe 1998; Zou and Donner 2008).

    Args:
        a: estimate, lower limit and upper limit of the first arm.
        b: estimate, lower limit and upper limit of the second arm.
        correlation: correlation of the two estimates.

    Returns:
        Lower and upper limit, within -1 and 1.
    """
    (mean_a, low_a, high_a), (mean_b, low_b, high_b) = a, b

    def reach(up: Floats, down: Floats) -> Floats:
        return np.sqrt(np.maximum(up**2 - 2 * correlation * up * down + down**2, 0))

    difference = mean_b - mean_a
    lower = difference - reach(mean_b - low_b, high_a - mean_a)
    upper = difference + reach(high_b - mean_b, mean_a - low_a)
    return np.maximum(lower, -1), np.minimum(upper, 1)


def difference_limits(
    a: Floats,
    b: Floats,
    sizes: Floats,
    confidence: float = CONFIDENCE,
    draw: Resampler | None = None,
    plain: bool = False,
) -> Limits:
    """Limits of paired differences, each by the method that the coverage check chose for it.

    Args:
        a: outcomes 1 in the first arm per cluster, shape (..., clusters).
        b: outcomes 1 in the second arm per cluster, shape (..., clusters).
        sizes: pairs per cluster, shape (..., clusters).
        confidence: nominal coverage.
        draw: computes a statistic of resamples; None: no bootstrap.
        plain: for single-pair clusters, use Newcombe's interval however few they are.

    Returns:
        Limits of shape (...).
    """
    n = sizes.sum(-1)
    rates = [arm.sum(-1) / n for arm in (a, b)]
    if (sizes == 1).all():
        wilson = plain or sizes.shape[-1] >= WILSON_FROM
        find = clusters.wilson if wilson else clusters.clopper_pearson
        arms = [find(arm.sum(-1), n, confidence) for arm in (a, b)]
        both, no_a, no_b = a * b, 1 - a, 1 - b
        correlation = phi(*((x).sum(-1) for x in (both, a * no_b, no_a * b, no_a * no_b)))
    else:
        arms = [clusters.limits(arm, sizes, confidence) for arm in (a, b)]
        correlation = cautious(
            *(arm - x[..., None] * sizes for arm, x in zip((a, b), rates, strict=True))
        )
    low, high = square_and_add((rates[0], *arms[0]), (rates[1], *arms[1]), correlation)
    size = clusters.kish(sizes)
    # The bootstrap needs clusters in which some pairs differ and clusters in which some do not.
    differ = np.abs(b - a)
    informative = np.minimum(clusters.kish(sizes, differ > 0), clusters.kish(sizes, differ < sizes))
    may = (size >= BOOTSTRAP_CLUSTERS) & (informative >= BOOTSTRAP_INFORMATIVE)
    return bootstrapped(
        Limits(low, high, may), np.stack([b - a, sizes], -1), size, confidence, draw
    )


def phi(both: Floats, only_a: Floats, only_b: Floats, neither: Floats) -> Floats:
    """The phi coefficient with Newcombe's continuity correction of positive values."""
    n = both + only_a + only_b + neither
    cross = both * neither - only_a * only_b
    cross = np.where(cross > 0, np.maximum(cross - n / 2, 0), cross)
    margins = (both + only_a) * (only_b + neither) * (both + only_b) * (only_a + neither)
    return clusters.quotient(cross, np.sqrt(margins))


def cautious(a: Floats, b: Floats) -> Floats:
    """Correlation of cluster residuals; a positive one is lowered by one standard error.

    Few clusters can correlate by chance, and too high a correlation makes the interval
    too narrow. So it is lowered on Fisher's z scale; with fewer than five clusters a
    positive correlation is taken as 0.

    Args:
        a: residuals of the first arm, shape (..., clusters).
        b: residuals of the second arm, shape (..., clusters).
    """
    squares = (a**2).sum(-1) * (b**2).sum(-1)
    product = (a * b).sum(-1)
    raw = clusters.quotient(product, np.sqrt(squares))
    error = 1 / np.sqrt(max(a.shape[-1] - 3, 1))
    lowered = np.tanh(np.arctanh(np.clip(raw, -0.999, 0.999)) - error)
    positive = np.maximum(lowered, 0) if a.shape[-1] > 4 else np.zeros_like(lowered)
    return np.where(raw > 0, positive, raw)
