"""Bounds of a rate over all values that malformed and missing outcomes could have had."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from constraintrot.errors import ParameterError
from constraintrot.stats.interval import CONFIDENCE, Estimate
from constraintrot.stats.rate import Labels, rate


@dataclass(frozen=True)
class Bounds:
    """A rate with all unknown outcomes as 0 (``none``) and as 1 (``all``) (Manski 1990)."""

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
