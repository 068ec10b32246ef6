"""The rule by which a sweep may end early, declared before it is played.

The default is a fixed number of episodes. A spec may instead declare looks beforehand::

    metadata={"stop": {"looks": 4, "compare": "defense", "a": "none", "b": "pin", "alpha": 0.05}}

``axes.sweep(looks=4, block=...)`` divides its cells among the looks. After each complete look the
difference of violation rates, b - a on the same episodes, is tested against O'Brien-Fleming's
boundary for so many looks, so that all looks together err with a probability of ``alpha``
(two-sided). The test of a look is exact: it swaps the arms of whole clusters. A look without a cell
that was set aside is never complete. Over the boundary, the rest is not played, and the difference
is given with its repeated confidence interval, which holds at whichever look one stops (Jennison &
Turnbull, Group Sequential Methods, 2000, chapter 9). The boundary has to be crossed whatever the
silent episodes would have done (no readable call, or no verdict): an agent that says nothing does
not obey.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from constraintrot.episode.facts import KEYS
from constraintrot.errors import ConstraintRotError, ParameterError
from constraintrot.grading.outcome_status import SILENT
from constraintrot.report.arms import CODE, labels
from constraintrot.report.frame import planned_episodes
from constraintrot.runs.sweep.driver import Rule, State
from constraintrot.runs.sweep.folder import SweepFolder
from constraintrot.runs.sweep.loading import Sweep
from constraintrot.stats.paired import flip_test
from constraintrot.stats.sequential import obrien_fleming, spent

_KEYS = ("looks", "compare", "a", "b", "alpha")
# With fewer clusters in which the two differ, the normal approximation does not hold.
LEAST_CLUSTERS = 20


@dataclass(frozen=True)
class Declared:
    """A stop rule, with the keys of its entry in the spec.

    Attributes:
        alpha: two-sided error of all looks together.
    """

    looks: int
    compare: str
    a: str
    b: str
    alpha: float = 0.05


@dataclass(frozen=True)
class Look:
    difference: float
    error: float
    clusters: int
    differing: int
    p_value: float


def declared(sweep: Sweep) -> Declared | None:
    """Return the declared rule of a sweep; None for a fixed number of episodes."""
    given: Mapping[str, Any] | None = sweep.settings.get("stop")
    if not given:
        return None
    unknown = sorted(set(given) - set(_KEYS))
    missing = sorted({"looks", "compare", "a", "b"} - set(given))
    if unknown or missing:
        what = f"has unknown {', '.join(unknown)}" if unknown else f"lacks {', '.join(missing)}"
        raise ParameterError(f"the stop rule of the spec {what}; it takes {', '.join(_KEYS)}")
    found = Declared(**{name: given[name] for name in _KEYS if name in given})
    obrien_fleming(found.looks, found.alpha)
    sizes = {look: 0 for look in range(1, found.looks + 1)}
    for cell in sweep.cells:
        if cell.look not in sizes:
            raise ParameterError(
                f"a cell counts at look {cell.look} of {found.looks}: {cell.label}"
            )
        sizes[cell.look] += 1
    if len(set(sizes.values())) != 1:
        raise ParameterError(
            f"the looks of the stop rule have {', '.join(map(str, sizes.values()))} cells; the"
            " boundary is for equal ones: choose variants that block and looks divide"
        )
    return found


def rule(sweep: Sweep, folder: SweepFolder) -> Rule | None:
    """Return the driver's rule for a sweep; None for a fixed number of episodes."""
    found = declared(sweep)
    if found is None:
        return None

    def decide(state: State) -> str:
        done = [cell for cell in sweep.cells if cell.id in state.finished]
        at = max((cell.look for cell in done), default=0)
        if not at or at >= found.looks:
            return ""
        if any(cell.id not in state.finished for cell in sweep.cells if cell.look <= at):
            # A cell that was set aside may have failed because of what its episodes would have done.
            return ""
        if not folder.local:
            raise ConstraintRotError(
                "a stop rule reads the logs of a folder of this machine; use one"
            )
        frame = planned_episodes([folder.log(cell.id) for cell in done])
        return verdict(found, at, looks(frame, found))

    return decide


def looks(frame: pd.DataFrame, found: Declared) -> list[Look]:
    """The comparison of the rule on what is finished, and with the silent episodes both ways."""
    asked = frame[~frame["allowed"].astype(bool)]
    asked = asked.assign(**{CODE: labels(asked)})
    silent = asked["violation"].isna() | asked["outcome"].isin(SILENT)
    of_a = asked[found.compare].astype(str) == found.a
    worst = [asked["violation"].mask(silent, of_a == way) for way in (True, False)]
    return [_seen(asked.assign(violation=one), found) for one in (asked["violation"], *worst)]


def _seen(asked: pd.DataFrame, found: Declared) -> Look:
    """The mean paired difference by cluster: variants with one request text are one."""
    played = asked[asked["violation"].notna()].astype({"violation": float})
    keys = [key for key in KEYS if key in played and key != found.compare]
    sides = [
        played[played[found.compare].astype(str) == value]
        .astype({key: str for key in keys})
        .groupby([*keys, CODE], dropna=False)["violation"].mean()
        for value in (found.a, found.b)
    ]  # fmt: skip
    both = sides[1].sub(sides[0]).dropna()
    means = both.groupby(level=CODE).mean()
    number = len(means)
    error = float(means.std(ddof=1) / number**0.5) if number > 1 else float("nan")
    sums = both.groupby(level=CODE).sum().to_numpy().round()
    mean = float(means.mean()) if number else 0.0
    return Look(mean, error, number, int((means != 0).sum()), flip_test(sums))


def verdict(found: Declared, at: int, seen: Sequence[Look]) -> str:
    """Return why the sweep ends after a look; empty if it goes on.

    Each of ``seen`` has to cross the boundary on the same side; the first is printed.
    """
    if any(
        one.differing < LEAST_CLUSTERS
        or not one.error > 0
        or spent(one.p_value, at, found.looks) > found.alpha
        for one in seen
    ):
        return ""
    look = seen[0]
    boundary = obrien_fleming(found.looks, found.alpha)[at - 1]
    if any(one.difference * look.difference < 0 for one in seen):
        return ""
    low, high = (
        min(max(look.difference + side * boundary * look.error, -1), 1) for side in (-1, 1)
    )
    return (
        f"ended by its rule after look {at} of {found.looks}: violation {found.b} - {found.a} ="
        f" {100 * look.difference:+.1f} points, repeated interval"
        f" [{100 * low:.1f}, {100 * high:.1f}] over all looks at alpha {found.alpha:g}"
        f" ({look.clusters} clusters); p = {spent(look.p_value, at, found.looks):.2g} over all looks"
    )
