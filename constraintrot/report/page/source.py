"""Read Inspect logs, sample by sample, and tidy frames from paths, folders and URLs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any

from constraintrot.episode.facts import KEYS
from constraintrot.errors import ConstraintRotError
from constraintrot.report import log_samples, stored, untrusted
from constraintrot.report.episode_counts import PlannedEpisodes, is_played
from constraintrot.report.frame import UNREADABLE, is_finished, is_ours, sample_row, unplayed_rows
from constraintrot.report.page import design, files, frames, runs
from constraintrot.report.page import texts as episode_texts
from constraintrot.report.page.columns import texts
from constraintrot.report.page.detail import Detail, Details, detail
from constraintrot.report.qualification import Qualification
from constraintrot.report.qualified import Level

if TYPE_CHECKING:
    import pandas as pd
    from inspect_ai.log import EvalLog, EvalSample

RUNS_FILE = "runs.json"
# How many whole samples are in memory at once.
_BATCH = 20
# Facts of a kind of episodes: the page shows details of some episodes of every kind.
_KIND = ("agent", "condition", "attack", "defense", "compactor", "channel", "locale", "family")


def _none() -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame()


@dataclass
class Source:
    """What was read.

    Attributes:
        frame: one row per played episode, without duplicates, in a fixed order.
        planned: the same, and below them the planned episodes without a verdict.
        runs: one run per log.
        details: details of some episodes, by the frame's column ``episode``.
        notices: warnings for the reader, such as logs left out and episodes run twice.
        inputs: (name, SHA-256) of the frames that were read.
        where: name of the file with all episodes, which is written next to the page.
        qualifications: of the subjects, if given; the frames have the families that qualify.
        qualified_by: as in ``report.qualified.restricted``.
    """

    frame: pd.DataFrame
    runs: list[runs.Run]
    details: Details
    notices: list[str]
    inputs: list[tuple[str, str]]
    where: str = frames.NAMES[0]
    planned: pd.DataFrame = field(default_factory=_none)
    qualifications: tuple[Qualification, ...] = ()
    qualified_by: Level = "bounds"

    def __post_init__(self) -> None:
        """Without more, what was played is all that is known."""
        if self.planned.empty:
            self.planned = self.frame


@dataclass
class _Reading:
    rows: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    tables: list[Any] = field(default_factory=list[Any])
    runs: dict[str, runs.Run] = field(default_factory=dict[str, runs.Run])
    details: Details = field(default_factory=Details)
    notices: list[str] = field(default_factory=list[str])
    inputs: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    texts: list[Detail] = field(default_factory=list[Detail])
    others: int = 0
    planned: PlannedEpisodes = field(default_factory=PlannedEpisodes)
    # Path, sample's id and epoch of the episodes that have details.
    transcripts: dict[str, tuple[str, str | int, int]] = field(
        default_factory=dict[str, tuple[str, str | int, int]]
    )


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

    Raises:
        ConstraintRotError: a path does not exist, a file that was given by its path cannot
            be read, or there is no finished episode of a constraintrot task. A file of a
            folder that cannot be read is only a notice.
    """
    reading = _Reading()
    for name in given:
        for store in stored.stores([name]):
            _take_store(store, reading)
            break
        else:
            _take_paths(name, leave_out, reading)
    if reading.transcripts:
        _read_transcripts(reading)
    return _joined(reading, given)


def _take_store(one: stored.Stored, reading: _Reading) -> None:
    for commit in one.commits:
        path = one.store.path(commit)
        reading.tables.append(frames.read(path))
        reading.inputs.append((files.name(path), commit.sha256))
        if commit.run:
            run = runs.Run.model_validate(commit.run)
            reading.runs.setdefault(run.log, run)


def _take_paths(name: str, leave_out: str | None, reading: _Reading) -> None:
    for path, in_folder in _paths(name, leave_out):
        try:
            _take(path, reading, in_folder)
        except ConstraintRotError as error:
            if not in_folder:
                raise
            reading.notices.append(f"Not counted: {untrusted.cut(str(error), 500)}.")


