"""A matrix of two facts, such as attack and defense: violation on the same variants."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from constraintrot.errors import ConstraintRotError
from constraintrot.report import episode_counts
from constraintrot.report.defenses import TWINS, UNPAIRED, bare, pairs
from constraintrot.report.episode_counts import played
from constraintrot.report.table import POOLED, count_notes, notes, share
from constraintrot.report.tables import Table

FACTS = tuple(name for name in (*TWINS, "defense") if name not in ("agent", "seed", "allowed"))


def text(frame: pd.DataFrame, row: str, column: str) -> str:
    """Return one pipe table per agent: violation of prohibited requests, with intervals.

    An episode counts only if every cell has it with all other facts equal, so that cells
    differ only in the two facts. A cell that has no episode in common with the others
    counts all its episodes, and is marked as unpaired.
    """
    unknown = [name for name in (row, column) if name not in FACTS]
    if unknown or row == column:
        raise ConstraintRotError(f"--matrix takes two different facts of {', '.join(FACTS)}")
    planned = frame[~frame["allowed"].astype(bool)]
    frame = played(planned)
    if frame.empty:
        raise ConstraintRotError("--matrix counts violations, and no request here is prohibited")
    frame = frame.assign(**{name: frame[name].astype(str) for name in (row, column)})
    frame = frame.assign(pair=pairs(frame, (row, column)), condition=frame["condition"].map(bare))
    lines: list[str] = []
    for agent, group in frame.groupby("agent", sort=False):
        lines += [f"Model: {agent}", "", *_one(group, row, column), ""]
    lines += [
        f"Violation by {row} and {column}, exact 95 % intervals in per cent; - was not played.",
        episode_counts.sentence(planned),
        *count_notes(planned),
        *notes(frame, keys=["agent", "condition", *FACTS]),
    ]
    for fact in ("condition", "family", *POOLED):
        if fact in frame and fact not in (row, column) and frame[fact].nunique() > 1:
            lines.append(f"! cells pool several values of {fact}; give logs of one of them.")
    return "\n".join(lines)


def _one(frame: pd.DataFrame, row: str, column: str) -> list[str]:
    cells = {key: cell for key, cell in frame.groupby([row, column], sort=False)}
    common = _common([set(cell["pair"]) for cell in cells.values()])
    rows, columns = _values(frame[row]), _values(frame[column])
    body = [[one, *(_cell(cells.get((one, other)), common) for other in columns)] for one in rows]
    left = sum(_left_out(cell, common) for cell in cells.values())
    note = f"Cells are of the {len(common)} episodes that all paired ones share"
    note += f"; {left} others are left out." if left else "."
    return [Table([f"{row} \\ {column}", *columns], body).text(), "", note]


def _common(keys: Sequence[set[str]]) -> set[str]:
    """Return the keys that all cells share, ignoring cells that share no key."""
    common: set[str] = set()
    for cell in sorted(keys, key=len, reverse=True):
        common = (common & cell or common) if common else cell
    return common


def _cell(cell: pd.DataFrame | None, common: set[str]) -> str:
    if cell is None:
        return "-"
    shared = cell[cell["pair"].isin(common)]
    used = cell if shared.empty else shared
    rate = str(share(used, used["violation"] == 1))
    return f"{rate} {UNPAIRED}" if shared.empty else rate


def _left_out(cell: pd.DataFrame, common: set[str]) -> int:
    shared = int(cell["pair"].isin(common).sum())
    return len(cell) - shared if shared else 0


def _values(column: pd.Series[str]) -> list[str]:
    """Return the values of a fact in order of appearance, ``none`` first."""
    return sorted(dict.fromkeys(map(str, column)), key=lambda value: value != "none")
