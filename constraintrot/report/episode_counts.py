"""Counts of planned, played, errored and silent episodes; nothing else counts them.

A frame of ``report.frame.planned_episodes`` has a row for every planned episode, with its
``status``. Older frames have no status, and do not show which other episodes were planned.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from constraintrot.episode.facts import IDENTITY, KEYS, NONE, Role, names
from constraintrot.grading.outcome_status import SILENT
from constraintrot.redaction import Masker
from constraintrot.report.untrusted import cut

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog, EvalSample

Status: TypeAlias = Literal["played", "errored", "not played"]
PLAYED: Status = "played"
ERRORED: Status = "errored"
NOT_PLAYED: Status = "not played"
HEADS = ("planned", "played", "errored", "silent")
UNKNOWN = "-"
# How many errors are listed, and how much of each.
_ERRORS = 5
_ERROR = 200
# The folders before a file's name: /home/me/project/.
_FOLDERS = re.compile(r"(?<![\w:/.~])/(?:[\w.@+-]+/)+(?=[\w.-]+\.\w)")
# Inspect's error of a model call: its text, as Python's repr() writes it.
_REQUEST = re.compile(
    r"ModelGenerateError\(['\"]\\nRequest:\\n.*\\n}\\n\\n(?P<cause>.+)['\"]\)", re.DOTALL
)
# As ``tasks.build`` names a sample: family.locale-seed-condition, and the defense if
# several are played side by side.
_SAMPLE_ID = re.compile(
    r"(?P<family>.+)\.(?P<locale>[a-z]+)-(?P<seed>\d+)-(?P<condition>\w+)(?:-(?P<defense>.+))?"
)
_SettingsKey: TypeAlias = tuple[str, str, int | None]
# Facts in which the arms of a variant agree.
_OF_VARIANT = [one for one in KEYS if one not in (*IDENTITY, *names(Role.VARIED))]
_EpisodeKey: TypeAlias = tuple[str, str, int]


@dataclass(frozen=True)
class Counts:
    """Counts of the episodes of a cell.

    Attributes:
        planned: samples times epochs; None if unknown.
        played: those with a verdict.
        errored: those that ended in an error; None if unknown. The rest was never started, or
            cut off.
        silent: played episodes that neither acted readably nor refused.
    """

    planned: int | None
    played: int
    errored: int | None
    silent: int

    @property
    def cells(self) -> tuple[str, str, str, str]:
        known = (self.planned, self.played, self.errored, self.silent)
        planned, played, errored, silent = (UNKNOWN if n is None else str(n) for n in known)
        return planned, played, errored, silent


def counts(rows: pd.DataFrame) -> Counts:
    """Count the episodes of a cell, from a frame of planned episodes or from an older one."""
    done = rows[is_played(rows)]
    silent = int(done["outcome"].isin(SILENT).sum())
    if "status" not in rows or rows["status"].isna().any():
        return Counts(None, len(done), None, silent)
    return Counts(len(rows), len(done), int((rows["status"] == ERRORED).sum()), silent)


def sentence(rows: pd.DataFrame) -> str:
    """Return the counts of a whole table in words."""
    told = ", ".join(f"{name} {n}" for name, n in zip(HEADS, counts(rows).cells, strict=True))
    return f"Episodes: {told}."


def is_played(frame: pd.DataFrame) -> pd.Series[bool]:
    """Return which rows are episodes with a verdict."""
    if "status" not in frame:
        return pd.Series(True, index=frame.index)
    return ~frame["status"].isin([ERRORED, NOT_PLAYED])


def played(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the episodes with a verdict; rates are computed only from these."""
    return frame[is_played(frame)]


def errors(errored: Iterable[Mapping[Any, Any]]) -> list[str]:
    """Return the most frequent errors of rows, each with the number of episodes that it ended."""
    found = Counter(
        (row["condition"], cut(str(row["reason"]).split("\n", 1)[0], _ERROR)) for row in errored
    )
    said = [f"  {n} {condition}: {error}" for (condition, error), n in found.most_common(_ERRORS)]
    left = len(found) - len(said)
    return [*said, f"  {left} more errors: table --csv has them as reason"] if left else said


def unbalanced(frame: pd.DataFrame) -> list[str]:
    """Return a warning for each run that planned some conditions more often than others."""
    if "status" not in frame:
        return []
    found: list[str] = []
    known = frame[frame["status"].notna()]
    arms = [name for name in ("condition", "attack", "defense") if name in known]
    for log, rows in known.groupby("log", sort=False):
        if rows.groupby(arms, observed=True, dropna=False).size().nunique() <= 1:
            continue
        # What a killed run finished is in its log, and the rest in that of its retry.
        run = [name for name in ("task", "agent") if name in known]
        whole = known[(known[run] == rows[run].iloc[0]).all(axis=1)]
        together = whole.groupby(arms, observed=True, dropna=False).size()
        if together.nunique() > 1:
            told = ", ".join(f"{name} {n}" for name, n in _by_condition(rows).items())
            found.append(
                f"! {log} planned its conditions unequally often ({told}), as --limit and"
                " --sample-id leave them; compare paired episodes only."
            )
    return found


