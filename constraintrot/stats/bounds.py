"""Bounds of a rate over what malformed and missing outcomes could have been."""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from constraintrot.errors import ParameterError
from constraintrot.stats.clusters import codes_of
from constraintrot.stats.interval import CONFIDENCE, Estimate, Floats
from constraintrot.stats.paired import Comparison, compare
from constraintrot.stats.rate import Labels, rate


@dataclass(frozen=True)
class Bounds:
    """A rate with all unknown outcomes taken as 0, and with all taken as 1 (Manski 1990)."""

    none: Estimate
    all: Estimate


@dataclass(frozen=True)
class Differences:
    """The range of b - a over all values that the unknown outcomes could have.

    Attributes:
        lower: difference with unknown outcomes taken as 0 in b and as 1 in a.
        upper: difference with unknown outcomes taken as 1 in b and as 0 in a.
        unknown: number of pairs with an unknown outcome in either arm.
        n: number of pairs.
    """

    lower: float
    upper: float
    unknown: int
    n: int


def bounds(
    outcomes: npt.ArrayLike,
    labels: Labels | None = None,
    *,
    confidence: float = CONFIDENCE,
) -> Bounds:
    """Bound a rate over unknown outcomes.

    Args:
        outcomes: 0, 1, or nan if unknown, one per episode.
        labels: cluster of each episode; None: every episode is its own cluster.
        confidence: nominal coverage of both rates' intervals.
    """
    values = np.asarray(outcomes, dtype=np.float64)
    unknown = np.isnan(values)
    worst, best = (
        rate(np.where(unknown, fill, values), labels, confidence=confidence) for fill in (1.0, 0.0)
    )
    return Bounds(best, worst)


def difference_bounds(a: npt.ArrayLike, b: npt.ArrayLike) -> Differences:
    """Bound the paired difference b - a over unknown outcomes.

    Args:
        a: outcomes of the first arm: 0, 1, or nan if unknown, one per episode.
        b: outcomes of the same episodes in the second arm.

    Raises:
        ParameterError: the arms differ in length or are empty.
    """
    first, second = np.asarray(a, np.float64), np.asarray(b, np.float64)
    if first.shape != second.shape or not len(first):
        raise ParameterError("the arms must hold the same episodes, and at least one")
    lower, upper = (
        float((np.nan_to_num(second, nan=y) - np.nan_to_num(first, nan=x)).mean())
        for x, y in ((1.0, 0.0), (0.0, 1.0))
    )
    unknown = int((np.isnan(first) | np.isnan(second)).sum())
    return Differences(lower, upper, unknown, len(first))


def compare_unknown(
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    labels: Labels | None = None,
    *,
    unknown: tuple[npt.ArrayLike, npt.ArrayLike],
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
        pairs.

    Raises:
        ParameterError: as ``compare``.
    """
    arms = [np.asarray(one, np.float64) for one in (a, b)]
    masks = [
        np.isnan(one) | np.asarray(hidden, bool) for one, hidden in zip(arms, unknown, strict=True)
    ]
    clusters = np.arange(len(arms[0])) if labels is None else codes_of(labels)

    def compared(chosen: npt.NDArray[np.bool_], *filled: Floats) -> Comparison:
        first, second = (one[chosen] for one in filled)
        return compare(first, second, clusters[chosen], confidence=confidence, seed=seed)

    seen = compared(~np.isnan(np.stack(arms)).any(0), *arms)
    if not np.any(masks):
        return seen
    fills = [
        [np.where(hidden, fill, one) for one, hidden, fill in zip(arms, masks, of, strict=True)]
        for of in ((1.0, 0.0), (0.0, 1.0))
    ]
    everything = np.ones(len(clusters), bool)
    return replace(seen, extremes=tuple(compared(everything, *filled) for filled in fills))
