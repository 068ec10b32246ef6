"""The episodes that the page shows behind its rates."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from constraintrot.report.page import design
from constraintrot.report.page.detail import Detail
from constraintrot.report.page.view import Cell, permanent

if TYPE_CHECKING:
    from constraintrot.report.page.sections import Page

SHOWN = 400
A_CELL = 6
LINKS = 16


@dataclass(frozen=True)
class Shown:
    """One episode on the page.

    Attributes:
        number: position in the frame.
        anchor: its id on the page.
        arm: its arm.
        title: family, seed, arm and agent, for a reader.
        outcome: outcome of the verdict.
        kept: whether the context still contained the policy, for a reader.
        reason: reason of the verdict.
        facts: name and value of each setting.
        detail: details from its log; None if only a frame was given.
    """

    number: int
    anchor: str
    arm: str
    title: str
    outcome: str
    kept: str
    reason: str
    facts: tuple[tuple[str, str], ...]
    detail: Detail | None


def shown(page: Page, needed: Iterable[int] = ()) -> list[Shown]:
    """The episodes with details, and a few of every cell, in the frame's order.

    Args:
        page: the page.
        needed: further episodes that it shows, by position.
    """
    names = page.frame["episode"]
    details = page.source.details.kept
    chosen = {int(at) for at in names.index[names.isin(list(details))]} | set(needed)
    violated = page.frame["violation"] == 1
    for cell in page.cells:
        if len(chosen) >= SHOWN:
            break
        known = sum(at in chosen for at in cell.rows)
        # Violations first.
        ranked = sorted(cell.rows, key=lambda at: not violated[at])
        chosen.update(ranked[: max(0, A_CELL - known)])
    rows = page.frame.loc[sorted(chosen)].to_dict("records")
    return [
        _shown(at, {str(name): value for name, value in row.items()}, details)
        for at, row in zip(sorted(chosen), rows, strict=True)
    ]


def links(cell: Cell, numbers: set[int]) -> tuple[list[int], int]:
    """The episodes of a cell to link to, and how many further episodes it has.

    Args:
        cell: the cell.
        numbers: the episodes that the page shows.
    """
    linked = [at for at in cell.rows if at in numbers][:LINKS]
    return linked, len(cell.rows) - len(linked)


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
        permanent("e", str(row["episode"])),
        str(row["arm"]),
        title,
        str(row["outcome"]),
        kept,
        str(row["reason"] or ""),
        tuple((name, str(row[name])) for name in facts if row[name] not in (None, "none")),
        details.get(str(row["episode"])),
    )


def _number(value: object) -> float:
    return float(value) if isinstance(value, (int, float)) else -1.0
