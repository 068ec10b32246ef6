"""The episodes behind the rates: which of them the page shows, and what it says of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from constraintrot.report.page import design
from constraintrot.report.page.detail import Detail
from constraintrot.report.page.view import Cell

if TYPE_CHECKING:
    from constraintrot.report.page.sections import Page

SHOWN = 400
A_CELL = 6
LINKS = 16


@dataclass(frozen=True)
class Shown:
    """One episode on the page.

    Attributes:
        number: its position in the frame.
        title: which one it is.
        outcome: of the verdict.
        kept: whether the context still held the policy, in words.
        reason: the verdict's.
        facts: name and value of what it was played under.
        detail: of its log; None where only a frame was given.
    """

    number: int
    title: str
    outcome: str
    kept: str
    reason: str
    facts: tuple[tuple[str, str], ...]
    detail: Detail | None


def shown(page: Page) -> list[Shown]:
    """Those whose log was read, and a few of every cell, in the frame's order."""
    names = page.frame["episode"]
    details = page.source.details.kept
    chosen = {int(at) for at in names.index[names.isin(list(details))]}
    violated = page.frame["violation"] == 1
    for cell in page.cells:
        if len(chosen) >= SHOWN:
            break
        known = sum(at in chosen for at in cell.rows)
        # Those that violated are what a reader came for.
        ranked = sorted(cell.rows, key=lambda at: not violated[at])
        chosen.update(ranked[: max(0, A_CELL - known)])
    rows = page.frame.loc[sorted(chosen)].to_dict("records")
    return [
        _shown(at, {str(name): value for name, value in row.items()}, details)
        for at, row in zip(sorted(chosen), rows, strict=True)
    ]


def links(cell: Cell, there: set[int]) -> tuple[list[int], int]:
    """The episodes of a cell to link to, and how many there are besides."""
    found = [at for at in cell.rows if at in there][:LINKS]
    return found, len(cell.rows) - len(found)


def _shown(number: int, row: dict[str, object], details: dict[str, Detail]) -> Shown:
    title = f"{row['family']} {row['seed']}, {row['arm']}, {row['agent']}"
    if row["allowed"]:
        title += ", allowed request"
    if row["replicate"]:
        title += f", replicate {row['replicate']}"
    facts = ("log", *design.SETTINGS, "attack", "defense", "summarizer", "replicate")
    kept = {1.0: "policy survived", 0.0: "policy lost"}.get(
        _number(row["survived"]), "survival unscored"
    )
    return Shown(
        number,
        title,
        str(row["outcome"]),
        kept,
        str(row["reason"] or ""),
        tuple((name, str(row[name])) for name in facts if row[name] not in (None, "none")),
        details.get(str(row["episode"])),
    )


def _number(value: object) -> float:
    return float(value) if isinstance(value, (int, float)) else -1.0
