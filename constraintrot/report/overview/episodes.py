"""The episodes of a store as numbers: cells, clusters and pairs, without an object per episode.

``report.page.source`` and ``report.page.design`` compute the same from a frame. This module
uses categorical columns, and computes once for each distinct combination of values.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pandas as pd

from constraintrot.episode.facts import CLUSTER, KEYS, REQUEST
from constraintrot.errors import ConstraintRotError
from constraintrot.grading.outcome_status import SILENCE, SILENT
from constraintrot.report import contrasts, stored
from constraintrot.report.episode_counts import ERRORED, NOT_PLAYED
from constraintrot.report.page import compared, design
from constraintrot.report.page.frames import plain
from constraintrot.stats.bounds import compare_unknown
from constraintrot.stats.interval import Estimate
from constraintrot.stats.matching import Positions, dense, numbered, united
from constraintrot.stats.paired import Comparison, family
from constraintrot.stats.rate import rate

VALUES = ("violation", "survived", "utility", "over_refusal")
_TEXTS = tuple(dict.fromkeys((*KEYS, "status", "outcome")))
_ARM = ("condition", "attack", "defense", "distractors")


@dataclass(frozen=True)
class Cell:
    """The agent, arm (``design.arm``) and ``design.SETTINGS`` of a cell's episodes."""

    agent: str
    arm: str
    setting: tuple[object, ...]
    allowed: bool

    @property
    def words(self) -> str:
        return design.words(dict(zip(design.SETTINGS, self.setting, strict=True)))

    @property
    def place(self) -> tuple[str, str, str, bool]:
        return self.agent, self.arm, self.words, self.allowed


@dataclass(frozen=True)
class Episodes:
    """Played episodes, each once.

    Attributes:
        rows: by cell, the positions of its episodes.
        cluster: by episode, the number of its cluster, in the order of the clusters' texts.
        pair: by episode, a number that its twins in other cells share.
        repeated: number of episodes left out because another cell of the store has them too.
    """

    cells: list[Cell]
    rows: list[Positions]
    cluster: Positions
    pair: Positions
    values: dict[str, npt.NDArray[np.float32]]
    silent: npt.NDArray[np.bool_]
    planned: int
    errored: int
    repeated: int

    @property
    def n(self) -> int:
        return len(self.pair)


def episodes(given: Sequence[stored.Stored]) -> Episodes:
    """Read the episodes of a store.

    An episode that several cells have (a control, of runs with other compactors) counts once,
    as in the whole report: the newest.
    """
    if len(given) > 1:
        raise ConstraintRotError("an overview is of one store; give one")
    frame = stored.frame(given[0], _TEXTS, VALUES, ("request",))
    keys = numbered([frame], KEYS)
    lost = frame["status"].isin([ERRORED, NOT_PLAYED]).to_numpy()
    errored = (frame["status"] == ERRORED).to_numpy()
    finished = _last(keys, ~lost)
    if not len(finished):
        raise ConstraintRotError(f"no finished episode in {given[0].store.url}")
    played = np.zeros(int(keys.max()) + 1, bool)
    played[keys[finished]] = True
    missing = _last(keys, lost & ~played[keys])
    frame = frame if len(finished) == len(frame) else frame.take(finished)
    cells, rows = _cells(frame)
    return Episodes(
        cells, rows, _clusters(frame), numbered([frame], (*CLUSTER, "replicate")),
        {name: frame[name].to_numpy() for name in VALUES},
        frame["outcome"].isin(SILENT).to_numpy(), len(finished) + len(missing),
        int(errored[missing].sum()), int((~lost).sum()) - len(finished),
    )  # fmt: skip


def _last(keys: Positions, chosen: npt.NDArray[np.bool_]) -> Positions:
    at = np.flatnonzero(chosen)
    found = np.full(int(keys.max(initial=-1)) + 1, -1, np.intp)
    found[keys[at]] = at
    return np.sort(found[found >= 0])


def _cells(frame: pd.DataFrame) -> tuple[list[Cell], list[Positions]]:
    settings = [name for name in design.SETTINGS if name != "summary_by"]
    names = list(dict.fromkeys((*_ARM, "summarizer", "agent", "allowed", *settings)))
    ids = numbered([frame], names)
    first = np.zeros(int(ids.max()) + 1, np.intp)
    first[ids] = np.arange(len(ids))
    cells: list[Cell] = []
    for row in frame[names].take(first).to_dict("records"):
        made_by = design.summary_by(row["summarizer"], row["agent"])
        of = {**row, "summary_by": made_by}
        setting = tuple(plain(of[name]) for name in design.SETTINGS)
        arm = design.arm(*(str(row[name]) for name in _ARM))
        cells.append(Cell(str(row["agent"]), arm, setting, bool(row["allowed"])))
    distinct = sorted(set(cells), key=lambda one: one.place)
    number = {one: at for at, one in enumerate(distinct)}
    cell = np.asarray([number[one] for one in cells], np.intp)[ids]
    ends = np.cumsum(np.bincount(cell, minlength=len(distinct)))
    return distinct, np.split(np.argsort(cell, kind="stable"), ends[:-1])


def _clusters(frame: pd.DataFrame) -> Positions:
    asked = frame["request"].notna().to_numpy()
    if not asked.any():
        return numbered([frame], CLUSTER)
    of_seed, of_text = (numbered([frame], names) for names in ((*CLUSTER, "allowed"), REQUEST))
    return dense(united(of_seed, of_text, asked))[0]


AGAIN = "an arm has an episode more than once at this setting"
# The whole report leaves out their degenerate episodes, which a store's columns do not mark.
_DEGENERATE = (contrasts.SHAM, contrasts.REMOVED)
# The scores of prohibited and of allowed requests.
_OF = {False: ("violation", "survived"), True: ("utility", "over_refusal")}


@dataclass(frozen=True)
class Rate:
    """The rate of a score in a cell.

    Attributes:
        silent: number of episodes without a readable call, of violation; else 0.
    """

    cell: Cell
    value: str
    estimate: Estimate
    silent: int

    @property
    def unreliable(self) -> bool:
        return self.silent > SILENCE * self.estimate.n


@dataclass(frozen=True)
class Difference:
    """Violation in arm b less that in arm a, for one agent at b's setting.

    Attributes:
        comparison: the comparison, adjusted over all of the overview; None without pairs.
    """

    cell: Cell
    a: str
    comparison: Comparison | None
    reason: str = ""


def rates(given: Episodes) -> Iterator[Rate]:
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
    _, *at = np.intersect1d(
        given.pair[both[0]], given.pair[both[1]], assume_unique=True, return_indices=True
    )
    of_a, of_b = (rows[places] for rows, places in zip(both, at, strict=True))
    if np.isnan(scores[of_a] + scores[of_b]).all():
        return Difference(cell, a, None, "no episode has a violation in both arms")
    unknown = given.silent[of_a], given.silent[of_b]
    found = compare_unknown(scores[of_a], scores[of_b], given.cluster[of_b], unknown=unknown)
    return Difference(cell, a, found)
