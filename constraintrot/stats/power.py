"""Simulated power of the decision rules: the effect that n variants find, and the n needed.

A rule takes tables of counts, so that the same code decides about thousands of simulated
runs at once. Variants are simulated as independent. The replicates of a variant are taken to
agree, which is the worst case, so the unit of every number here is a variant.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import special

from constraintrot.stats import clusters
from constraintrot.stats.interval import CONFIDENCE, Floats
from constraintrot.stats.newcombe import pair_limits
from constraintrot.stats.paired import Comparison

POWER = 0.8
SIMULATIONS = 2000
# More variants than this are not reported.
MOST = 100_000
_STEPS = 24

Rule: TypeAlias = Callable[[Floats], npt.NDArray[np.bool_]]
"""Decides for tables of shape (runs, categories); the counts of a run are its row."""


@dataclass(frozen=True)
class Power:
    """Power of a comparison, under the rule that decided it.

    Attributes:
        detectable: the smallest share of pairs that differ, all in the same direction, that
            is found with ``power``; None if not even a difference in all pairs is.
        needed: number of variants that find the observed difference with ``power``; None if
            the arms do not differ, or it is more than ``MOST``.
    """

    n: int
    detectable: float | None
    needed: int | None
    power: float = POWER

    @property
    def more(self) -> int | None:
        """Variants that are still needed, 0 if there are enough; None if ``needed`` is."""
        return None if self.needed is None else max(0, self.needed - self.n)


def fewer(confidence: float = CONFIDENCE, comparisons: int = 1) -> Rule:
    """The rule "b is lower": the interval excludes 0, and McNemar's exact test rejects.

    The same as ``paired.Comparison.verdict`` for clusters of one pair.

    ``comparisons`` adjusts the p-value by Bonferroni, which is Holm's first step.
    """

    def decide(tables: Floats) -> npt.NDArray[np.bool_]:
        found = comparisons * mcnemar(tables) <= 1 - confidence
        found &= tables[:, 1] > tables[:, 2]
        # The interval takes longer, so only where the test rejects.
        found[found] = pair_limits(tables[found], confidence)[1] < 0
        return found

    return decide


def no_higher(margin: float, confidence: float = CONFIDENCE) -> Rule:
    """The rule "b is at most ``margin`` higher than a": so says the upper limit of b - a."""
    return lambda tables: pair_limits(tables, confidence)[1] < margin


def no_lower(margin: float, confidence: float = CONFIDENCE) -> Rule:
    """The rule "b is at most ``margin`` lower than a": so says the lower limit of b - a."""
    return lambda tables: pair_limits(tables, confidence)[0] > -margin


def at_most(limit: float, confidence: float = CONFIDENCE) -> Rule:
    """The rule "the rate is at most ``limit``", of tables (outcome 1, outcome 0)."""

    def decide(tables: Floats) -> npt.NDArray[np.bool_]:
        upper = clusters.clopper_pearson(tables[:, 0], tables.sum(-1), confidence)[1]
        return np.asarray(upper <= limit)

    return decide


def mcnemar(tables: Floats) -> Floats:
    """Two-sided p-values of McNemar's exact test, for tables as ``newcombe.pair_limits`` takes."""
    only_a, only_b = tables[:, 1], tables[:, 2]
    n = only_a + only_b
    tail = special.bdtr(np.minimum(only_a, only_b), np.maximum(n, 1).astype(int), 0.5)
    return np.where(n > 0, np.minimum(1, 2 * tail), 1.0)


def chance(
    shares: Sequence[float], n: int, rule: Rule, simulations: int = SIMULATIONS, seed: int = 0
) -> float:
    """Return the share of simulated runs of ``n`` variants for which the rule decides yes."""
    drawn = np.random.default_rng(seed).multinomial(n, np.asarray(shares), simulations)
    tables, counts = np.unique(drawn, axis=0, return_counts=True)
    return float(counts[rule(tables.astype(np.float64))].sum() / simulations)


def detectable(n: int, rule: Rule, agreeing: float = 0.0) -> float | None:
    """Return the smallest one-directional effect that the rule finds, to a tenth of a point.

    It is the share of pairs with outcome 1 in a only, where none has it in b only; None if not even
    1 is found. Of the other pairs the share ``agreeing`` has outcome 1 in both arms.
    """

    def finds(thousandths: int) -> bool:
        effect = thousandths / 1000
        rest = 1 - effect
        shares = (rest * agreeing, effect, 0.0, rest * (1 - agreeing))
        return chance(shares, n, rule) >= POWER

    if not finds(1000):
        return None
    low, high = 0, 1000
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if finds(middle) else (middle, high)
    return high / 1000


def needed(shares: Sequence[float], rule: Rule, *, power: float = POWER) -> int | None:
    """Return the number of variants from which on the rule decides yes with ``power``.

    Counts are whole, so power does not rise steadily with n: the result is the least
    number above which no examined one, up to twice as many, falls short.
    """

    def finds(n: int) -> bool:
        return chance(shares, n, rule) >= power

    high = 1
    while not (finds(high) and finds(2 * high)):
        if high == MOST:
            return None
        high = min(2 * high, MOST)
    low = high // 2
    while high - low > 1:
        step = max(1, (high - low) // _STEPS)
        short = next((n for n in range(high - step, low, -step) if not finds(n)), low)
        low, high = short, min(high, short + step)
        if step == 1:
            break
    return high


def of(comparison: Comparison, *, comparisons: int = 1) -> Power:
    """Return the power of a comparison to find that b is lower, or higher, than a."""
    only = max(comparison.only_a, comparison.only_b), min(comparison.only_a, comparison.only_b)
    table = (comparison.both, *only, comparison.neither)
    return _of(table, comparison.clusters, comparison.confidence, comparisons)


@lru_cache(maxsize=256)
def _of(table: tuple[int, int, int, int], n: int, confidence: float, comparisons: int) -> Power:
    both, more, less, neither = table
    rule = fewer(confidence, comparisons)
    agreeing = both / (both + neither) if both + neither else 0.0
    shares = [count / sum(table) for count in table]
    takes = needed(shares, rule) if more > less else None
    return Power(n, detectable(n, rule, agreeing), takes)
