"""Power of a paired comparison: its detectable difference, and the pairs that it needs.

Sample size of McNemar's test after Connor (1987), which is exact in the limit:
n = (z_a sqrt(psi) + z_b sqrt(psi - d^2))^2 / d^2 for a difference d and a
discordant share psi.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from scipy import optimize, stats

from constraintrot.errors import ParameterError
from constraintrot.stats.interval import Interval
from constraintrot.stats.paired import Comparison
from constraintrot.stats.rate import clopper_pearson

POWER = 0.8
ALPHA = 0.05


@dataclass(frozen=True)
class Power:
    """Power of a comparison.

    Attributes:
        n: number of pairs.
        detectable: smallest difference of rates that is detected with ``power``; None
            if the discordant share allows no difference that large.
        needed: number of pairs that detect the observed difference; None if it is 0.
        discordant: share of discordant pairs that was assumed.
        power: probability to detect a difference.
        alpha: two-sided level of the test.
    """

    n: int
    detectable: float | None
    needed: int | None
    discordant: float
    power: float = POWER
    alpha: float = ALPHA

    @property
    def more(self) -> int | None:
        """Pairs that are still needed, 0 if there are enough; None if ``needed`` is."""
        return None if self.needed is None else max(0, self.needed - self.n)


def pairs_needed(
    difference: float,
    discordant: float,
    *,
    power: float = POWER,
    alpha: float = ALPHA,
    design_effect: float = 1.0,
) -> int:
    """Number of pairs that detect a difference.

    Args:
        difference: difference of rates, not 0.
        discordant: share of pairs that differ, at least the absolute difference.
        power: probability to detect the difference.
        alpha: two-sided level of the test.
        design_effect: variance with clusters over variance without.

    Raises:
        ParameterError: the difference is 0 or larger than the discordant share.
    """
    size = abs(difference)
    if not 0 < size <= discordant <= 1:
        raise ParameterError(
            f"a difference of {difference} takes a discordant share from {size} to 1,"
            f" not {discordant}"
        )
    return math.ceil(_pairs(size, discordant, power, alpha) * design_effect)


def detectable(
    n: int,
    discordant: float,
    *,
    power: float = POWER,
    alpha: float = ALPHA,
    design_effect: float = 1.0,
) -> float | None:
    """The smallest difference of rates that n pairs detect.

    Args:
        n: number of pairs.
        discordant: share of pairs that differ.
        power: probability to detect the difference.
        alpha: two-sided level of the test.
        design_effect: variance with clusters over variance without.

    Returns:
        The difference, or None if the discordant share allows no difference that large.
    """
    effective = n / design_effect
    if discordant <= 0 or _pairs(discordant, discordant, power, alpha) > effective:
        return None

    def short(size: float) -> float:
        return _pairs(size, discordant, power, alpha) - effective

    return float(optimize.brentq(short, discordant * 1e-6, discordant))


def of(comparison: Comparison, *, power: float = POWER, alpha: float = ALPHA) -> Power:
    """The power of a comparison, at its discordant share and design effect.

    If no pair differs, the upper limit of the discordant share is used, because the
    true share is not 0.
    """
    n, discordant = comparison.n, comparison.only_a + comparison.only_b
    share = discordant / n
    if not discordant:
        limit = clopper_pearson(0, n)
        share = limit.upper if isinstance(limit, Interval) else 1.0
    effect = comparison.design_effect
    difference = (comparison.only_b - comparison.only_a) / n
    return Power(
        n,
        detectable(n, share, power=power, alpha=alpha, design_effect=effect),
        pairs_needed(difference, share, power=power, alpha=alpha, design_effect=effect)
        if difference
        else None,
        share,
        power,
        alpha,
    )


def _pairs(size: float, discordant: float, power: float, alpha: float) -> float:
    z_alpha, z_power = stats.norm.ppf(1 - alpha / 2), stats.norm.ppf(power)
    spread = math.sqrt(max(discordant - size**2, 0))
    return float((z_alpha * math.sqrt(discordant) + z_power * spread) ** 2 / size**2)
