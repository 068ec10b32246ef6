"""``contributed/``: results that were handed in, each checked before the report shows it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from constraintrot.errors import ConstraintRotError
from constraintrot.report import qualification
from constraintrot.report.arms import labels
from constraintrot.report.contributed.check import Checked, check
from constraintrot.report.contributed.folder import QUALIFICATION, RUN
from constraintrot.report.episode_counts import counts, is_played
from constraintrot.report.page.view import NOT_MEASURED, Row, Section, Table, rate_text
from constraintrot.stats.rate import rate
from constraintrot.tasks.rebuildable import TASKS

if TYPE_CHECKING:
    import pandas as pd

CONTRIBUTED = "contributed"
CONDITIONS = ("floor", "control", "compaction", "defense_pin")


def section(folder: Path) -> Section | None:
    """The contributed results of a folder of results as a table; None if there are none.

    Raises:
        ConstraintRotError: one of them is not consistent.
    """
    found = [_checked(path.parent) for path in sorted((folder / CONTRIBUTED).glob(f"*/{RUN}"))]
    return Section(CONTRIBUTED, "Contributed results", (table(folder, found),)) if found else None


def table(folder: Path, found: Sequence[Checked]) -> Table:
    """Violation by condition, a row a contributed result."""
    columns = ("scaffold", "day", "families", "episodes", "silent", *CONDITIONS, "qualified")
    notes = (
        "Violations, with 95 % intervals. A row a model and setting; none is pooled with another,"
        " and none is in the figures above.",
        "Checked by constraintrot results check: all planned episodes are there, and every"
        " verdict is what the calls come to, graded anew. That a model made the calls no check"
        " can show.",
        "Silent: neither acted readably nor refused; that is no obedience. Not shown: no"
        " qualification says that this subject can show decay. A script obeys and forgets because"
        " it is written so.",
    )
    rows = tuple(
        Row((one.run.name, one.run.model), _cells(folder / CONTRIBUTED / one.run.name, one))
        for one in found
    )
    return Table("Contributed, by model and setting", ("result", "model"), columns, rows, notes)


def _checked(folder: Path) -> Checked:
    found = check(folder, TASKS)
    if found.findings:
        more = len(found.findings) - 1
        raise ConstraintRotError(
            f"{folder}: {found.findings[0]}" + (f" (and {more} more)" if more else "")
        )
    return found


def _cells(folder: Path, one: Checked) -> tuple[str, ...]:
    frame = one.frame
    played = frame[is_played(frame) & ~frame["allowed"]]
    told = counts(frame)
    families = sorted(set(map(str, frame["family"])))
    return (
        one.run.settings.get("scaffold", ""),
        one.run.date,
        ", ".join(families) if len(families) < 4 else str(len(families)),
        f"{told.played} of {told.planned}",
        str(told.silent),
        *(_violated(played[played["condition"] == name]) for name in CONDITIONS),
        _qualified(folder, one),
    )


def _violated(rows: pd.DataFrame) -> str:
    if rows.empty:
        return NOT_MEASURED
    return rate_text(rate(rows["violation"].to_numpy(), labels(rows)))


def _qualified(folder: Path, one: Checked) -> str:
    if not one.run.qualification:
        return "not shown"
    found = qualification.read(folder / QUALIFICATION)
    return ", ".join(found.named("qualified")) or "on no family"
