"""What a paired comparison could have found, and how many pairs it would take.

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
    """What a comparison's n is good for.

    Attributes:
        n: pairs that there are.
        detectable: smallest difference of rates found with ``power``; None
            where even the largest that the discordant share allows is not.
        needed: pairs that the observed difference takes; None where it is 0.
        more: pairs still to run for that; None where ``needed`` is.
        discordant: share of discordant pairs that this rests on.
        power: chance to find it.
        alpha: two-sided level.
    """

    n: int
    detectable: float | None
    needed: int | None
    discordant: float
    power: float = POWER
    alpha: float = ALPHA

    @property
    def more(self) -> int | None:
        """Pairs still to run, 0 if there are enough."""
        return None if self.needed is None else max(0, self.needed - self.n)


def pairs_needed(
    difference: float,
    discordant: float,
    *,
    power: float = POWER,
    alpha: float = ALPHA,
    design_effect: float = 1.0,
) -> int:
    """Pairs that a paired difference takes.

    Args:
        difference: of rates, not 0.
        discordant: share of pairs that differ, at least the difference.
        power: chance to find it.
        alpha: two-sided level.
        design_effect: by how much clusters widen the variance.

    Raises:
        ParameterError: no such difference can be.
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
    """The smallest difference of rates that n pairs find.

    Args:
        n: pairs.
        discordant: share of pairs that differ.
        power: chance to find it.
        alpha: two-sided level.
        design_effect: by how much clusters widen the variance.

    Returns:
        None where no difference that the discordant share allows is found.
    """
    effective = n / design_effect
    if discordant <= 0 or _pairs(discordant, discordant, power, alpha) > effective:
        return None

    def short(size: float) -> float:
        return _pairs(size, discordant, power, alpha) - effective

    return float(optimize.brentq(short, discordant * 1e-6, discordant))


def of(comparison: Comparison, *, power: float = POWER, alpha: float = ALPHA) -> Power:
    """What a comparison's pairs are good for, at its own discordant share and clusters.

    Where no pair differs, the share's upper limit stands in for it: the true one
    is not 0.
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
