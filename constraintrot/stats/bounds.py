"""Bounds of a rate over all values that malformed and missing outcomes could have had.

The effective number of episodes and the arms' correlation are estimated from the outcomes. So
the limit with every unknown outcome counted against a claim need not be the weakest: one that
is counted for it can make replicates disagree less, and the interval wider. Here each of these
estimates is bounded over all fillings. With one episode a cluster only the correlation is
estimated, and ``pair_upper`` tries all fillings.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from constraintrot.errors import ParameterError
from constraintrot.stats import clusters, newcombe
from constraintrot.stats.interval import CONFIDENCE, Estimate, Floats, Interval
from constraintrot.stats.paired import Comparison, compare
from constraintrot.stats.rate import Labels, rate


class Range(NamedTuple):
    """The outcomes 1 per cluster of an arm, every unknown one as 0 (``low``) and as 1 (``high``)."""

    low: Floats
    high: Floats


def rate_upper(of: Range, sizes: Floats, confidence: float = CONFIDENCE) -> Floats:
    """Return the highest upper limit of a rate, shape (...)."""
    n = clusters.least_effective_n(*of, sizes, confidence, alone=True)
    return clusters.clopper_pearson(of.high.sum(-1) / sizes.sum(-1) * n, n, confidence)[1]


def difference_upper(a: Range, b: Range, sizes: Floats, confidence: float = CONFIDENCE) -> Floats:
    """Return the highest upper limit of the paired difference b - a, shape (...).

    Square-and-add's limit rises with b and its upper limit, and falls with a, its lower limit
    and the correlation, but for one case: with a positive correlation the distance of one limit
    alone may be more than both together.
    """
    n = sizes.sum(-1)
    n_a, n_b = (clusters.least_effective_n(*one, sizes, confidence) for one in (a, b))
    lowest, highest = a.low.sum(-1) / n, b.high.sum(-1) / n
    down = lowest - clusters.clopper_pearson(lowest * n_a, n_a, confidence)[0]
    up = clusters.clopper_pearson(highest * n_b, n_b, confidence)[1] - highest
    correlation = newcombe.lowered(_least_correlation(a, b, sizes), sizes)
    both = np.sqrt(np.maximum(up**2 - 2 * correlation * up * down + down**2, 0))
    reach = np.maximum(both, np.maximum(up, down))
    differing = _differing_upper(a, b, sizes, confidence)
    return np.asarray(np.minimum(np.maximum(highest - lowest + reach, differing), 1))


def _differing_upper(a: Range, b: Range, sizes: Floats, confidence: float) -> Floats:
    """Return the highest upper limit of ``newcombe.of_differing``.

    It rises with the share that has outcome 1 in b only, and falls with that in a only.
    """
    only_b = Range(np.maximum(b.low - a.high, 0), np.maximum(b.high - a.low, 0))
    only_a = Range(np.maximum(a.low - b.high, 0), np.maximum(a.high - b.low, 0))
    arms = []
    for of, hits in ((only_a, only_a.low), (only_b, only_b.high)):
        n = clusters.least_effective_n(*of, sizes, confidence, alone=True)
        share = hits.sum(-1) / sizes.sum(-1)
        arms.append((share, *clusters.clopper_pearson(share * n, n, confidence)))
    return newcombe.of_differing(arms[0], arms[1])[1]


def pair_upper(a: Range, b: Range, confidence: float = CONFIDENCE) -> float:
    """Return the highest upper limit of the difference b - a of independent pairs.

    Given both rates, the limit is highest if the fewest pairs have outcome 1 in both arms. It is
    at most b's upper limit less a's lower one, so few rates need to be tried.
    """
    n = np.asarray(float(len(a.low)))
    open_a, open_b = a.high > a.low, b.high > b.low
    ones_a = a.low.sum() + np.arange(open_a.sum() + 1)
    ones_b = b.high.sum() - np.arange(open_b.sum() + 1)
    both_open = (open_a & open_b).sum()
    # Outcomes 1 can go to pairs that have 0 in the other arm, then to pairs open in both.
    left_a = np.maximum(ones_a - a.low.sum() - (open_a & (b.high == 0)).sum(), 0)
    left_b = np.maximum(ones_b - b.low.sum() - (open_b & (a.high == 0)).sum(), 0)
    of_a, of_b = (
        np.stack([ones / n, *clusters.clopper_pearson(ones, n, confidence)])
        for ones in (ones_a, ones_b)
    )

    def highest(first_a: int, first_b: int) -> float:
        x, y = ones_a[:first_a, None], ones_b[:first_b]
        left = left_a[:first_a, None] + left_b[:first_b]
        both = (a.low * b.low).sum() + np.maximum(left - both_open, 0)
        correlation = newcombe.phi(both, x - both, y - both, n - x - y + both)
        mean_a, low_a, high_a = of_a[:, :first_a, None]
        mean_b, low_b, high_b = of_b[:, None, :first_b]
        arms = (mean_a, low_a, high_a), (mean_b, low_b, high_b)
        return float(newcombe.square_and_add(*arms, correlation)[1].max())

    extreme = highest(1, 1)
    (_, least_a, _), (_, _, most_b) = of_a, of_b
    further_a, further_b = most_b[0] - least_a >= extreme, most_b - least_a[0] >= extreme
    # Newcombe's own limits; those of the pairs that differ are highest at this filling.
    differing = newcombe.of_differing_pairs(newcombe.count_pairs(a.low, b.high), confidence)[1]
    found = highest(max(int(further_a.sum()), 1), max(int(further_b.sum()), 1))
    return max(extreme, found, float(differing))


def _least_correlation(a: Range, b: Range, sizes: Floats) -> Floats:
    residuals = [clusters.residual_range(*one, sizes) for one in (a, b)]
    corners = [x * y for x in residuals[0] for y in residuals[1]]
    product = np.minimum.reduce(corners).sum(-1)
    most, least = np.ones(product.shape), np.ones(product.shape)
    for low, high in residuals:
        most = most * np.maximum(low**2, high**2).sum(-1)
        same_sign = np.minimum(low**2, high**2)
        least = least * np.where(low * high > 0, same_sign, 0.0).sum(-1)
    under = np.sqrt(np.where(product > 0, most, least))
    otherwise = np.where(product < 0, -1.0, 0.0)
    return np.maximum(np.where(under > 0, clusters.quotient(product, under), otherwise), -1)


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
    values = clusters.numbers(outcomes)
    codes = np.arange(len(values)) if labels is None else clusters.codes_of(labels)
    maybe = np.zeros(len(values), bool) if unplaced is None else np.asarray(unplaced, bool)
    fills = [np.nan_to_num(values, nan=fill) for fill in (0.0, 1.0)]
    grouped = clusters.group([*fills, maybe], codes)
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
        n = clusters.quotient((sizes - perhaps).sum() ** 2, (sizes**2).sum())
        lower, upper = (
            clusters.clopper_pearson(np.asarray(one.estimate) * n, n, confidence)[at]
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

    Scores are 0 or 1; an episode without a score has nan. ``unknown`` masks, by arm, the scores
    that do not show the outcome, as of silent episodes. The comparison is of the pairs with a score
    in both arms, with its extremes over all pairs; no other unknown outcomes give weaker limits.
    """
    arms = [clusters.numbers(a), clusters.numbers(b)]
    if len({len(one) for one in (*arms, *unknown, arms[0] if labels is None else labels)}) > 1:
        raise ParameterError("the arms, their masks and labels must hold the same episodes")
    masks = [
        np.isnan(one) | np.asarray(hidden, bool) for one, hidden in zip(arms, unknown, strict=True)
    ]
    codes = np.arange(len(arms[0])) if labels is None else clusters.codes_of(labels)
    chosen = ~(np.isnan(arms[0]) | np.isnan(arms[1]))
    first, second = (one[chosen] for one in arms)
    seen = compare(first, second, codes[chosen], confidence=confidence, seed=seed)
    if not np.any(np.stack(masks)):
        return seen
    first, second = (np.where(hidden, np.nan, one) for one, hidden in zip(arms, masks, strict=True))
    ends = extremes(first, second, codes, confidence=confidence, seed=seed)
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
    grouped = clusters.group([low_a, high_a, low_b, high_b], labels)
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
