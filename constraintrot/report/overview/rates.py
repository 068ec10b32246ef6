"""Every rate and every paired difference of a store, of ``overview.episodes``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from constraintrot.grading.outcome_status import SILENCE
from constraintrot.report import contrasts
from constraintrot.report.overview.episodes import Cell, Episodes
from constraintrot.report.page import compared, design
from constraintrot.stats.interval import Estimate
from constraintrot.stats.matching import Positions
from constraintrot.stats.paired import Comparison, compare, family
from constraintrot.stats.rate import rate

AGAIN = "an arm has an episode more than once at this setting"
# The whole report leaves their degenerate episodes out, and a store's columns do not name them.
_DEGENERATE = (contrasts.SHAM, contrasts.REMOVED)
# The scores of prohibited and of allowed requests.
_OF = {False: ("violation", "survived"), True: ("utility", "over_refusal")}


@dataclass(frozen=True)
class Rate:
    """The rate of a score in a cell.

    Attributes:
        cell: the cell.
        value: the score.
        estimate: its rate, with its interval.
        silent: number of episodes without a readable call, of violation; else 0.
    """

    cell: Cell
    value: str
    estimate: Estimate
    silent: int

    @property
    def unreliable(self) -> bool:
        """Return whether more than a tenth of the episodes are silent."""
        return self.silent > SILENCE * self.estimate.n


@dataclass(frozen=True)
class Difference:
    """Violation in arm b less that in arm a, of one agent at b's setting.

    Attributes:
        cell: the cell of arm b.
        a: name of the first arm.
        comparison: the comparison, adjusted over all of the overview; None without pairs.
        reason: why there are no pairs.
    """

    cell: Cell
    a: str
    comparison: Comparison | None
    reason: str = ""


def rates(given: Episodes) -> Iterator[Rate]:
    """Yield the rates of all cells."""
    for cell, all_rows in zip(given.cells, given.rows, strict=True):
        for value in _OF[cell.allowed]:
            scores = given.values[value]
            rows = all_rows[~np.isnan(scores[all_rows])]
            if len(rows):
                silent = int(given.silent[rows].sum()) if value == "violation" else 0
                yield Rate(cell, value, rate(scores[rows], given.cluster[rows]), silent)


def differences(given: Episodes) -> list[Difference]:
    """Compare every arm at every setting with the arm that it differs from in one thing.

    The pairs of arms are those of the whole report, without the deletion and its sham;
    Holm's adjustment is over all of them.
    """
    found = list(_differences(given))
    adjusted = iter(family([one.comparison for one in found if one.comparison is not None]))
    return [
        one if one.comparison is None else replace(one, comparison=next(adjusted)) for one in found
    ]


def _differences(given: Episodes) -> Iterator[Difference]:
    by_agent: dict[str, list[int]] = {}
    for at, one in enumerate(given.cells):
        if not one.allowed:
            by_agent.setdefault(one.agent, []).append(at)
    for mine in by_agent.values():
        arms = sorted({given.cells[at].arm for at in mine})
        for a, b in compared.pairs(arms):
            if (a, b) == _DEGENERATE:
                continue
            for at in (at for at in mine if given.cells[at].arm == b):
                cell = given.cells[at]
                others = [other for other in mine if given.cells[other].arm == a]
                fitting = [given.rows[at] for at in others if _fits(given.cells[at], cell)]
                if fitting:
                    yield _difference(given, cell, a, fitting, given.rows[at])


def _fits(a: Cell, b: Cell) -> bool:
    """Return whether both have one setting, as far as it applies to both."""
    free = "long_context" in (a.arm, b.arm)
    return all(
        left == right or "none" in (left, right) or (free and name == "context_tokens")
        for name, left, right in zip(design.SETTINGS, a.setting, b.setting, strict=True)
    )


def _difference(
    given: Episodes, cell: Cell, a: str, first: Sequence[Positions], second: Positions
) -> Difference:
    scores = given.values["violation"]
    both = [np.concatenate(first), second]
    if any(len(np.unique(given.pair[rows])) < len(rows) for rows in both):
        return Difference(cell, a, None, AGAIN)
    both = [rows[~np.isnan(scores[rows])] for rows in both]
    shared, *at = np.intersect1d(
        given.pair[both[0]], given.pair[both[1]], assume_unique=True, return_indices=True
    )
    if not len(shared):
        return Difference(cell, a, None, "no episode has a violation in both arms")
    of_a, of_b = (rows[places] for rows, places in zip(both, at, strict=True))
    return Difference(cell, a, compare(scores[of_a], scores[of_b], given.cluster[of_b]))
