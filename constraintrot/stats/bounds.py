"""What malformed and missing outcomes could have been, at worst and at best."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from constraintrot.errors import ParameterError
from constraintrot.stats.interval import CONFIDENCE, Estimate
from constraintrot.stats.rate import Labels, rate


@dataclass(frozen=True)
class Bounds:
    """A rate with its unknown outcomes taken all one way, then all the other (Manski 1990).

    Attributes:
        none: every unknown outcome taken for no.
        all: every unknown outcome taken for yes.
        known: episodes whose outcome is known.
        unknown: episodes whose outcome is not: malformed, unscored or never finished.
    """

    none: Estimate
    all: Estimate
    known: int
    unknown: int

    @property
    def width(self) -> float:
        """What the unknown outcomes leave open, as a difference of rates."""
        return self.all.estimate - self.none.estimate


@dataclass(frozen=True)
class Differences:
    """The range of b - a over all that the unknown outcomes could have been.

    Attributes:
        lower: unknown in b taken for no, in a for yes.
        upper: the other way round.
        unknown: pairs with an unknown outcome in either arm.
        n: pairs.
    """

    lower: float
    upper: float
    unknown: int
    n: int

    @property
    def direction_known(self) -> bool:
        """Whether no way to fill them in turns the direction round."""
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
        outcomes: 0, 1, or nan where it is not known, an episode.
        labels: the cluster of each episode.
        missing: episodes that were planned and have no row; each is taken for
            a cluster of its own.
        confidence: nominal coverage of both rates' intervals.
    """
    values = np.asarray(outcomes, dtype=np.float64)
    if missing < 0:
        raise ParameterError(f"{missing} episodes are missing; a count cannot be negative")
    given: list[object] = list(range(len(values)) if labels is None else labels)
    names = None if labels is None else [*given, *((_Own(), at) for at in range(missing))]
    filled = np.concatenate([values, np.full(missing, np.nan)])
    unknown = np.isnan(filled)
    worst, best = (
        rate(np.where(unknown, fill, filled), names, confidence=confidence) for fill in (1.0, 0.0)
    )
    return Bounds(best, worst, int((~unknown).sum()), int(unknown.sum()))


def difference_bounds(a: npt.ArrayLike, b: npt.ArrayLike) -> Differences:
    """Bound the paired difference b - a over unknown outcomes.

    Args:
        a: 0, 1 or nan an episode, the first arm.
        b: the same episodes in the second.

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


class _Own:
    """A label that no given one equals."""
