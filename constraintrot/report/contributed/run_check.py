"""The settings of a contributed folder, and contradictions in its files, settings and commands."""

import shlex
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pandas as pd

from constraintrot.episode.facts import Role, names
from constraintrot.errors import ConstraintRotError
from constraintrot.report import qualification, untrusted
from constraintrot.report.compare_question import MISSING_SHARE
from constraintrot.report.contributed.folder import (
    CALLS,
    EPISODES,
    QUALIFICATION,
    RUN,
    Log,
    Run,
    digest,
)
from constraintrot.report.episode_counts import ERRORED, NOT_PLAYED, PLAYED, is_played

SETTINGS = names(Role.SHARED)
"""Facts that all episodes of a folder share; some do not apply to every condition."""
NOTHING = ("", "none", "None", "nan")
_ARM = ("condition", "attack", "defense", "allowed")


@dataclass(frozen=True)
class Finding:
    where: str
    what: str

    def __str__(self) -> str:
        return f"{untrusted.cut(self.where, 300)}: {untrusted.cut(self.what, 600)}"


def files(folder: Path, run: Run) -> Iterator[Finding]:
    """Check that the folder has the name and the files that the run states."""
    if folder.resolve().name != run.name:
        yield Finding(RUN, f"name is {run.name}, and the folder is {folder.resolve().name}")
    named = [EPISODES, CALLS, *([QUALIFICATION] if run.qualification else [])]
    for name in named:
        if digest(folder / name) != run.files.get(name):
            yield Finding(name, f"was changed since {RUN} was written: its SHA-256 is another")


def pooled(run: Run, frame: pd.DataFrame) -> Iterator[Finding]:
    """Check that every episode has the model and the settings that the run states."""
    agents = Counter(text(name) for name in frame[is_played(frame)]["agent"])
    others = Counter(text(name) for name in frame[~is_played(frame)]["agent"])
    others.pop("none", None)  # the agent of an episode that never began may be unknown
    agents += others
    for agent in sorted(agents.keys() - {run.model}):
        yield Finding(
            EPISODES,
            f"{agents[agent]} episodes are of {agent}, and {RUN} says {run.model}; results of two"
            " models are two folders",
        )
    for name in SETTINGS:
        values = values_of(frame, name)
        if len(values) > 1:
            yield Finding(
                EPISODES, f"pools {name} {' and '.join(values)}; give each a folder of its own"
            )
        elif values and values[0] != run.settings.get(name):
            told = run.settings.get(name, "nothing")
            yield Finding(EPISODES, f"{name} is {values[0]}, and {RUN} says {told}")


def unplayed(frame: pd.DataFrame) -> Iterator[Finding]:
    """Check that every episode has a known status, and that one was played."""
    for status in sorted({text(one) for one in frame["status"]} - {PLAYED, ERRORED, NOT_PLAYED}):
        yield Finding(EPISODES, f"an episode has the status {status}, which is none")
    if not is_played(frame).any():
        yield Finding(EPISODES, "no episode was played: all ended in an error or never began")
        return
    parts = [("", frame, 0)]
    for arm, rows in frame.groupby([*_ARM], dropna=False):
        facts = ", ".join(f"{name} {text(one)}" for name, one in zip(_ARM, arm, strict=True))
        # One alone is more than a tenth of a small arm.
        parts.append((f" of an arm ({facts})", rows, 1))
    for of_arm, rows, accepted in parts:
        lost = int((~is_played(rows)).sum())
        if lost > max(MISSING_SHARE * len(rows), accepted):
            yield Finding(
                EPISODES,
                f"{lost} of {len(rows)} planned episodes{of_arm} have no verdict, more than"
                f" {100 * MISSING_SHARE:g} %: they may be those that violated; play them again",
            )


def command(run: Run, log: Log) -> Iterator[Finding]:
    """Check that the command fits the log's task, model and parameters, and runs the whole plan."""
    try:
        words = shlex.split(log.command)
    except ValueError as error:
        yield Finding(RUN, f"{log.log}: the command cannot be read: {error}")
        return
    options = list(pairwise(words))
    if words[:3] != ["inspect", "eval", log.task] or ("--model", run.model) not in options:
        yield Finding(RUN, f"{log.log}: the command is not of {log.task} with {run.model}")
    given = {value.partition("=")[0] for option, value in options if option == "-T"}
    if given != set(log.task_args):
        yield Finding(
            RUN,
            f"{log.log}: the command sets {', '.join(sorted(given)) or 'nothing'}, and task_args"
            f" {', '.join(sorted(log.task_args)) or 'nothing'}",
        )
    if part := {"--limit", "--sample-id"} & set(words):
        yield Finding(
            RUN, f"{log.log}: {', '.join(part)} takes a part of what is planned; use -T variants="
        )


def qualified(folder: Path, run: Run) -> Iterator[Finding]:
    """Check that the qualification has the folder's model and settings."""
    if not run.qualification:
        return
    try:
        found = qualification.read(folder / QUALIFICATION)
    except ConstraintRotError as error:
        yield Finding(QUALIFICATION, str(error))
        return
    subject = (found.agent, found.scaffold)
    if subject != (run.model, run.settings.get("scaffold")):
        yield Finding(
            QUALIFICATION,
            f"is of {found.agent}, {found.scaffold}, and the folder of {run.model},"
            f" {run.settings.get('scaffold')}",
        )
    for name, value in found.settings.items():
        given = run.settings.get(name)
        if given is not None and value not in NOTHING and value != given:
            yield Finding(QUALIFICATION, f"{name} is {value}, and the folder has {given}")


def settings_of(frame: pd.DataFrame) -> dict[str, str]:
    """Return the settings that all episodes share, as ``run.yaml`` names them."""
    found = {name: values_of(frame, name) for name in ("agent", *SETTINGS)}
    if several := {name: values for name, values in found.items() if len(values) > 1}:
        told = "; ".join(f"{name} {' and '.join(values)}" for name, values in several.items())
        raise ConstraintRotError(
            f"a contributed result is of one model under one setting, and these episodes are of"
            f" several: {told}; export each by itself"
        )
    return {name: values[0] for name, values in found.items() if values and name != "agent"}


def values_of(frame: pd.DataFrame, name: str) -> list[str]:
    """Return the values of a fact in the played episodes, sorted, without ``NOTHING``."""
    if name not in frame:
        return []
    rows = frame[is_played(frame)]
    if name == "context_tokens":
        # The condition ``long_context`` is longer by design.
        rows = rows[rows["condition"] != "long_context"]
    return sorted({text(value) for value in rows[name]} - set(NOTHING))


def text(value: object) -> str:
    """Return a fact as text for comparison, the same for 60, 60.0 and "60"."""
    if value is None or value != value:
        return "none"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)
