"""Bounds of a rate over all values that malformed and missing outcomes could have had."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from constraintrot.errors import ParameterError
from constraintrot.stats.clusters import clopper_pearson, codes_of, group, numbers, quotient
from constraintrot.stats.extremes import Range, difference_upper, pair_upper, rate_upper
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
    unplaced: Mask | None = None,
    confidence: float = CONFIDENCE,
    seed: int = 0,
) -> Bounds:
    """Bound a rate over unknown outcomes; no other values of them give a weaker limit.

    Unknown outcomes are nan. ``unplaced`` masks the episodes that may be none of the rate's.
    """
    values = numbers(outcomes)
    codes = np.arange(len(values)) if labels is None else codes_of(labels)
    maybe = np.zeros(len(values), bool) if unplaced is None else np.asarray(unplaced, bool)
    fills = [np.nan_to_num(values, nan=fill) for fill in (0.0, 1.0)]
    grouped = group([*fills, maybe], codes)
    # Which episodes there are is chosen against the limit too.
    least, most = (
        rate(one[chosen], codes[chosen], confidence=confidence, seed=seed)
        for one, chosen in zip(
            fills, (~maybe | (fills[0] == 0), ~maybe | (fills[1] == 1)), strict=True
        )
    )
    if grouped.single:
        return Bounds(least, most)
    low, high, perhaps, sizes = (*grouped.totals.T, grouped.sizes)
    if maybe.any():
        # Not fewer than these clusters (Kish's number), wherever the episodes belong.
        n = quotient((sizes - perhaps).sum() ** 2, (sizes**2).sum())
        lower, upper = (
            clopper_pearson(np.asarray(one.estimate) * n, n, confidence)[at]
            for at, one in enumerate((least, most))
        )
    elif np.isnan(values).any():
        lower = 1 - rate_upper(Range(sizes - high, sizes - low), sizes, confidence)
        upper = rate_upper(Range(low, high), sizes, confidence)
    else:
        return Bounds(least, most)
    return Bounds(_wider(least, lower=float(lower)), _wider(most, upper=float(upper)))


def _wider(estimate: Estimate, lower: float = 1.0, upper: float = -1.0) -> Estimate:
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

    Scores are 0, 1, or nan if there is none. ``unknown`` masks, by arm, those that do not show the
    outcome, as of silent episodes. The comparison is of the pairs with a score in both arms, with its
    extremes over all pairs; no other unknown outcomes give weaker limits.
    """
    arms = [numbers(a), numbers(b)]
    if len({len(one) for one in (*arms, *unknown, arms[0] if labels is None else labels)}) > 1:
        raise ParameterError("the arms, their masks and labels must hold the same episodes")
    masks = [
        np.isnan(one) | np.asarray(hidden, bool) for one, hidden in zip(arms, unknown, strict=True)
    ]
    clusters = np.arange(len(arms[0])) if labels is None else codes_of(labels)
    chosen = ~(np.isnan(arms[0]) | np.isnan(arms[1]))
    first, second = (one[chosen] for one in arms)
    seen = compare(first, second, clusters[chosen], confidence=confidence, seed=seed)
    if not np.any(np.stack(masks)):
        return seen
    first, second = (np.where(hidden, np.nan, one) for one, hidden in zip(arms, masks, strict=True))
    ends = extremes(first, second, clusters, confidence=confidence, seed=seed)
    return replace(seen, extremes=ends)


def extremes(
    a: Floats, b: Floats, labels: Labels, *, confidence: float = CONFIDENCE, seed: int = 0
) -> tuple[Comparison, Comparison]:
    """Compare two arms with their unknown outcomes filled so that b - a is lowest, and highest.

    The lower limit of the first and the upper one of the second are the weakest of all fillings;
    the p-values are those of their exact tests, which rise from there towards no difference.
    """
    if not np.isnan([a, b]).any():
        known = compare(a, b, labels, confidence=confidence, seed=seed)
        return known, known
    (low_a, high_a), (low_b, high_b) = (
        [np.nan_to_num(one, nan=fill) for fill in (0.0, 1.0)] for one in (a, b)
    )
    lowest, highest = (
        compare(*arms, labels, confidence=confidence, seed=seed)
        for arms in ((high_a, low_b), (low_a, high_b))
    )
    grouped = group([low_a, high_a, low_b, high_b], labels)
    first, second = (Range(grouped.column(at), grouped.column(at + 1)) for at in (0, 2))
    lower, upper = (
        pair_upper(*order, confidence)
        if grouped.single
        else float(difference_upper(*order, grouped.sizes, confidence))
        for order in ((second, first), (first, second))
    )
    return (
        replace(lowest, difference=_wider(lowest.difference, lower=-lower)),
        replace(highest, difference=_wider(highest.difference, upper=upper)),
    )
