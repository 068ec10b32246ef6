"""Groups of pooled episodes that show the contrary of the pooled result.

Pooling can hide a family in which b violates more among others in which it violates less, so
every value of every pooled fact is checked.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from constraintrot.episode.facts import KEYS
from constraintrot.report.compare_outcomes import Outcomes
from constraintrot.stats import clusters
from constraintrot.stats.interval import Interval
from constraintrot.stats.paired import flip_test
from constraintrot.stats.rate import rate

# A family reversed in three pairs of three is named, though its exact test has p = .25.
_REVERSED = 0.25
_LEAST_PAIRS = 3
# They distinguish single episodes, not groups.
_NO_GROUPS = ("seed", "replicate", "allowed")


@dataclass(frozen=True)
class Group:
    """A group that shows the contrary.

    Attributes:
        counts: what was counted, for a reader.
        clear: whether the group alone shows it, by an exact test or an interval. For a family
            p = .25 suffices, which three pairs of three have.
    """

    fact: str
    value: str
    counts: str
    clear: bool

    def __str__(self) -> str:
        return f"{self.fact}={self.value} ({self.counts})"


def contrary(outcomes: Outcomes, harm: float, limit: float, confidence: float) -> tuple[Group, ...]:
    """Return the groups of pairs in which b is worse than a by more than a limit.

    The worse outcome is ``harm``: 1 for violation, 0 for utility. A group is clear if its exact
    test rejects at 1 - confidence.
    """
    sign = 1 if harm else -1
    worse = sign * (outcomes.scores("b") - outcomes.scores("a"))
    found: list[Group] = []
    for fact, value, of_group in _groups(outcomes):
        chosen = of_group & ~np.isnan(worse)
        net = worse[chosen]
        if not len(net) or net.mean() <= limit:
            continue
        summed = clusters.group([net], outcomes.labels[chosen]).column(0)
        only_a, only_b = int((sign * net == -1).sum()), int((sign * net == 1).sum())
        counts = f"of {len(net)} pairs a only {only_a}, b only {only_b}"
        p_value = flip_test(summed)
        reversed_ = fact == "family" and len(net) >= _LEAST_PAIRS and p_value <= _REVERSED
        found.append(Group(fact, value, counts, reversed_ or p_value <= 1 - confidence))
    return tuple(found)


def contrary_rates(outcomes: Outcomes, limit: float, confidence: float) -> tuple[Group, ...]:
    """Return the groups whose rate in b is above a limit; clear if the interval is above it too."""
    scores = outcomes.scores("b")
    found: list[Group] = []
    for fact, value, of_group in _groups(outcomes):
        chosen = of_group & ~np.isnan(scores)
        if not chosen.any() or scores[chosen].mean() <= limit:
            continue
        of_b = rate(scores[chosen], outcomes.labels[chosen], confidence=confidence)
        clear = isinstance(of_b, Interval) and of_b.lower > limit
        found.append(Group(fact, value, f"b violates {of_b.k}/{of_b.n}", clear))
    return tuple(found)


def _groups(outcomes: Outcomes) -> Iterator[tuple[str, str, npt.NDArray[np.bool_]]]:
    for fact in KEYS:
        if fact in _NO_GROUPS or fact not in outcomes.facts:
            continue
        codes, kinds = pd.factorize(outcomes.facts[fact], use_na_sentinel=False)
        names = [str(kind) for kind in kinds]
        distinct = list(dict.fromkeys(names))
        for value in distinct if len(distinct) > 1 else ():
            yield fact, value, np.asarray([name == value for name in names])[codes]
