"""``runs.yaml``: how each committed frame was made, and what it shows."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import Field, TypeAdapter

from constraintrot.errors import ConstraintRotError
from constraintrot.report.arms import variants
from constraintrot.report.episode_counts import counts
from constraintrot.report.page import files, frames, runs, source
from constraintrot.report.page.detail import texts_path
from constraintrot.report.yaml_file import load
from constraintrot.strict import Strict

if TYPE_CHECKING:
    import pandas as pd

RUNS, FRAMES = "runs.yaml", "frames"
STRING_READER = "string-reader.csv"


class Printed(Strict):
    """A table of ``constraintrot table`` on the run's page.

    Attributes:
        by: facts that split the cells, besides the condition.
        defenses: whether to compare each defense with none, in pairs.
        matrix: two facts for a matrix.
    """

    by: tuple[str, ...] = ()
    defenses: bool = False
    matrix: tuple[str, str] | None = None


class Committed(Strict):
    """A run: one or more Inspect logs whose episodes are committed as frames.

    Attributes:
        name: name of its page, and of its frame if ``frames`` is not given.
        title: the question of the run.
        frames: names of its files in ``frames/``.
        date: date of the run, ISO 8601.
        models: SHA-256 of the weights, by the model's name in the frame.
        machine: the machine, described in words.
        versions: versions of the packages, by name.
        settings: the settings that were held fixed, in words.
        commands: shell commands that repeat the run.
        shows: what the run shows, in one sentence.
        does_not_show: what the run does not show, in one sentence.
        withdrawn: what was read from it before and is read no more, with why.
        tables: tables on its page.
        notes: Markdown below the tables.
    """

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9.-]*$")
    title: str
    frames: tuple[str, ...] = ()
    date: str = Field(pattern=r"^\d{4}-\d\d-\d\d$")
    models: dict[str, str]
    machine: str
    versions: dict[str, str] = Field(default_factory=dict[str, str])
    settings: str
    commands: str
    shows: str
    does_not_show: str
    withdrawn: str = ""
    tables: tuple[Printed, ...] = ()
    notes: str = ""

    @property
    def files(self) -> tuple[str, ...]:
        """The names of its frames."""
        return self.frames or (f"{self.name}.csv",)


@dataclass(frozen=True)
class Counted:
    """A run and its episodes.

    Attributes:
        run: the entry in runs.yaml.
        frame: the episodes of all its files.
        sha256: SHA-256 of each file.
    """

    run: Committed
    frame: pd.DataFrame
    sha256: tuple[str, ...]

    @property
    def variants(self) -> int:
        """Number of variants, which are pairs of family and seed."""
        return variants(self.frame)


def read(folder: Path) -> list[Counted]:
    """The runs of a folder of results, with their episodes.

    Raises:
        ConstraintRotError: a run lacks its frame, a frame belongs to no run, two runs or
            frames have one name, or a frame has a model that its run does not name.
    """
    runs = load(folder / RUNS, TypeAdapter(list[Committed]))
    names = [name for run in runs for name in run.files]
    beside = {texts_path(name) for name in names}
    existing = sorted({path.name for path in (folder / FRAMES).iterdir()} - beside)
    for what, listed in (("runs", [run.name for run in runs]), ("frames", names)):
        if twice := sorted({name for name in listed if listed.count(name) > 1}):
            raise ConstraintRotError(f"{folder / RUNS} names {what} twice: {', '.join(twice)}")
    if left := sorted(set(existing) - set(names)):
        raise ConstraintRotError(
            f"{folder / FRAMES} holds {', '.join(left)}, which no run of {RUNS} names; add an"
            " entry that says how it was made"
        )
    return [_counted(folder, run) for run in runs]


def joined(folder: Path, counted: Sequence[Counted]) -> source.Source:
    """All episodes of all runs, each once, as a source of the report."""
    paths = [str(folder / FRAMES / name) for one in counted for name in one.run.files]
    return replace(source.read(paths), runs=[_as_run(one) for one in counted], where=FRAMES)


def _counted(folder: Path, run: Committed) -> Counted:
    import pandas as pd

    paths = [str(folder / FRAMES / name) for name in run.files]
    if missing := [path for path in paths if not files.kind(path)]:
        raise ConstraintRotError(f"{run.name} of {RUNS}: no such frame: {', '.join(missing)}")
    frame = pd.concat([frames.read(path) for path in paths], ignore_index=True)
    played = {str(name) for column in ("agent", "summarizer") for name in frame[column]}
    if unknown := sorted(played - {"none", "None", *run.models}):
        raise ConstraintRotError(
            f"{run.name} of {RUNS}: its frame holds the model {', '.join(unknown)}; name it under"
            " models, with the SHA-256 of its weights"
        )
    return Counted(run, frame, tuple(files.sha256(path) for path in paths))


def _as_run(one: Counted) -> runs.Run:
    """The run in the form of the report's page."""
    run, n = one.run, len(one.frame)
    found = counts(one.frame)
    return runs.Run(
        log=", ".join(run.files),
        sha256=", ".join(one.sha256),
        task=run.title,
        task_id=run.name,
        model=", ".join(run.models),
        created=run.date,
        status="success",
        command=f"# {run.machine}\n# {run.settings}\n{run.commands.strip()}",
        packages=run.versions,
        revision="",
        weights=", ".join(f"{name} {digest}" for name, digest in run.models.items()),
        planned=n,
        finished=found.played,
        failed=found.errored or 0,
    )


def string_reader(folder: Path) -> dict[str, str]:
    """Return a string reader's verdicts by claim (``string_reader``); none where it was not asked."""
    path = folder / STRING_READER
    if not path.is_file():
        return {}
    with path.open(encoding="utf-8", newline="") as file:
        return {row["claim"]: row["verdict"] for row in csv.DictReader(file)}
