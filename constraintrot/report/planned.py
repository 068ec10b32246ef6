"""Inspect logs as a frame of all planned episodes: those that did not come back too.

An episode that ended in an error, or that was never begun because its run was stopped, has no
verdict. It is lost for a reason that may depend on what it would have done, so a decision must
count it as unknown instead of leaving it out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from math import nan
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from constraintrot.errors import ConstraintRotError
from constraintrot.grading.outcome_status import MISSING
from constraintrot.report.frame import is_finished, paths, row_of, sample_row, samples
from constraintrot.stats.frames import KEYS

if TYPE_CHECKING:
    import pandas as pd
    from inspect_ai.log import EvalLog, EvalSample

Row: TypeAlias = dict[str, Any]
Planned: TypeAlias = tuple[str, int]
"""A sample's id, and its epoch."""

PLANNED = "planned"
"""A column that is there where the frame has a row for every planned episode."""

# As tasks name their samples: soft_email.en-3-compaction, and -pin where there are several.
_ID = re.compile(r"(?P<family>.+)\.(?P<locale>[^.]+?)-(?P<seed>\d+)-(?P<arm>[^-]+(?:-.*)?)")
# Settings that a solver fills in: they are not in the metadata of what was never begun.
_FILLED_IN = ("agent", "scaffold", "summarizer")


@dataclass
class _Run:
    """A run and its retries, which have one task id.

    Attributes:
        header: header of its newest log.
        log: name of that log.
        planned: its samples; each epoch is one.
        finished: rows of its finished samples.
        errors: its samples that have no verdict.
    """

    header: EvalLog
    log: str
    planned: set[Planned] = field(default_factory=set[Planned])
    finished: dict[Planned, Row] = field(default_factory=dict[Planned, Row])
    errors: dict[Planned, EvalSample] = field(default_factory=dict[Planned, "EvalSample"])


def planned_episodes(logs: Iterable[str | Path]) -> pd.DataFrame:
    """Read all planned episodes of logs.

    Args:
        logs: log files, or folders of them.

    Returns:
        What ``report.frame.episodes`` returns, and a row for each planned episode without a
        verdict, whose ``outcome`` is ``MISSING`` and whose scores are nan. An episode that is
        finished in any log is not missing. The column ``planned`` is true.

    Raises:
        ConstraintRotError: as ``report.frame.episodes``.
    """
    import pandas as pd

    runs: dict[str, _Run] = {}
    finished: dict[str, Row] = {}
    given = list(logs)
    for path in paths(given):
        for header, sample in samples(path):
            run = runs.setdefault(header.eval.task_id, _Run(header, path.name))
            if sample is None:
                run.planned |= set(_planned(header))
            elif is_finished(sample):
                row = sample_row(header, sample, path.name)
                finished[str(row.pop("uuid"))] = row
                run.finished[str(sample.id), sample.epoch] = row
            else:
                run.errors[str(sample.id), sample.epoch] = sample
    if not finished:
        raise ConstraintRotError(
            f"no finished ConstraintRot episode in {', '.join(map(str, given)) or 'nothing'};"
            " give an Inspect log of a constraintrot task, or a folder of them"
        )
    rows = [*finished.values()]
    lost = [row for run in runs.values() for row in _lost(run)]
    frame = pd.DataFrame([*rows, *lost]).assign(**{PLANNED: True})
    keys = [key for key in KEYS if key in frame]
    again = frame.astype({key: str for key in keys}).duplicated(keys) & (
        frame["outcome"] == MISSING
    )
    return frame[~again].reset_index(drop=True)


def _planned(header: EvalLog) -> Iterator[Planned]:
    of = header.eval
    ids = of.dataset.sample_ids or [f"sample {at}" for at in range(of.dataset.samples or 0)]
    for name in ids:
        for epoch in range(1, (of.config.epochs or 1) + 1):
            yield str(name), epoch


def _lost(run: _Run) -> Iterator[Row]:
    """Rows of a run's planned episodes that have no verdict."""
    known = {_parts(name)["arm"]: row for (name, _), row in run.finished.items()}
    anyone = next(iter(run.finished.values()), None)
    for name, epoch in sorted(run.planned - set(run.finished)):
        failed = run.errors.get((name, epoch))
        parts = _parts(name)
        like = known.get(parts["arm"], anyone)
        facts = _of_sample(failed, like, run.header) if failed else _of_id(parts, like)
        if facts is None:
            continue
        row = row_of(
            facts | {"replicate": epoch - 1},
            {"violation": nan},
            [],
            log=run.log,
            task=run.header.eval.task,
            outcome=MISSING,
            reason=failed.error.message if failed and failed.error else "was not finished",
            seconds=None,
        )
        yield row | {"over_refusal": None}


def _parts(name: str) -> dict[str, str]:
    """What a sample's id says; of an id of another form, an episode of its own."""
    read = _ID.fullmatch(name)
    return read.groupdict() if read else {"seed": name, "arm": name}


def _of_sample(sample: EvalSample, like: Row | None, header: EvalLog) -> Row:
    """The facts of a sample that was begun; what its solver did not get to fill in is added."""
    facts = dict(sample.metadata)
    agent = (header.eval.model_roles or {}).get("agent")
    model = header.eval.model if agent is None or isinstance(agent, list) else agent.model
    filled = dict.fromkeys(_FILLED_IN, "none") | {"agent": model} if like is None else like
    if facts.get("agent") in (None, "none"):
        facts |= {name: filled[name] for name in _FILLED_IN}
    return facts


def _of_id(parts: dict[str, str], like: Row | None) -> Row | None:
    """The facts of a sample that was not begun, from its id and a finished one of its run."""
    if like is None:
        return None
    facts = {name: like[name] for name in (*KEYS, "kind") if name in like}
    for name in ("family", "locale", "seed"):
        if name in parts:
            facts[name] = int(parts[name]) if parts[name].isdecimal() else parts[name]
    condition, dash, defense = parts["arm"].partition("-")
    if "family" in parts:
        facts["condition"] = condition
    if dash:
        facts["defense"] = defense
    return facts
