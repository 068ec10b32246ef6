"""Two arms compared on the same episodes: difference, discordant pairs, exact test, verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from constraintrot.errors import ParameterError
from constraintrot.stats import clusters, exact
from constraintrot.stats.interval import (
    CONFIDENCE,
    TOO_FEW,
    Estimate,
    Floats,
    Interval,
    NoInterval,
    around,
)
from constraintrot.stats.newcombe import difference_limits
from constraintrot.stats.rate import BCA, EXACT, Labels, Limits, drawer, rate

MCNEMAR = "McNemar, exact"
NOT_DISTINGUISHABLE: Final = "not distinguishable at this n"
Verdict: TypeAlias = Literal["b is lower", "b is higher", "not distinguishable at this n"]


@dataclass(frozen=True)
class Comparison:
    """The difference b - a on paired episodes.

    Attributes:
        a: rate in the first arm.
        b: rate in the second arm.
        difference: b - a, with an interval by the method that the coverage check chose.
        both: number of pairs with outcome 1 in both arms.
        only_a: number of pairs with outcome 1 in a only.
        only_b: number of pairs with outcome 1 in b only.
        neither: number of pairs with outcome 0 in both arms.
        p_value: two-sided, exact; McNemar's if every cluster is one pair.
        test: name of the test.
        clusters: number of clusters.
        adjusted: p-value adjusted by Holm over a family of comparisons; None if the
            comparison is in none.
        design_effect: variance of the difference over that of independent pairs,
            at least 1.
        confidence: nominal coverage of the intervals; the test's level is 1 - confidence.
        extremes: the comparison with all unknown outcomes filled so that b - a is lowest, and so
            that it is highest (``bounds.compare_unknown``); empty if nothing is unknown.
    """

    a: Estimate
    b: Estimate
    difference: Estimate
    both: int
    only_a: int
    only_b: int
    neither: int
    p_value: float
    test: str
    clusters: int
    design_effect: float
    confidence: float = CONFIDENCE
    adjusted: float | None = None
    extremes: tuple[Comparison, ...] = ()

    @property
    def n(self) -> int:
        """Number of pairs."""
        return self.both + self.only_a + self.only_b + self.neither

    @property
    def bootstrap(self) -> Estimate:
        """The difference with the cluster bootstrap's interval, or why it has none."""
        found = self.difference
        if not isinstance(found, Interval) or found.method == BCA:
            return found
        why = "one pair a cluster needs no bootstrap"
        if self.test != MCNEMAR:
            why = f"{TOO_FEW} for the bootstrap"
        return NoInterval(why, found.k, found.n, found.estimate)

    @property
    def verdict(self) -> Verdict:
        """The direction that the interval and the test show, whatever the unknown outcomes were."""
        shown = {self._shown, *(one._shown for one in self.extremes)}
        return shown.pop() if len(shown) == 1 else NOT_DISTINGUISHABLE

    @property
    def weakest(self) -> float:
        """The largest p-value over all values of the unknown outcomes."""
        nets = [one.only_b - one.only_a for one in self.extremes]
        # Between two directions there are values that show none.
        if nets and min(nets) <= 0 <= max(nets):
            return 1.0
        return max(one.p_value for one in (self, *self.extremes))

    def adjusted_to(self, adjusted: float | None, weakest: float | None) -> Comparison:
        """Return the comparison with its adjusted p-value, and with that of its extremes."""
        extremes = tuple(replace(one, adjusted=weakest) for one in self.extremes)
        return replace(self, adjusted=adjusted, extremes=extremes)

    @property
    def _shown(self) -> Verdict:
        p_value = self.p_value if self.adjusted is None else self.adjusted
        if not isinstance(self.difference, Interval) or not self.difference.excludes(0):
            return NOT_DISTINGUISHABLE
        if p_value > 1 - self.confidence:
            return NOT_DISTINGUISHABLE
        return "b is lower" if self.difference.estimate < 0 else "b is higher"