def _take(path: str, reading: _Reading, in_folder: bool) -> None:
    if path.endswith((".csv", ".parquet")):
        if not in_folder or frames.is_frame(path, _head(path)):
            _take_frame(path, reading)
    else:
        _take_log(path, reading)


def of_log(path: str) -> tuple[pd.DataFrame, runs.Run]:
    """All planned episodes of one log as a tidy frame, those without a verdict last; and its run.

    Transcripts are not read.

    Args:
        path: path or URL of a log.

    Raises:
        ConstraintRotError: it cannot be read, or is of no constraintrot task.
    """
    import pandas as pd

    reading = _Reading()
    _take_log(path, reading)
    if not reading.runs:
        raise ConstraintRotError(f"{path} is a log of another task, not of a constraintrot task")
    parts = [list(reading.rows.values()), unplayed_rows(reading.planned)]
    tables = [frames.tidy(pd.DataFrame(rows)) for rows in parts if rows]
    if not tables:
        raise ConstraintRotError(f"{path} has no planned episode")
    return pd.concat(tables, ignore_index=True), next(iter(reading.runs.values()))


def _paths(name: str, leave_out: str | None) -> Iterator[tuple[str, bool]]:
    """Each file, and whether it comes from a folder instead of being given by its path."""
    kind = files.kind(name)
    if not kind:
        raise ConstraintRotError(f"no such log: {name}")
    if kind == "file":
        yield name, False
        return
    # Only the frames that this report writes, not the other files of its folder.
    skipped: set[str] = set()
    if leave_out is not None:
        skipped = {f"{leave_out}/{file}" for file in frames.NAMES}
    for path in files.below(name, skipped):
        yield path, True


def _head(path: str) -> list[str]:
    import pandas as pd

    try:
        if path.endswith(".parquet"):
            # pyarrow has no type information.
            parquet: Any = import_module("pyarrow.parquet")
            # The footer has the names; the columns themselves may be large.
            with files.opened(path) as file:
                return [str(name) for name in parquet.ParquetFile(file).schema_arrow.names]
        return [str(name) for name in pd.read_csv(path, nrows=0).columns]
    except (OSError, ValueError):
        return []


def _take_frame(path: str, reading: _Reading) -> None:
    reading.tables.append(frames.read(path))
    reading.inputs.append((files.name(path), files.sha256(path)))
    reading.texts += episode_texts.read(path)
    for run in _runs_in(files.beside(path, RUNS_FILE)):
        reading.runs.setdefault(run.log, run)


def _runs_in(path: str) -> list[runs.Run]:
    if not files.kind(path):
        return []
    try:
        return runs.RUNS.validate_json(files.read(path))
    except ValueError as error:
        raise ConstraintRotError(f"{path} is no list of runs: {error}") from error


def _take_log(path: str, reading: _Reading) -> None:
    from inspect_ai.log import read_eval_log

    finished = failed = 0
    try:
        header = read_eval_log(path, header_only=True)
        if not is_ours(header):
            reading.others += 1
            return
        seen: dict[tuple[str, int], tuple[EvalSample | None, dict[str, Any]]] = {}
        with files.opened(path) as file:
            for sample in log_samples.samples(path, header, file):
                done = is_finished(sample)
                seen[str(sample.id), sample.epoch] = (None if done else sample), sample.metadata
                if done:
                    _take_sample(header, sample, path, reading)
                    finished += 1
                else:
                    failed += sample.error is not None
        reading.planned.add(header, files.name(path), seen)
    except UNREADABLE as error:
        where = f" after {finished} episodes, which are counted" if finished else ""
        raise ConstraintRotError(
            f"{files.name(path)} is no readable Inspect log{where}: {type(error).__name__}: {error}"
        ) from error
    name = files.name(path)
    reading.runs[name] = runs.run(header, name, files.sha256(path), finished, failed)


