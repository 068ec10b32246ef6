"""The episodes of stores as numbers: cells, clusters and pairs, without an object an episode.

What ``report.page.source`` and ``report.page.design`` compute of a frame is computed here of
coded columns: once for each distinct value or combination of values, not once an episode.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from constraintrot.episode.facts import KEYS
from constraintrot.errors import ConstraintRotError
from constraintrot.grading.outcome_status import SILENT
from constraintrot.report.episode_counts import ERRORED, NOT_PLAYED
from constraintrot.report.page import design
from constraintrot.report.page.frames import plain
from constraintrot.report.store.columns import Coded, Columns, read
from constraintrot.report.stored import Stored
from constraintrot.stats.matching import Positions, dense, united

TEXTS = tuple(dict.fromkeys((*KEYS, "status", "outcome")))
VALUES = ("violation", "survived", "utility", "over_refusal")
# Combinations that a table may have, however few the episodes are.
_SMALL = 1 << 20
_ARM = ("condition", "attack", "defense", "distractors")


@dataclass(frozen=True, order=True)
class Cell:
    """What the episodes of a cell have in common.

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


@dataclass
class Episodes:
    """Played episodes, each once.

    Attributes:
        cells: the distinct cells.
        cell: by episode, the number of its cell.
        cluster: by episode, the number of its cluster, in the order of the clusters' texts.
        pair: by episode, a number that its twins in other cells share, in the order of
            family, seed and replicate.
        cluster_of_pair: by number of a pair, the number of its cluster.
        values: by name, the scores; nan where there is none.
        silent: which episodes made no readable call.
        planned: number of planned episodes.
        errored: number of those that ended in an error.
        repeated: number of episodes that are in several cells of the stores, and count once.
    """

    cells: list[Cell]
    cell: Positions
    cluster: Positions
    pair: Positions
    cluster_of_pair: Positions
    values: dict[str, npt.NDArray[np.float32]]
    silent: npt.NDArray[np.bool_]
    planned: int
    errored: int
    repeated: int


def episodes(given: Sequence[Stored]) -> Episodes:
    """Read the episodes of stores.

    An episode that several cells have (a control, of runs with other compactors) counts once,
    as in the whole report: the newest.

    Raises:
        ConstraintRotError: a frame cannot be read, or no episode is finished.
    """
    if len(given) > 1:
        raise ConstraintRotError("an overview is of one store; give one")
    columns = read(given[0].store, given[0].commits, TEXTS, VALUES, ("request",))
    facts = {name: coded.mapped(plain) for name, coded in columns.texts.items()}
    facts["allowed"] = facts["allowed"].mapped(lambda one: one is True or one == "True")
    keys = combined([facts[name] for name in KEYS])
    lost = _is(facts["status"], lambda one: one in (ERRORED, NOT_PLAYED))
    finished = _last(keys, ~lost)
    if not len(finished):
        raise ConstraintRotError(f"no finished episode in {given[0].store.url}")
    played = np.zeros(int(keys.max()) + 1, bool)
    played[keys[finished]] = True
    missing = _last(keys, lost & ~played[keys])
    errored = _is(facts["status"], lambda one: one == ERRORED)[missing]
    repeated = int((~lost).sum()) - len(finished)
    return _numbered(
        _taken(columns, facts, finished, not repeated and not lost.any()),
        columns.ids["request"][finished],
        len(finished) + len(missing), int(errored.sum()), repeated,
    )  # fmt: skip


def combined(columns: Sequence[Coded]) -> Positions:
    """By episode, a number for its combination of values: 0, 1, 2 ...

    Args:
        columns: coded columns of the same episodes.
    """
    ids, count = np.zeros(len(columns[0].codes), np.intp), 1
    for column in columns:
        if len(column.values) < 2:
            continue
        # Before the product leaves 64 bits, and while its table is small.
        if count * len(column.values) > max(_SMALL, len(ids)):
            ids, count = dense(ids)
        ids *= len(column.values)
        ids += column.codes
        count *= len(column.values)
    return dense(ids)[0]


def _table(columns: Sequence[Coded]) -> tuple[Positions, list[tuple[object, ...]]]:
    """As ``combined``, with each combination's values, of columns with few combinations."""
    ids = combined(columns)
    first = np.zeros(int(ids.max(initial=-1)) + 1, np.intp)
    first[ids[::-1]] = np.arange(len(ids) - 1, -1, -1)
    kinds = [tuple(column.values[column.codes[at]] for column in columns) for at in first]
    return ids, kinds


def _is(column: Coded, test: Callable[[object], bool]) -> npt.NDArray[np.bool_]:
    results = np.asarray([test(value) for value in column.values], bool)
    return np.asarray(results[column.codes], np.bool_)