def compare(
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    labels: Labels | None = None,
    *,
    confidence: float = CONFIDENCE,
    seed: int = 0,
) -> Comparison:
    """Compare two arms on paired episodes.

    Args:
        a: outcomes of the first arm, 0 or 1 per episode.
        b: outcomes of the same episodes in the second arm.
        labels: cluster of each pair; None: pairs are independent.
        confidence: nominal coverage.
        seed: seed of the bootstrap.

    Raises:
        ParameterError: the arms differ in length, are empty, or have values other than
            0 and 1.
    """
    first, second = clusters.numbers(a), clusters.numbers(b)
    grouped = clusters.group([first, second], labels)
    clusters.binary(first, second)
    if not len(first):
        raise ParameterError("the arms share no episode; nothing is paired")
    both, only_a, only_b, neither = (
        int(((first == x) & (second == y)).sum()) for x, y in ((1, 1), (1, 0), (0, 1), (0, 0))
    )
    hits_a, hits_b = grouped.column(0), grouped.column(1)
    limits = _limits(hits_a.tobytes(), hits_b.tobytes(), grouped.sizes.tobytes(), confidence, seed)
    rates = [rate(arm, labels, confidence=confidence, seed=seed) for arm in (first, second)]
    return Comparison(
        rates[0],
        rates[1],
        _difference(grouped, only_b - only_a, limits),
        both,
        only_a,
        only_b,
        neither,
        p_value=flip_test(hits_b - hits_a),
        test=MCNEMAR if grouped.single else "sign flips of whole clusters, exact",
        clusters=len(grouped.sizes),
        design_effect=design_effect(hits_b - hits_a, grouped.sizes, only_a + only_b),
        confidence=confidence,
    )


# Several tables compare the same two arms, and the resamples take longest.
@lru_cache(maxsize=1024)
def _limits(a: bytes, b: bytes, sizes: bytes, confidence: float, seed: int) -> Limits:
    first, second, per_cluster = (np.frombuffer(one) for one in (a, b, sizes))
    return difference_limits(first, second, per_cluster, confidence, drawer(seed))


def family(comparisons: Sequence[Comparison]) -> list[Comparison]:
    """Return the same comparisons, with p-values adjusted over all of them (Holm 1979)."""
    adjusted = exact.holm([one.p_value for one in comparisons])
    weakest = exact.holm([one.weakest for one in comparisons])
    all_three = zip(comparisons, adjusted, weakest, strict=True)
    return [one.adjusted_to(p_value, at_worst) for one, p_value, at_worst in all_three]


def flip_test(differences: Floats) -> float:
    """Two-sided exact p-value of the arms being exchangeable within each cluster.

    A permutation test: the sum of the clusters' differences against all ways to swap
    the arms of whole clusters, by convolution instead of enumeration. If every cluster
    is one pair, it is McNemar's exact test.
    """
    sizes, counts = np.unique(np.abs(differences[differences != 0]), return_counts=True)
    if not len(sizes):
        return 1.0
    seen = abs(int(differences.sum()))
    if len(sizes) == 1:
        fewer = (int(counts[0]) - seen // int(sizes[0])) // 2
        return exact.fair_sign_test(fewer, int(counts[0]))
    # Position j of the distribution is the probability of the sum 2 j - total.
    distribution = np.ones(1)
    for size, count in zip(map(int, sizes), map(int, counts), strict=True):
        spread = np.zeros(size * count + 1)
        spread[::size] = exact.fair_binomial(count)
        distribution = np.convolve(distribution, spread)
    total = int(sizes @ counts)
    lower = (total - seen) // 2
    tail = float(np.clip(distribution[: lower + 1], 0, None).sum())
    return min(1.0, 2 * tail)


def design_effect(differences: Floats, sizes: Floats, discordant: int) -> float:
    """Variance of the difference over that of independent pairs; at least 1."""
    n, mean = sizes.sum(), differences.sum() / sizes.sum()
    independent = (discordant / n - mean**2) / (n - 1) if n > 1 else 0.0
    if independent <= 0 or len(sizes) < 2:
        return 1.0
    return max(1.0, float(clusters.variance(differences - mean * sizes, sizes) / independent))


def _difference(grouped: clusters.Clusters, net: int, limits: Limits) -> Estimate:
    n = int(grouped.sizes.sum())
    if not grouped.single and clusters.kish(grouped.sizes) < 2:
        return NoInterval(TOO_FEW, net, n, net / n)
    if limits.resampled:
        name = BCA
    elif grouped.single:
        name = f"Newcombe paired, square-and-add of {EXACT}"
    else:
        name = "square-and-add of Clopper-Pearson at effective n, paired (t-based)"
    return around(net / n, float(limits.lower), float(limits.upper), net, n, name)
