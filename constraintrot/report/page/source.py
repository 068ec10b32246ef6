"""The source of a report: every episode of some logs, frames and stores once, and their runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import pandas as pd

from constraintrot.episode.facts import KEYS, Role, names
from constraintrot.errors import ConstraintRotError
from constraintrot.report import stored
from constraintrot.report.episode_counts import is_played
from constraintrot.report.frame import none_finished, unplayed_rows
from constraintrot.report.page import design, frames, runs
from constraintrot.report.page.detail import Details
from constraintrot.report.page.reading import Reading
from constraintrot.report.qualification import Qualification
from constraintrot.report.qualified import Level


@dataclass
class Source:
    """The episodes, runs and details behind a report.

    Attributes:
        frame: one row per played episode, without duplicates, in a fixed order.
        planned: the same rows, followed by the planned episodes without a verdict.
        notices: warnings for the reader, such as logs left out and episodes run twice.
        inputs: (name, SHA-256) of the frames that were read.
        where: name of the file, written next to the page, that has all episodes.
    """

    frame: pd.DataFrame
    runs: list[runs.Run]
    details: Details
    notices: list[str]
    inputs: list[tuple[str, str]]
    where: str = frames.NAMES[0]
    planned: pd.DataFrame = field(default_factory=pd.DataFrame)
    qualifications: tuple[Qualification, ...] = ()
    qualified_by: Level = "bounds"

    def __post_init__(self) -> None:
        """Use the played episodes as the planned ones if no planned ones are given."""
        if self.planned.empty:
            self.planned = self.frame


def read(given: Sequence[str], leave_out: str | None = None) -> Source:
    """Read logs and frames.

    An episode that several files have under one id (a retried run, a copy, a frame next to
    its log) counts once. Of several runs of the same episode only the newest counts;
    ``notices`` says how many there were and how many of the older ones had another outcome.

    Args:
        given: ``.eval`` logs, frames (CSV, Parquet), folders of both, and stores
            (``constraintrot.report.store``); paths or fsspec URLs.
        leave_out: a folder whose ``episodes`` frames are not read: the folder that the
            report is written to.
    """
    reading = Reading()
    for name in given:
        for store in stored.stores([name]):
            reading.take_store(store)
            break
        else:
            reading.take_paths(name, leave_out)
    if reading.transcripts:
        reading.read_transcripts()
    return _joined(reading, given)


def of_log(path: str) -> tuple[pd.DataFrame, runs.Run]:
    """Read all planned episodes of one log as a tidy frame, and its run.

    Episodes without a verdict come last. Transcripts are not read.
    """
    reading = Reading()
    reading.take_log(path)
    if not reading.runs:
        raise ConstraintRotError(f"{path} is a log of another task, not of a constraintrot task")
    parts = [list(reading.rows.values()), unplayed_rows(reading.planned)]
    tables = [frames.tidy(pd.DataFrame(rows)) for rows in parts if rows]
    if not tables:
        raise ConstraintRotError(f"{path} has no planned episode")
    return pd.concat(tables, ignore_index=True), next(iter(reading.runs.values()))


_SCRIPTED = "{} is a script, not a model: its figures show that the run works, and nothing else."


def _joined(reading: Reading, given: Sequence[str]) -> Source:
    tables = list(reading.tables)
    if reading.rows:
        tables.append(frames.tidy(pd.DataFrame(list(reading.rows.values()))))
    unplayed = unplayed_rows(reading.planned)
    if not tables:
        others = f" ({reading.others} logs of other tasks)" if reading.others else ""
        unread = f" {' '.join(reading.notices)}" if reading.notices else ""
        where = [", ".join(given) + others] if given else []
        wanted = "Inspect logs of a constraintrot task, frames"
        raise ConstraintRotError(f"{none_finished(where, unplayed, wanted)}{unread}")
    if unplayed:
        tables.append(frames.tidy(pd.DataFrame(unplayed)))
    whole = pd.concat(tables, ignore_index=True).drop_duplicates("episode", keep="last")
    done = is_played(whole)
    if not done.any():
        raise none_finished(given, whole.to_dict("records"), "others")
    frame, twice = _once(whole[done])
    planned = frame
    if not done.all():
        # An episode that another run played is played, and was planned once.
        planned = pd.concat([frame, whole[~done]], ignore_index=True)
        planned = planned[~_keys(planned).duplicated()].reset_index(drop=True)
    scripts = sorted(name for name in frame["agent"].unique() if name.startswith("scripted/"))
    notices = [*(_SCRIPTED.format(name) for name in scripts), *reading.notices]
    notices += [*twice, *_pooled(frame)]
    if reading.others:
        notices.append(f"Logs of other tasks, left out: {reading.others}.")
    known = set(frame["episode"])
    reading.details.take(one for one in reading.texts if one.episode in known)
    listed = sorted(reading.runs.values(), key=lambda run: (run.created, run.log))
    notices += _unfinished(listed)
    return Source(frame, listed, reading.details, notices, reading.inputs, planned=planned)


def _pooled(frame: pd.DataFrame) -> list[str]:
    """Return a notice of each fact whose values the page neither names nor holds fixed."""
    apart = {*names(Role.SETTING), *names(Role.VARIED)}
    notices: list[str] = []
    for fact in (name for name in names(Role.POOLED) if name in frame and name not in apart):
        known = frame[frame[fact].notna()]
        of_subjects = known.groupby(["agent", "scaffold"])[fact].unique()
        if several := next((list(values) for values in of_subjects if len(values) > 1), []):
            told = ", ".join(sorted(map(str, several)))
            notices.append(
                f"Rates pool episodes of several values of {fact} ({told}): give the page the logs of"
                " one of them."
            )
    return notices


def _unfinished(listed: Sequence[runs.Run]) -> list[str]:
    """Return a notice of planned episodes without a verdict; a run and its retries count once."""
    most: dict[str, runs.Run] = {}
    for run in listed:
        known = most.get(run.task_id)
        if known is None or run.finished >= known.finished:
            most[run.task_id] = run
    short = [run for run in most.values() if run.finished < run.planned]
    if not short:
        return []
    missing = sum(run.planned - run.finished for run in short)
    failed = sum(run.failed for run in short)
    ended = f", {failed} of them ended in an error" if failed else ""
    return [
        f"Not finished: {missing} planned episodes of {len(short)} runs have no verdict{ended}. They"
        " are counted nowhere; `inspect eval-retry LOG --log-dir FOLDER` makes up for them."
    ]


def _keys(frame: pd.DataFrame) -> pd.Series[str]:
    named = frame.assign(condition=frame["condition"].map(design.base_condition))
    return pd.Series(["\x1f".join(row) for row in frames.texts(named, KEYS)], index=frame.index)


def _once(frame: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """Return each episode once, in a fixed order, and a notice of those that were run again."""
    keys = _keys(frame)
    order = pd.DataFrame({"key": keys, "at": frame["created"].fillna("").astype(str)})
    order["number"] = range(len(order))
    order = order.sort_values(["at", "number"])
    last = order.drop_duplicates("key", keep="last")
    kept = frame.loc[last.sort_values("key").index].reset_index(drop=True)
    left = len(frame) - len(kept)
    if not left:
        return kept, []
    outcome = frame["outcome"].astype(str)
    newest = last.set_index("key")["number"].index
    of_newest = dict(zip(newest, outcome.loc[last.index], strict=True))
    older = list(order.index.difference(last.index))
    pairs = zip(outcome.loc[older], keys.loc[older], strict=True)
    differing = sum(bool(result != of_newest[key]) for result, key in pairs)
    return kept, [
        f"Played more than once: {left} episodes have the same variant and settings as a newer one"
        f" (controls do, when a run is repeated with another compactor). Only the newest counts;"
        f" {_differing(differing, left)}. For replicates use --epochs."
    ]


def _differing(differing: int, left: int) -> str:
    if not differing:
        return "all older ones had the same outcome"
    return f"{differing} of the {left} older ones had another outcome"
