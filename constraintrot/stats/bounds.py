"""Bounds of a rate over all values that malformed and missing outcomes could have had."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from constraintrot.errors import ParameterError
from constraintrot.stats.clusters import codes_of, group, numbers
from constraintrot.stats.extremes import Range, difference_upper, rate_upper
from constraintrot.stats.interval import CONFIDENCE, Estimate, Floats, Interval
from constraintrot.stats.paired import Comparison, compare
from constraintrot.stats.rate import Labels, rate

Mask: TypeAlias = Sequence[bool] | npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Bounds:
    """A rate with all unknown outcomes as 0 (``none``) and as 1 (``all``) (Manski 1990)."""

    none: Estimate
    all: Estimate


def bounds(
    outcomes: npt.ArrayLike,
    labels: Labels | None = None,
    *,
    confidence: float = CONFIDENCE,
    seed: int = 0,
) -> Bounds:
    """Bound a rate over unknown outcomes; no other values of them give a weaker limit.

    Args:
        outcomes: 0, 1, or nan if unknown, one per episode.
        labels: cluster of each episode; None: every episode is its own cluster.
        confidence: nominal coverage of both rates' intervals.
        seed: seed of the bootstrap.
    """
    values = numbers(outcomes)
    fills = [np.nan_to_num(values, nan=fill) for fill in (0.0, 1.0)]
    least, most = (rate(one, labels, confidence=confidence, seed=seed) for one in fills)
    grouped = group(fills, labels)
    if np.isnan(values).any() and not grouped.single:
        low, high, sizes = grouped.column(0), grouped.column(1), grouped.sizes
        missed = rate_upper(Range(sizes - high, sizes - low), sizes, confidence)
        least = _wider(least, lower=1 - float(missed))
        most = _wider(most, upper=float(rate_upper(Range(low, high), sizes, confidence)))
    return Bounds(least, most)


def _wider(estimate: Estimate, lower: float = 1.0, upper: float = -1.0) -> Estimate:
    """Return an interval with limits at least so far out."""
    if not isinstance(estimate, Interval):
        return estimate
    if estimate.lower <= lower and upper <= estimate.upper:
        return estimate
    method = f"{estimate.method}; widened to any values of the unknown"
    limits = min(estimate.lower, lower), max(estimate.upper, upper)
    return replace(estimate, lower=limits[0], upper=limits[1], method=method)


def compare_unknown(
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    labels: Labels | None = None,
    *,
    unknown: tuple[Mask, Mask],
    confidence: float = CONFIDENCE,
    seed: int = 0,
) -> Comparison:
    """Compare two arms on paired episodes of which some outcomes are unknown.

    Args:
        a: scores of the first arm: 0, 1, or nan if there is none, one per episode.
        b: scores of the same episodes in the second arm.
        labels: cluster of each pair; None: pairs are independent.
        unknown: by arm, a mask of the scores that do not show the outcome, as those of silent
            episodes; one that is nan never does.
        confidence: nominal coverage.
        seed: seed of the bootstrap.

    Returns:
        The comparison of the pairs that have a score in both arms, with its extremes over all
        pairs; no other values of the unknown outcomes give weaker limits.

    Raises:
        ParameterError: as ``compare``.
    """
    arms = [numbers(a), numbers(b)]
    if len({len(one) for one in (*arms, *unknown, arms[0] if labels is None else labels)}) > 1:
        raise ParameterError("the arms, their masks and labels must hold the same episodes")
    masks = [
        np.isnan(one) | np.asarray(hidden, bool) for one, hidden in zip(arms, unknown, strict=True)
    ]
    clusters = np.arange(len(arms[0])) if labels is None else codes_of(labels)

    def compared(chosen: npt.NDArray[np.bool_], *filled: Floats) -> Comparison:
        first, second = (one[chosen] for one in filled)
        return compare(first, second, clusters[chosen], confidence=confidence, seed=seed)

    seen = compared(~(np.isnan(arms[0]) | np.isnan(arms[1])), *arms)
    if not np.any(np.stack(masks)):
        return seen
    (low_a, high_a), (low_b, high_b) = (
        [np.where(hidden, fill, one) for fill in (0.0, 1.0)]
        for one, hidden in zip(arms, masks, strict=True)
    )
    everything = np.ones(len(clusters), bool)
    lowest, highest = compared(everything, high_a, low_b), compared(everything, low_a, high_b)
    grouped = group([low_a, high_a, low_b, high_b], clusters)
    if not grouped.single:
        first, second = (Range(grouped.column(at), grouped.column(at + 1)) for at in (0, 2))
        lower, upper = (
            float(difference_upper(*order, grouped.sizes, confidence))
            for order in ((second, first), (first, second))
        )
        lowest = replace(lowest, difference=_wider(lowest.difference, lower=-lower))
        highest = replace(highest, difference=_wider(highest.difference, upper=upper))
    return replace(seen, extremes=(lowest, highest))
