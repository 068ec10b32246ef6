"""Mediation: whether compaction causes violations by removing the policy from the context.

The two questions of the paper's section 5: does violation follow survival, and does it come
and go when the policy's sentences are removed from the same summary and put back?
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from constraintrot.stats import clusters, exact
from constraintrot.stats.interval import Estimate, Interval, NoInterval, around
from constraintrot.stats.newcombe import unpaired
from constraintrot.stats.paired import Comparison, compare
from constraintrot.stats.rate import Labels, rate

CONDITIONS = ("control", "compaction", "summary_removed", "summary_restored")
"""The conditions that a mediation takes."""


@dataclass(frozen=True)
class BySurvival:
    """Violation by whether the context still contained the policy.

    Attributes:
        difference: rate of the episodes that lost it, less that of the others; unpaired.
        table: ((kept and violated, kept and not), (dropped and violated, dropped and not)).
        p_value: Fisher's exact; None if a cluster has several episodes, which it would take
            as independent.
    """

    difference: Estimate
    table: tuple[tuple[int, int], tuple[int, int]]
    p_value: float | None


@dataclass(frozen=True)
class Mediation:
    """The share of compaction's effect that the deletion of the policy mediates.

    Attributes:
        total: compaction - control.
        direct: summary_restored - control: the effect of compaction with the policy
            put back.
        deletion: summary_removed - summary_restored: the effect of removing the policy
            from the same summary, without the degenerate ones; None if there are no others.
        share: share of the total effect that restoring the policy removes,
            1 - direct / total.
        degenerate: number of episodes whose summary had no policy to remove, or
            little else.
    """

    total: Comparison
    direct: Comparison
    deletion: Comparison | None
    share: Estimate
    degenerate: int
    n: int


def by_survival(
    violated: npt.ArrayLike, kept: npt.ArrayLike, labels: Labels | None = None
) -> BySurvival:
    """Compare the violations of episodes that kept the policy and of those that lost it."""
    hit, state = clusters.numbers(violated), clusters.numbers(kept)
    clusters.binary(hit, state)
    codes = None if labels is None else clusters.codes_of(labels)
    counts: list[tuple[int, int]] = []
    rates: list[Estimate] = []
    for chosen in (state == 1, state == 0):
        violations = int(hit[chosen].sum())
        counts.append((violations, int(chosen.sum()) - violations))
        rates.append(rate(hit[chosen], None if codes is None else codes[chosen]))
    table = counts[0], counts[1]
    difference = unpaired(rates[0], rates[1], "square-and-add, unpaired")
    if not difference:
        difference = NoInterval("one of the two states has no interval", None, difference.n)
    alone = codes is None or len(np.unique(codes)) == len(codes)
    return BySurvival(difference, table, exact.fisher(table) if alone else None)


def mediate(
    arms: Mapping[str, npt.ArrayLike],
    labels: Labels | None = None,
    *,
    degenerate: npt.ArrayLike | None = None,
) -> Mediation:
    """Compute the share of compaction's effect that the deletion of the policy mediates.

    ``arms`` has the violations, 0 or 1, of the same episodes in each of ``CONDITIONS``.
    """
    control, compaction, removed, restored = (np.asarray(arms[name]) for name in CONDITIONS)
    total, direct = (compare(control, arm, labels) for arm in (compaction, restored))
    useful = np.ones(len(removed), bool) if degenerate is None else ~np.asarray(degenerate, bool)
    codes = np.arange(len(removed)) if labels is None else clusters.codes_of(labels)
    deletion = None
    if useful.any():
        deletion = compare(restored[useful], removed[useful], codes[useful])
    counted = int((~useful).sum())
    share = share_carried(total.difference, direct.difference)
    return Mediation(total, direct, deletion, share, counted, total.n)


def share_carried(total: Estimate, direct: Estimate) -> Estimate:
    """Return 1 - direct / total, with limits from those of both (Donner and Zou 2012).

    The limits are the ratios for which the interval of direct - ratio * total just
    includes 0. Both differences have the same control arm, so they are positively
    correlated. For a ratio above 0, taking them as uncorrelated makes the interval wider, not
    narrower; for one below 0 they are taken as fully correlated, which does the same.
    """
    if not isinstance(total, Interval) or not isinstance(direct, Interval):
        return NoInterval("no interval of the effects", None, total.n)
    if total.lower <= 0:
        return NoInterval("compaction's effect is not distinguishable from none", None, total.n)
    limits = [1 - _ratio(direct, total, side) for side in (1, -1)]
    name = "ratio of paired differences (Donner-Zou)"
    return around(1 - direct.estimate / total.estimate, limits[0], limits[1], None, total.n, name)


def _ratio(direct: Interval, total: Interval, side: int) -> float:
    """The upper (side 1) or lower (side -1) limit of direct / total, for total above 0."""
    middle = direct.estimate / total.estimate

    def inside(step: float) -> float:
        ratio = middle + side * step
        # Negative if the interval of direct - ratio * total excludes 0.
        gap = abs(direct.estimate - ratio * total.estimate)
        reach = direct.upper - direct.estimate if side > 0 else direct.estimate - direct.lower
        away = side * ratio > 0
        turn = total.estimate - total.lower if away else total.upper - total.estimate
        joined = np.hypot(reach, ratio * turn) if ratio > 0 else reach - ratio * turn
        return float(joined) - gap

    near, far = 0.0, 1.0
    while inside(far) > 0 and far < 1e9:
        far *= 2
    # Halved to the last digit: a root finder's package takes longer to import than all of this.
    while near < (half := (near + far) / 2) < far:
        near, far = (half, far) if inside(half) > 0 else (near, half)
    return middle + side * near
