"""Rates with intervals."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Rate:
    """k of n with a 95 % Wilson interval; never of zero width."""

    k: int
    n: int
    lower: float
    upper: float

    @property
    def estimate(self) -> float:
        """K / n."""
        return self.k / self.n

    def __str__(self) -> str:
        percent = f"{100 * self.estimate:.0f} %"
        return f"{self.k}/{self.n} = {percent} [{100 * self.lower:.0f}, {100 * self.upper:.0f}]"


def wilson(k: int, n: int, confidence: float = 0.95) -> Rate | None:
    """Wilson's score interval for k of n; None for n = 0, where there is no rate.

    Args:
        k: how many.
        n: of how many, independent.
        confidence: nominal coverage.
    """
    if n == 0:
        return None
    from scipy.stats import binomtest

    interval = binomtest(k, n).proportion_ci(confidence, method="wilson")
    return Rate(k, n, float(interval.low), float(interval.high))
