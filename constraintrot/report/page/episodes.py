"""The episodes that the page shows behind its rates, and pairs of them side by side."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from constraintrot.evaluation.conditions import WITHOUT_POLICY
from constraintrot.report.page import design
from constraintrot.report.page.detail import Detail
from constraintrot.report.page.view import Cell, Compared, permanent

if TYPE_CHECKING:
    from constraintrot.report.page.sections import Page

SHOWN = 400
A_CELL = 6
LINKS = 16


@dataclass(frozen=True)
class Shown:
    """One episode on the page.

    The title names family, seed, arm and agent; ``detail`` is None if only a frame was given.
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
    """Choose the episodes with details, and a few of every cell; in the frame's order."""
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
    """Return the episodes of a cell to link to, and how many further episodes it has."""
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
    if row["condition"] in WITHOUT_POLICY:
        kept = "no policy"
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


# Most pairs on the page, and of one comparison.
PAIRS = 60
A_COMPARISON = 6


@dataclass(frozen=True)
class Side:
    """A pair of episodes.

    Attributes:
        a: position of the first arm's episode in the frame.
        b: position of the second arm's episode.
    """

    compared: Compared
    anchor: str
    title: str
    a: int
    b: int
    changed: bool


def sides(page: Page) -> list[Side]:
    """Choose some pairs of each comparison: those that changed first, then those with texts."""
    at = dict(zip(page.frame["episode"].map(str), map(int, page.frame.index), strict=True))
    chosen: list[Side] = []
    for compared in page.compared:
        ranked = sorted(_of(page, compared, at), key=lambda one: _rank(page, one))
        chosen += ranked[: min(A_COMPARISON, PAIRS - len(chosen))]
    return chosen


def _of(page: Page, compared: Compared, at: dict[str, int]) -> Iterator[Side]:
    if compared.value != "violation":
        return
    violated, family, seed = (page.frame[name] for name in ("violation", "family", "seed"))
    outcome = page.frame["outcome"]
    for first, second in compared.pairs:
        a, b = at[first], at[second]
        title = f"{family[a]} {seed[a]}: {outcome[a]} → {outcome[b]}"
        anchor = permanent("s", compared.anchor, first, second)
        yield Side(compared, anchor, title, a, b, bool(violated[a] != violated[b]))


def _rank(page: Page, one: Side) -> tuple[bool, bool, str]:
    kept = page.source.details.kept
    names = page.frame["episode"]
    told = all(str(names[number]) in kept for number in (one.a, one.b))
    return not one.changed, not told, one.title
