"""The episodes of a store as numbers: cells, clusters and pairs, without an object per episode.

``report.page.source`` and ``report.page.design`` compute the same of a frame. Here it is
computed of categorical columns, once for each distinct combination of values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from constraintrot.episode.facts import CLUSTER, KEYS, REQUEST
from constraintrot.errors import ConstraintRotError
from constraintrot.grading.outcome_status import SILENT
from constraintrot.report import stored
from constraintrot.report.episode_counts import ERRORED, NOT_PLAYED
from constraintrot.report.page import design
from constraintrot.report.page.frames import plain
from constraintrot.stats.matching import Positions, dense, numbered, united

VALUES = ("violation", "survived", "utility", "over_refusal")
_TEXTS = tuple(dict.fromkeys((*KEYS, "status", "outcome")))
_ARM = ("condition", "attack", "defense", "distractors")


@dataclass(frozen=True)
class Cell:
    """The agent, arm and setting that the episodes of a cell share.

    Attributes:
        agent: the agent.
        arm: name of the arm (``design.arm``).
        setting: values of ``design.SETTINGS``.
        allowed: whether what is asked for is allowed.
    """

    agent: str
    arm: str
    setting: tuple[object, ...]
    allowed: bool

    @property
    def words(self) -> str:
        """The setting as text."""
        return design.words(dict(zip(design.SETTINGS, self.setting, strict=True)))

    @property
    def place(self) -> tuple[str, str, str, bool]:
        """The sort key of the tables."""
        return self.agent, self.arm, self.words, self.allowed


@dataclass(frozen=True)
class Episodes:
    """Played episodes, each once.

    Attributes:
        cells: the distinct cells, in the order of their places.
        rows: by cell, the positions of its episodes.
        cluster: by episode, the number of its cluster, in the order of the clusters' texts.
        pair: by episode, a number that its twins in other cells share.
        values: by name, the scores; nan for an unscored episode.
        silent: by episode, whether it made no readable call.
        planned: number of planned episodes.
        errored: number of those that ended in an error.
        repeated: number of episodes that are in several cells of the store, and count once.
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
        """Number of episodes."""
        return len(self.pair)


def episodes(given: Sequence[stored.Stored]) -> Episodes:
    """Read the episodes of a store.

    An episode that several cells have (a control, of runs with other compactors) counts once,
    as in the whole report: the newest.

    Raises:
        ConstraintRotError: a frame cannot be read, or no episode is finished.
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
    """Return the position of the last chosen episode of each key; ascending."""
    at = np.flatnonzero(chosen)
    found = np.full(int(keys.max(initial=-1)) + 1, -1, np.intp)
    found[keys[at]] = at
    return np.sort(found[found >= 0])


def _cells(frame: pd.DataFrame) -> tuple[list[Cell], list[Positions]]:
    """Return the cells, sorted by their places, and the positions of each cell's episodes."""
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
    """Return the cluster of each episode, as ``arms.labels`` computes it."""
    asked = frame["request"].notna().to_numpy()
    if not asked.any():
        return numbered([frame], CLUSTER)
    of_seed, of_text = (numbered([frame], names) for names in ((*CLUSTER, "allowed"), REQUEST))
    return dense(united(of_seed, of_text, asked))[0]