def _take_sample(header: EvalLog, sample: EvalSample, path: str, reading: _Reading) -> None:
    row = sample_row(header, sample, files.name(path))
    episode = str(row.pop("uuid"))
    is_new = episode not in reading.rows
    reading.rows[episode] = row | {
        "episode": episode,
        "created": header.eval.created,
        "reason": untrusted.cut(str(row["reason"] or ""), untrusted.CELL),
    }
    if not is_new:
        return
    kind = (*(str(row.get(name)) for name in _KIND), row["violation"], row["allowed"])
    rank = reading.details.wants(kind)
    if rank is not None:
        # Which of them the page shows is known when all are read; only theirs are read whole.
        reading.details.add(Detail(episode), rank)
        reading.transcripts[episode] = path, sample.id, sample.epoch


def _read_transcripts(reading: _Reading) -> None:
    """Read the details of the episodes that the page shows."""
    from inspect_ai.log import read_eval_log_samples_by_id

    by_log: dict[str, list[tuple[str, tuple[str | int, int]]]] = {}
    for episode, (path, name, epoch) in reading.transcripts.items():
        if episode in reading.details.kept:
            by_log.setdefault(path, []).append((episode, (name, epoch)))
    for path, wanted in by_log.items():
        for at in range(0, len(wanted), _BATCH):
            episodes, names = zip(*wanted[at : at + _BATCH], strict=True)
            try:
                samples = read_eval_log_samples_by_id(path, names)
            except (IndexError, *UNREADABLE) as error:
                told = untrusted.cut(str(error), 300)
                reading.notices.append(f"Transcripts of {files.name(path)} cannot be read: {told}.")
                break
            for episode, sample in zip(episodes, samples, strict=True):
                reading.details.kept[episode] = detail(sample, episode)


def _joined(reading: _Reading, given: Sequence[str]) -> Source:
    import pandas as pd

    tables = list(reading.tables)
    if reading.rows:
        tables.append(frames.tidy(pd.DataFrame(list(reading.rows.values()))))
    if not tables:
        others = f" ({reading.others} logs of other tasks)" if reading.others else ""
        unread = f" {' '.join(reading.notices)}" if reading.notices else ""
        raise ConstraintRotError(
            f"no finished ConstraintRot episode in {', '.join(given) or 'nothing'}{others};"
            f" give Inspect logs of a constraintrot task, frames, or folders of them{unread}"
        )
    unplayed = unplayed_rows(reading.planned)
    if unplayed:
        tables.append(frames.tidy(pd.DataFrame(unplayed)))
    whole = pd.concat(tables, ignore_index=True).drop_duplicates("episode", keep="last")
    done = is_played(whole)
    if not done.any():
        raise ConstraintRotError(f"no finished episode in {', '.join(given)}; all ended in errors")
    frame, twice = _once(whole[done])
    planned = frame
    if not done.all():
        # Played in another run is played: what counts once, was planned once.
        planned = pd.concat([frame, whole[~done]], ignore_index=True)
        planned = planned[~_keys(planned).duplicated()].reset_index(drop=True)
    notices = [*reading.notices, *twice]
    if reading.others:
        notices.append(f"Logs of other tasks, left out: {reading.others}.")
    known = set(frame["episode"])
    reading.details.take(one for one in reading.texts if one.episode in known)
    listed = sorted(reading.runs.values(), key=lambda run: (run.created, run.log))
    notices += _unfinished(listed)
    return Source(frame, listed, reading.details, notices, reading.inputs, planned=planned)


def _unfinished(listed: Sequence[runs.Run]) -> list[str]:
    """A notice of planned episodes without a verdict; a run and its retries count once."""
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
        " are counted nowhere; `inspect eval-retry LOG` makes up for them."
    ]


def _keys(frame: pd.DataFrame) -> pd.Series[str]:
    """What names each row's episode, whichever run it is of and whatever its task called it."""
    import pandas as pd

    named = frame.assign(condition=frame["condition"].map(design.base_condition))
    return pd.Series(["\x1f".join(row) for row in texts(named, KEYS)], index=frame.index)


def _once(frame: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """Each episode once, in a fixed order, and a notice of those that were run several times."""
    import pandas as pd

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
