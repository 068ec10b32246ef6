"""Does compaction break a policy because the policy is gone from the context.

The paper's (section 5) two questions: does violation follow survival, and does
it come and go when the policy's sentences are taken out of the same summary
and put back.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import optimize, stats

from constraintrot.errors import ParameterError
from constraintrot.stats import clusters
from constraintrot.stats.interval import CONFIDENCE, Estimate, Interval, NoInterval, around
from constraintrot.stats.newcombe import square_and_add
from constraintrot.stats.paired import Comparison, compare
from constraintrot.stats.rate import Labels, rate


@dataclass(frozen=True)
class BySurvival:
    """Violation by whether the context still held the policy.

    Attributes:
        kept: violation rate where it did.
        dropped: violation rate where it did not.
        difference: dropped less kept; the two are different episodes.
        table: ((kept and violated, kept and not), (dropped and violated, dropped and not)).
        p_value: Fisher's exact, two-sided; takes episodes for independent.
    """

    kept: Estimate
    dropped: Estimate
    difference: Estimate
    table: tuple[tuple[int, int], tuple[int, int]]
    p_value: float


@dataclass(frozen=True)
class Mediation:
    """How much of compaction's effect goes through the policy's deletion.

    Attributes:
        total: compaction less control.
        direct: summary_restored less control: what compaction does with the
            policy put back.
        deletion: summary_removed less summary_restored: the policy taken out of
            the same summary, everything else equal.
        share: of the total, what restoring the policy takes away, 1 - direct / total.
        degenerate: pairs whose summary held no policy to remove, or little else.
        n: episodes that all four conditions share.
    """

    total: Comparison
    direct: Comparison
    deletion: Comparison
    share: Estimate
    degenerate: int
    n: int


def by_survival(
    violated: npt.ArrayLike,
    kept: npt.ArrayLike,
    labels: Labels | None = None,
    *,
    confidence: float = CONFIDENCE,
) -> BySurvival:
    """Violation by a yes-or-no survival state.

    Args:
        violated: 0 or 1 an episode.
        kept: 0 or 1 an episode.
        labels: the cluster of each.
        confidence: nominal coverage.
    """
    hit, state = np.asarray(violated, np.float64), np.asarray(kept, np.float64)
    clusters.binary(hit, state)
    rates = by_state(hit, [bool(value) for value in state], labels, confidence=confidence)
    empty = NoInterval("no episodes")
    yes, no = rates.get(True, empty), rates.get(False, empty)
    table = tuple(
        (int((hit[state == value] == 1).sum()), int((hit[state == value] == 0).sum()))
        for value in (1, 0)
    )
    return BySurvival(
        yes,
        no,
        _apart(yes, no),
        (table[0], table[1]),
        float(stats.fisher_exact(np.asarray(table)).pvalue),
    )


def by_state(
    violated: npt.ArrayLike,
    states: Sequence[Hashable],
    labels: Labels | None = None,
    *,
    confidence: float = CONFIDENCE,
) -> dict[Hashable, Estimate]:
    """Violation by a survival state of any number of values, in order of appearance.

    Args:
        violated: 0 or 1 an episode.
        states: preserved, paraphrased, dropped ...; of each episode.
        labels: the cluster of each.
        confidence: nominal coverage.
    """
    hit = np.asarray(violated, np.float64)
    if len(states) != len(hit):
        raise ParameterError(f"{len(states)} survival states for {len(hit)} episodes")
    codes = None if labels is None else clusters.codes_of(labels)
    found: dict[Hashable, Estimate] = {}
    for state in dict.fromkeys(states):
        chosen = np.asarray([one == state for one in states])
        of_state = None if codes is None else codes[chosen]
        found[state] = rate(hit[chosen], of_state, confidence=confidence)
    return found


def mediate(
    arms: Mapping[str, npt.ArrayLike],
    labels: Labels | None = None,
    *,
    degenerate: npt.ArrayLike | None = None,
    confidence: float = CONFIDENCE,
    **options: Any,
) -> Mediation:
    """Share of compaction's effect that the policy's deletion carries.

    Args:
        arms: violation, 0 or 1 an episode, of control, compaction,
            summary_removed and summary_restored; the same episodes in each.
        labels: the cluster of each episode.
        degenerate: whether its summary held no policy to remove, or little else.
        confidence: nominal coverage.
        options: resamples and seed of the bootstrap.

    Raises:
        ParameterError: a condition is missing, or they differ in length.
    """
    names = ("control", "compaction", "summary_removed", "summary_restored")
    if missing := [name for name in names if name not in arms]:
        raise ParameterError(f"mediation needs the conditions {', '.join(missing)} too")
    control, compaction, removed, restored = (np.asarray(arms[name]) for name in names)
    total, direct, deletion = (
        compare(a, b, labels, confidence=confidence, **options)
        for a, b in ((control, compaction), (control, restored), (restored, removed))
    )
    counted = 0 if degenerate is None else int(np.asarray(degenerate, bool).sum())
    share = share_carried(total.difference, direct.difference)
    return Mediation(total, direct, deletion, share, counted, total.n)


def share_carried(total: Estimate, direct: Estimate) -> Estimate:
    """1 - direct / total, with limits from those of both (Donner and Zou 2012).

    They are the ratios whose distance from 0 of direct - ratio x total the two
    intervals allow. The two share their control arm and so vary together; that
    they are taken for uncorrelated makes the interval wider, not narrower.

    Args:
        total: compaction less control.
        direct: restored less control.
    """
    if not isinstance(total, Interval) or not isinstance(direct, Interval):
        return NoInterval("no interval of the effects", None, total.n)
    if total.lower <= 0:
        return NoInterval("compaction's effect is not distinguishable from none", None, total.n)
    limits = [1 - _ratio(direct, total, side) for side in (1, -1)]
    name = "ratio of paired differences (Donner-Zou)"
    return around(1 - direct.estimate / total.estimate, limits[0], limits[1], None, total.n, name)


def _ratio(direct: Interval, total: Interval, side: int) -> float:
    """The upper (side 1) or lower (side -1) limit of direct / total, total above 0."""
    middle = direct.estimate / total.estimate

    def inside(step: float) -> float:
        ratio = middle + side * step
        # Farther from 0 than either interval reaches: then the ratio is no candidate.
        gap = abs(direct.estimate - ratio * total.estimate)
        reach = direct.upper - direct.estimate if side > 0 else direct.estimate - direct.lower
        away = side * ratio > 0
        turn = total.estimate - total.lower if away else total.upper - total.estimate
        return float(np.hypot(reach, ratio * turn)) - gap

    far = 1.0
    while inside(far) > 0 and far < 1e9:
        far *= 2
    return middle + side * float(optimize.brentq(inside, 0, far))


def _apart(kept: Estimate, dropped: Estimate) -> Estimate:
    """Dropped less kept, of different episodes, from their own intervals."""
    n = kept.n + dropped.n
    if not isinstance(kept, Interval) or not isinstance(dropped, Interval):
        return NoInterval("one of the two states has no interval", None, n)
    ends = [
        (np.asarray(one.estimate), np.asarray(one.lower), np.asarray(one.upper))
        for one in (kept, dropped)
    ]
    lower, upper = square_and_add(ends[0], ends[1], np.zeros(()))
    difference = dropped.estimate - kept.estimate
    return around(difference, float(lower), float(upper), None, n, "square-and-add, unpaired")
