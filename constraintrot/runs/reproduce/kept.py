"""The files that a page can be made of again where the logs are not there.

A page writes its episodes and what was played beside itself; with the registration and the
qualification these are what is committed of a reproduction.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, ValidationError

from constraintrot.errors import ConstraintRotError
from constraintrot.report.page import design, frames
from constraintrot.report.planned import planned_episodes
from constraintrot.runs.reproduce.meter import Meter
from constraintrot.runs.reproduce.registration import Registration, code

if TYPE_CHECKING:
    import pandas as pd

EPISODES, FACTS, LOGS = "episodes.csv", "played.json", "logs"
DONE = "done"


class Played(BaseModel):
    """What was played of a registration.

    Attributes:
        evaluations: names of the evaluations that were played to their end.
        dollars: what they cost.
        code: version and digest of the code that played them.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    evaluations: tuple[str, ...]
    dollars: float
    code: dict[str, str]


def has_logs(folder: Path) -> bool:
    """Return whether a folder has the logs of its episodes."""
    return (folder / LOGS).is_dir()


def played(registration: Registration, folder: Path) -> Played:
    """Return what was played, by the logs; by the file where there are none.

    Raises:
        ConstraintRotError: the file cannot be read.
    """
    path = folder / FACTS
    if has_logs(folder) or not path.is_file():
        done = sorted(one.parent.name for one in (folder / LOGS).glob(f"*/{DONE}"))
        dollars = Meter(folder, registration.prices).dollars
        return Played(evaluations=tuple(done), dollars=dollars, code=code())
    try:
        return Played.model_validate_json(path.read_text(encoding="utf-8"))
    except (OSError, ValidationError) as error:
        raise ConstraintRotError(f"{path} cannot be read: {error}") from error


def raw(folder: Path) -> pd.DataFrame:
    """Return the planned episodes of a folder: of its logs, or of its file where there are none."""
    if has_logs(folder):
        return frames.tidy(planned_episodes([folder / LOGS]))
    return frames.read(str(folder / EPISODES))


def episodes(folder: Path) -> pd.DataFrame:
    """Return the planned episodes of a folder as claims are asked of them."""
    return design.prepared(raw(folder))


def write(registration: Registration, folder: Path) -> None:
    """Write both files, if the logs are there."""
    if has_logs(folder):
        facts = played(registration, folder).model_dump_json(indent=1) + "\n"
        (folder / FACTS).write_text(facts, encoding="utf-8", newline="\n")
        (folder / EPISODES).write_text(frames.csv_text(raw(folder)), encoding="utf-8", newline="\n")
