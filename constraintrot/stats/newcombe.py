"""Intervals of a paired difference: Newcombe's, and the same idea over clusters."""

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
    """B - a of independent pairs: Newcombe's (1998) method 10.

    Squares and adds the distances of the arms' Wilson limits, with the phi
    coefficient corrected for continuity.

    Args:
        both: pairs that are yes in both arms.
        only_a: yes in a alone.
        only_b: yes in b alone.
        neither: no in both.
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
        a: estimate, lower and upper limit.
        b: the same.
        correlation: of the two estimates.
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
    """Limits of paired differences by the method that each may have.

    Args:
        a: yes in the first arm, shape (..., clusters).
        b: yes in the second.
        sizes: pairs, shape (..., clusters).
        confidence: nominal coverage.
        draw: gives resamples; None: no bootstrap.
        plain: Newcombe's own interval of independent pairs, however few.
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
    # Both clusters that differ, and clusters that do not differ as far as they can.
    differ = np.abs(b - a)
    told = np.minimum(clusters.kish(sizes, differ > 0), clusters.kish(sizes, differ < sizes))
    may = (size >= BOOTSTRAP_CLUSTERS) & (told >= BOOTSTRAP_INFORMATIVE)
    return bootstrapped(
        Limits(low, high, may), np.stack([b - a, sizes], -1), size, confidence, draw
    )


def phi(both: Floats, only_a: Floats, only_b: Floats, neither: Floats) -> Floats:
    """Phi with Newcombe's correction: a positive one is drawn towards 0."""
    n = both + only_a + only_b + neither
    cross = both * neither - only_a * only_b
    cross = np.where(cross > 0, np.maximum(cross - n / 2, 0), cross)
    margins = (both + only_a) * (only_b + neither) * (both + only_b) * (only_a + neither)
    return clusters.quotient(cross, np.sqrt(margins))


def cautious(a: Floats, b: Floats) -> Floats:
    """Correlation of cluster residuals; a positive one is lowered by a standard error.

    Few clusters can agree by chance, and a correlation too high makes the
    interval too narrow, so it is lowered on Fisher's scale; of fewer than five
    clusters a positive one is not believed at all.
    """
    squares = (a**2).sum(-1) * (b**2).sum(-1)
    product = (a * b).sum(-1)
    raw = clusters.quotient(product, np.sqrt(squares))
    error = 1 / np.sqrt(max(a.shape[-1] - 3, 1))
    lowered = np.tanh(np.arctanh(np.clip(raw, -0.999, 0.999)) - error)
    believed = np.maximum(lowered, 0) if a.shape[-1] > 4 else np.zeros_like(lowered)
    return np.where(raw > 0, believed, raw)
