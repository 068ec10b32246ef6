"""``runs.yaml``: how each committed frame was made, and what it shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from constraintrot.errors import ConstraintRotError
from constraintrot.report.page import files, frames, runs, source
from constraintrot.stats.frames import labels

if TYPE_CHECKING:
    import pandas as pd

RUNS, FRAMES = "runs.yaml", "frames"
T = TypeVar("T")


class Strict(BaseModel):
    """What a person writes by hand: a word that is not known is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Printed(Strict):
    """A table of ``constraintrot table`` on the run's own page.

    Attributes:
        by: what parts the cells besides the condition.
        defenses: each defense against none, in pairs.
        matrix: two facts, against each other.
    """

    by: tuple[str, ...] = ()
    defenses: bool = False
    matrix: tuple[str, str] | None = None


class Committed(Strict):
    """A run: one or more Inspect logs whose episodes are committed as frames.

    Attributes:
        name: of its page, and of its frame where ``frames`` is not given.
        title: what was asked.
        frames: files in ``frames/``.
        date: of the run, ISO 8601.
        models: SHA-256 of the weights, by the name that the frame has.
        machine: in plain words.
        versions: of the packages that made it.
        settings: what was held, in words.
        commands: what makes its logs again.
        shows: one sentence.
        does_not_show: one sentence.
        tables: printed on its page.
        notes: Markdown below them.
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
    tables: tuple[Printed, ...] = ()
    notes: str = ""

    @property
    def files(self) -> tuple[str, ...]:
        """Its frames' names."""
        return self.frames or (f"{self.name}.csv",)


@dataclass(frozen=True)
class Counted:
    """A run and its episodes.

    Attributes:
        run: as it was written down.
        frame: of all its files.
        sha256: of each file.
    """

    run: Committed
    frame: pd.DataFrame
    sha256: tuple[str, ...]

    @property
    def variants(self) -> int:
        """How many there are: families times seeds."""
        return len(set(labels(self.frame)))


def load(path: Path, kind: TypeAdapter[T]) -> T:
    """Read a YAML file that a person wrote.

    Raises:
        ConstraintRotError: it is not there, no YAML, or not of that kind.
    """
    try:
        return kind.validate_python(yaml.safe_load(path.read_text(encoding="utf-8")))
    except (OSError, yaml.YAMLError) as error:
        raise ConstraintRotError(f"{path} cannot be read: {error}") from error
    except ValidationError as error:
        said = "; ".join(
            f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors()[:5]
        )
        raise ConstraintRotError(f"{path}: {said}") from error


def read(folder: Path) -> list[Counted]:
    """The runs of a folder of results, with their episodes.

    Raises:
        ConstraintRotError: a run without its frame, a frame without its run, two
            runs of one name, or a model in a frame that its run does not name.
    """
    found = load(folder / RUNS, TypeAdapter(list[Committed]))
    names = [name for run in found for name in run.files]
    there = sorted(path.name for path in (folder / FRAMES).iterdir())
    for what, listed in (("runs", [run.name for run in found]), ("frames", names)):
        if twice := sorted({name for name in listed if listed.count(name) > 1}):
            raise ConstraintRotError(f"{folder / RUNS} names {what} twice: {', '.join(twice)}")
    if left := sorted(set(there) - set(names)):
        raise ConstraintRotError(
            f"{folder / FRAMES} holds {', '.join(left)}, which no run of {RUNS} names; add an"
            " entry that says how it was made"
        )
    return [_counted(folder, run) for run in found]


def joined(folder: Path, found: Sequence[Counted]) -> source.Source:
    """All episodes of all runs, each once."""
    paths = [str(folder / FRAMES / name) for one in found for name in one.run.files]
    return replace(source.read(paths), runs=[_as_run(one) for one in found], where=FRAMES)


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
    """The run as the report's page shows it."""
    run, n = one.run, len(one.frame)
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
        finished=n,
        failed=0,
    )
