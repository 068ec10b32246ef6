"""Reading of logs, sample by sample, and of frames and stores; by path, folder or URL."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any

import pandas as pd

from constraintrot.errors import ConstraintRotError
from constraintrot.report import stored, untrusted
from constraintrot.report.episode_counts import PlannedEpisodes
from constraintrot.report.frame import UNREADABLE, is_finished, sample_row, walk
from constraintrot.report.page import files, frames, runs
from constraintrot.report.page.detail import Detail, Details, detail, read_texts

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog, EvalSample

RUNS_FILE = "runs.json"
# How many whole samples are in memory at once.
_BATCH = 20
# Facts that define a kind of episodes; the page shows details of some episodes of each kind.
_KIND = ("agent", "condition", "attack", "defense", "compactor", "channel", "locale", "family")


@dataclass
class Reading:
    """The result of reading so far: rows of logs, tables of frames, runs, details and notices."""

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

    def take_store(self, one: stored.Stored) -> None:
        for commit in one.commits:
            path = one.store.path(commit)
            self.tables.append(frames.read(path, one.store.read([commit])[commit.token]))
            self.inputs.append((files.name(path), commit.sha256))
            if commit.run:
                run = runs.Run.model_validate(commit.run)
                self.runs.setdefault(run.log, run)

    def take_paths(self, name: str, leave_out: str | None) -> None:
        """Add a file, or the files of a folder; an unreadable file of a folder becomes a notice."""
        for path, in_folder in _paths(name, leave_out):
            try:
                self._take(path, in_folder)
            except ConstraintRotError as error:
                if not in_folder:
                    raise
                self.notices.append(f"Not counted: {untrusted.cut(str(error), 500)}.")

    def _take(self, path: str, in_folder: bool) -> None:
        if path.endswith((".csv", ".parquet")):
            if not in_folder or frames.is_frame(path, head(path)):
                self._take_frame(path)
        else:
            self.take_log(path)

    def _take_frame(self, path: str) -> None:
        self.tables.append(frames.read(path))
        self.inputs.append((files.name(path), files.sha256(path)))
        self.texts += read_texts(path)
        for run in _runs_in(files.beside(path, RUNS_FILE)):
            self.runs.setdefault(run.log, run)

    def take_log(self, path: str) -> None:
        """Add a log without its transcripts."""
        header: EvalLog | None = None
        finished = failed = 0
        try:
            for header, sample in walk(path, self.planned, files.opened):
                if sample is not None and is_finished(sample):
                    self._take_sample(header, sample, path)
                    finished += 1
                elif sample is not None:
                    failed += sample.error is not None
        except UNREADABLE as error:
            where = f" after {finished} episodes, which are counted" if finished else ""
            raise ConstraintRotError(
                f"{files.name(path)} is no readable Inspect log{where}: {type(error).__name__}: {error}"
            ) from error
        if header is None:
            self.others += 1
            return
        name = files.name(path)
        self.runs[name] = runs.run(header, name, files.sha256(path), finished, failed)

    def _take_sample(self, header: EvalLog, sample: EvalSample, path: str) -> None:
        row = sample_row(header, sample, files.name(path))
        episode = str(row.pop("uuid"))
        is_new = episode not in self.rows
        self.rows[episode] = row | {
            "episode": episode,
            "created": header.eval.created,
            "reason": untrusted.cut(str(row["reason"] or ""), untrusted.CELL),
        }
        if not is_new:
            return
        kind = (*(str(row.get(name)) for name in _KIND), row["violation"], row["allowed"])
        rank = self.details.wants(kind)
        if rank is not None:
            # The page's choice is known only at the end; only the chosen transcripts are read.
            self.details.add(Detail(episode), rank)
            self.transcripts[episode] = path, sample.id, sample.epoch

    def read_transcripts(self) -> None:
        """Read the details of the episodes that the page shows."""
        from inspect_ai.log import read_eval_log_samples_by_id

        by_log: dict[str, list[tuple[str, tuple[str | int, int]]]] = {}
        for episode, (path, name, epoch) in self.transcripts.items():
            if episode in self.details.kept:
                by_log.setdefault(path, []).append((episode, (name, epoch)))
        for path, wanted in by_log.items():
            for at in range(0, len(wanted), _BATCH):
                episodes, names = zip(*wanted[at : at + _BATCH], strict=True)
                try:
                    samples = read_eval_log_samples_by_id(path, names)
                except (IndexError, *UNREADABLE) as error:
                    told = untrusted.cut(str(error), 300)
                    self.notices.append(
                        f"Transcripts of {files.name(path)} cannot be read: {told}."
                    )
                    break
                for episode, sample in zip(episodes, samples, strict=True):
                    self.details.kept[episode] = detail(sample, episode)


def _paths(name: str, leave_out: str | None) -> Iterator[tuple[str, bool]]:
    kind = files.kind(name)
    if not kind:
        raise ConstraintRotError(f"no such log: {name}")
    if kind == "file":
        yield name, False
        return
    # Leaves out only the frames that this report writes, not other files of its folder.
    skipped: set[str] = set()
    if leave_out is not None:
        skipped = {f"{leave_out}/{file}" for file in frames.NAMES}
    for path in files.below(name, skipped):
        yield path, True


def head(path: str) -> list[str]:
    """Return the column names of a frame's file, without reading its columns."""
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


def _runs_in(path: str) -> list[runs.Run]:
    if not files.kind(path):
        return []
    try:
        return runs.RUNS.validate_json(files.read(path))
    except ValueError as error:
        raise ConstraintRotError(f"{path} is no list of runs: {error}") from error