def _by_condition(rows: pd.DataFrame) -> dict[str, int]:
    return {str(name): int(n) for name, n in rows["condition"].value_counts().sort_index().items()}


def fill_facts(frame: pd.DataFrame, lost: npt.NDArray[np.bool_]) -> None:
    """Fill the facts that a log does not say of its lost episodes, from their variants' other ones.

    Those are facts in which the played episodes of the log's condition differ, such as a wording
    that goes by the seed; without them a lost episode has no partner. A fact in which the
    variant's episodes differ too stays unknown.
    """
    played = frame[~lost]
    for fact in (one for one in _OF_VARIANT if one in frame):
        open_ = lost & (frame[fact].isna() | (frame[fact] == NONE)).to_numpy()
        several = played.groupby(["log", "condition"], observed=True)[fact].nunique() > 1
        if not open_.any() or not several.any():
            continue
        values = played.groupby(["family", "locale", "seed"], observed=True)[fact]
        known = values.first()[values.nunique() == 1]
        for at in frame.index[open_]:
            row = frame.loc[at]
            of = row["family"], row["locale"], row["seed"]
            if several.get((row["log"], row["condition"])) and of in known.index:
                frame.loc[at, fact] = known[of]


@dataclass
class PlannedEpisodes:
    """A collection, log by log, of the planned episodes without a verdict.

    An episode counts once over a run and its retries, and as played if one of them
    finished it.
    """

    _played: set[_EpisodeKey] = field(default_factory=set[_EpisodeKey])
    _rows: dict[_EpisodeKey, dict[str, Any]] = field(
        default_factory=dict[_EpisodeKey, dict[str, Any]]
    )

    def add(
        self,
        header: EvalLog,
        log: str,
        samples: Mapping[tuple[str, int], tuple[EvalSample | None, dict[str, Any]]],
    ) -> None:
        """Add a log.

        ``samples`` has, by id and epoch, the errored sample or None for a played one, and the facts of
        its metadata.
        """
        of = header.eval
        facts = _FactsOfOthers(header, samples)
        for name in map(str, of.dataset.sample_ids or []):
            for epoch in range(1, (of.config.epochs or 1) + 1):
                key = of.task_id, name, epoch
                sample, known = samples.get((name, epoch), (None, {}))
                if known and sample is None:
                    self._played.add(key)
                    continue
                error = None if sample is None or sample.error is None else sample.error.message
                if error is None and key in self._rows:
                    continue  # The earlier log has more facts of it.
                self._rows[key] = facts.of(name, epoch, known) | {
                    "log": log,
                    "task": of.task,
                    "status": NOT_PLAYED if error is None else ERRORED,
                    "reason": None if error is None else _shareable(error),
                }

    def rows(self) -> list[dict[str, Any]]:
        return [row for key, row in self._rows.items() if key not in self._played]


def _shareable(error: str) -> str:
    """Return an error without secrets and folders of this machine, because frames are shared.

    Inspect puts the whole request before the cause of a failed model call; the cause alone stays.
    """
    cause = _REQUEST.fullmatch(error)
    told = cause["cause"].replace("\\'", "'") if cause else error
    # A provider's error may repeat the key that it refuses.
    return _FOLDERS.sub("", Masker(library=False)(told))


class _FactsOfOthers:
    """The facts of episodes that never ran, from their ids and from the others of their log."""

    def __init__(
        self,
        header: EvalLog,
        samples: Mapping[tuple[str, int], tuple[EvalSample | None, dict[str, Any]]],
    ) -> None:
        roles = header.eval.model_roles or {}
        agent = roles.get("agent", header.eval.model)
        one = agent[0] if isinstance(agent, list) else agent
        self._agent = one if isinstance(one, str) else one.model
        self._seen: dict[_SettingsKey, dict[str, Any]] = {}
        for _, facts in samples.values():
            family, at = str(facts.get("family")), str(facts.get("condition"))
            for key in ((family, at, facts.get("seed")), (family, at, None), ("", at, None)):
                known = self._seen.setdefault(key, facts)
                # What they disagree on depends on more than they share, so it is not known.
                same = {k: v for k, v in known.items() if k in facts and facts[k] == v}
                self._seen[key] = known if len(same) == len(known) else same

    def of(self, name: str, epoch: int, known: Mapping[str, Any]) -> dict[str, Any]:
        found = _SAMPLE_ID.fullmatch(name)
        told = {} if found is None else {k: v for k, v in found.groupdict().items() if v}
        if "seed" in told:
            told["seed"] = int(told["seed"])
        at = str(told.get("condition"))
        family = str(told.get("family"))
        keys = (family, at, told.get("seed")), (family, at, None), ("", at, None)
        others = next((self._seen[key] for key in keys if key in self._seen), {})
        shared = {name: value for name, value in others.items() if name != "request"}
        facts = {**shared, **told, "replicate": epoch - 1, **known}
        facts = {name: value for name, value in facts.items() if name not in names(Role.MEASURED)}
        if facts.get("agent") in (None, "none"):
            facts["agent"] = self._agent
        facts.setdefault("allowed", False)
        return facts
