"""The result of every statistic of a report: an interval, or the reason why there is none."""

import math
from dataclasses import dataclass
from typing import TypeAlias, TypedDict, cast

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.float64]

CONFIDENCE = 0.95
TOO_FEW = "too few clusters"


class Summary(TypedDict):
    """An interval in ``summary.json``."""

    estimate: float
    lower: float
    upper: float
    k: int | None
    n: int
    method: str


@dataclass(frozen=True)
class Interval:
    """An estimate with its interval; never of zero width.

    Attributes:
        estimate: a rate, a difference of rates, a share or a coefficient; no unit.
        lower: lower limit, at most ``estimate``.
        upper: upper limit, at least ``estimate``.
        k: count out of ``n``; for a difference, the net count; None if nothing is counted.
        n: number of episodes, pairs or units.
        method: name of the method, and any fallback, for a reader.

    Raises:
        ValueError: the limits are equal, or do not include the estimate.
    """

    estimate: float
    lower: float
    upper: float
    k: int | None
    n: int
    method: str

    def __post_init__(self) -> None:
        if not self.lower <= self.estimate <= self.upper or self.lower == self.upper:
            raise ValueError(
                f"{self.method}: [{self.lower}, {self.upper}] is no interval of {self.estimate}"
            )

    @property
    def reason(self) -> None:
        return None

    def excludes(self, value: float) -> bool:
        return not self.lower <= value <= self.upper

    def summary(self) -> Summary:
        return cast("Summary", dict(vars(self)))

    def __str__(self) -> str:
        counted = f"{self.k}/{self.n} = " if self.k is not None else ""
        limits = f"[{100 * self.lower:.0f}, {100 * self.upper:.0f}]"
        return f"{counted}{100 * self.estimate:.0f} % {limits}"


@dataclass(frozen=True)
class NoInterval:
    """An estimate without an interval; its truth value is False.

    Attributes:
        reason: why there is no interval, for a reader, such as "too few clusters".
        k: count out of ``n``; None if nothing is counted.
        n: number of episodes, pairs or units.
        estimate: nan if there is none.
    """

    reason: str
    k: int | None = None
    n: int = 0
    estimate: float = math.nan

    def __bool__(self) -> bool:
        return False

    def summary(self) -> None:
        """None: ``summary.json`` has the reason in a field next to it."""
        return None

    def __str__(self) -> str:
        counted = f"{self.k}/{self.n}, " if self.k is not None and self.n else ""
        return f"{counted}{self.reason}"


Estimate: TypeAlias = Interval | NoInterval


def around(
    estimate: float, lower: float, upper: float, k: int | None, n: int, method: str
) -> Interval:
    """Return an interval whose limits are extended to include the estimate.

    Rounding errors can exclude an estimate at the edge by an ulp, and a bootstrap
    interval need not include its estimate.
    """
    return Interval(estimate, min(lower, estimate), max(upper, estimate), k, n, method)
