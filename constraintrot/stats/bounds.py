"""Bounds of a rate over what malformed and missing outcomes could have been."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from constraintrot.errors import ParameterError
from constraintrot.stats.interval import CONFIDENCE, Estimate
from constraintrot.stats.rate import Labels, rate


@dataclass(frozen=True)
class Bounds:
    """A rate with all unknown outcomes taken as 0, and with all taken as 1 (Manski 1990).

    Attributes:
        none: the rate with every unknown outcome taken as 0.
        all: the rate with every unknown outcome taken as 1.
        known: number of episodes with a known outcome.
        unknown: number of episodes without one: malformed, unscored or never finished.
    """

    none: Estimate
    all: Estimate
    known: int
    unknown: int

    @property
    def width(self) -> float:
        """Width of the bounds, a difference of rates."""
        return self.all.estimate - self.none.estimate


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

    @property
    def direction_known(self) -> bool:
        """Whether the difference has the same sign for all values of the unknown outcomes."""
        return self.lower > 0 or self.upper < 0


def bounds(
    outcomes: npt.ArrayLike,
    labels: Labels | None = None,
    *,
    missing: int = 0,
    confidence: float = CONFIDENCE,
) -> Bounds:
    """Bound a rate over unknown outcomes.

    Args:
        outcomes: 0, 1, or nan if unknown, one per episode.
        labels: cluster of each episode; None: every episode is its own cluster.
        missing: number of planned episodes that are not in ``outcomes``; each counts
            as its own cluster.
        confidence: nominal coverage of both rates' intervals.

    Raises:
        ParameterError: ``missing`` is negative.
    """
    values = np.asarray(outcomes, dtype=np.float64)
    if missing < 0:
        raise ParameterError(f"{missing} episodes are missing; a count cannot be negative")
    given: list[object] = list(range(len(values)) if labels is None else labels)
    names = None if labels is None else [*given, *((_Unique(), at) for at in range(missing))]
    filled = np.concatenate([values, np.full(missing, np.nan)])
    unknown = np.isnan(filled)
    worst, best = (
        rate(np.where(unknown, fill, filled), names, confidence=confidence) for fill in (1.0, 0.0)
    )
    return Bounds(best, worst, int((~unknown).sum()), int(unknown.sum()))


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


class _Unique:
    """A label that equals no given label."""