def _last(keys: Positions, chosen: npt.NDArray[np.bool_]) -> Positions:
    """Of the chosen episodes with equal keys, the position of the last; ascending."""
    at = np.flatnonzero(chosen)
    found = np.full(int(keys.max(initial=-1)) + 1, -1, np.intp)
    found[keys[at]] = at
    return np.sort(found[found >= 0])


def _taken(
    columns: Columns, facts: dict[str, Coded], at: Positions, everything: bool
) -> tuple[dict[str, Coded], dict[str, npt.NDArray[np.float32]]]:
    if everything:
        return facts, columns.numbers
    for name in list(facts):
        facts[name] = Coded(facts[name].codes[at], facts[name].values)
    return facts, {name: values[at] for name, values in columns.numbers.items()}


def _numbered(
    taken: tuple[dict[str, Coded], dict[str, npt.NDArray[np.float32]]],
    requests: npt.NDArray[np.int64],
    planned: int,
    errored: int,
    repeated: int,
) -> Episodes:
    facts, values = taken
    cell, cells = _cells(facts)
    cluster = _clusters(facts, requests)
    pair, cluster_of_pair = _pairs(facts, cluster)
    return Episodes(
        cells, cell, cluster, pair, cluster_of_pair, values,
        _is(facts["outcome"], lambda one: one in SILENT), planned, errored, repeated,
    )  # fmt: skip


def _cells(facts: dict[str, Coded]) -> tuple[Positions, list[Cell]]:
    """The cell of each episode, and the cells, sorted."""
    names = (*_ARM, "summarizer", "agent", "allowed", *_PLAIN_SETTINGS)
    ids, kinds = _table([facts[name] for name in names])
    cells: list[Cell] = []
    for kind in kinds:
        of = dict(zip(names, kind, strict=True))
        of["summary_by"] = design.summary_by(of["summarizer"], of["agent"])
        arm = design.arm(*(str(of[name]) for name in _ARM))
        setting = tuple(_value(of[name]) for name in design.SETTINGS)
        cells.append(Cell(str(of["agent"]), arm, setting, bool(of["allowed"])))
    distinct = list(dict.fromkeys(cells))
    number = {one: at for at, one in enumerate(distinct)}
    return np.asarray([number[one] for one in cells], np.intp)[ids], distinct


_PLAIN_SETTINGS = tuple(name for name in design.SETTINGS if name != "summary_by")


def _value(value: object) -> object:
    """A setting's value; whichever way it does not apply, it is ``none``."""
    return "none" if design.is_none(value) else value


def _clusters(facts: dict[str, Coded], requests: npt.NDArray[np.int64]) -> Positions:
    """Return the cluster of each episode, as ``arms.labels`` has it; a request of 0 is unknown."""
    (family, _), (seed, seeds) = (ranked(facts[name], str) for name in ("family", "seed"))
    variant = family * seeds + seed
    if not requests.any():
        return dense(variant)[0]
    allowed = facts["allowed"].mapped(bool)
    asked = combined([facts["family"], allowed])
    variants = dense(2 * variant + ranked(allowed, bool)[0])[0]
    texts = np.unique(requests, return_inverse=True)[1]
    of_text = dense(asked * (int(texts.max()) + 1) + texts)[0]
    return dense(united(variants, of_text, requests != 0))[0]


def _pairs(facts: dict[str, Coded], clusters: Positions) -> tuple[Positions, Positions]:
    ranks = [ranked(facts[name], None) for name in ("family", "seed", "replicate")]
    family, seed, replicate = (one for one, _ in ranks)
    variants = dense(family * ranks[1][1] + seed)[0]
    pairs = dense(variants * ranks[2][1] + replicate)[0]
    of_pair = np.zeros(int(pairs.max(initial=-1)) + 1, np.intp)
    of_pair[pairs] = clusters
    # Differences are of prohibited requests.
    prohibited = ~_is(facts["allowed"], bool)
    of_pair[pairs[prohibited]] = clusters[prohibited]
    return pairs, of_pair


def ranked(column: Coded, as_: Callable[[object], Any] | None) -> tuple[Positions, int]:
    """The rank of each episode's value among the distinct ones, and how many there are.

    Args:
        column: the column.
        as_: what the values are compared as; None for numbers before texts, by size.
    """

    def key(value: object) -> Any:
        if as_ is not None:
            return as_(value)
        return (1, 0.0, str(value)) if isinstance(value, str) else (0, _number(value), "")

    keys = [key(value) for value in column.values]
    order = {one: at for at, one in enumerate(sorted(set(keys)))}
    return np.asarray([order[one] for one in keys], np.intp)[column.codes], len(order)


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else float("inf")
