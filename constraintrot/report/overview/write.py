"""Write the files of an overview."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from constraintrot import files
from constraintrot.errors import ConstraintRotError
from constraintrot.extras import require
from constraintrot.report import tables, untrusted
from constraintrot.report.overview.episodes import (
    Cell,
    Difference,
    Episodes,
    Rate,
    differences,
    episodes,
    rates,
)
from constraintrot.report.page import design
from constraintrot.report.page.html import PlainTable, plain_page
from constraintrot.report.page.markdown import escaped
from constraintrot.report.page.summary import rounded
from constraintrot.report.page.view import counts, limits, numbers, p_text, percent, points
from constraintrot.report.stored import Stored
from constraintrot.stats.rate import METHODS

VERSION = 1
NAMES = ("report.html", "report.md", "summary.json", "rates.csv", "differences.csv")
SHOWN = 1_000
"""Most rows of a table on the page; the CSV files have all rows."""
TITLE = "Compaction and policies: overview"
_DIFFERENCES = (
    "Violation, second arm less first, on the same variants, seeds and replicates, at the second"
    " arm's setting. p-values are exact, and adjusted (Holm) over all differences of this page."
    " None of them is a claim that was declared before the run: those are for `constraintrot"
    " compare`, which reads the same store."
)
_RATE_HEADS = {
    "agent": "model", "arm": "arm", "setting": "setting", "value": "score", "counts": "n",
    "percent": "rate", "limits": "interval", "note": "note",
}  # fmt: skip
_DIFFERENCE_HEADS = {
    "agent": "model", "a": "first arm", "b": "second arm", "setting": "setting", "pairs": "pairs",
    "points": "difference", "p_text": "p, adjusted", "note": "note",
}  # fmt: skip
# Columns that say in words what other columns say in numbers.
_FOR_READERS = ("counts", "percent", "limits", "points", "p_text", "setting")


@dataclass(frozen=True)
class Overview:
    lines: tuple[str, ...]
    rates: tuple[Rate, ...]
    differences: tuple[Difference, ...]


def overview(given: Sequence[Stored], folder: Path) -> Overview:
    """Compute every rate and paired difference of a store, and write the page and its tables."""
    require("a report", "report")
    read = episodes(given)
    made = Overview(tuple(_lines(given, read)), tuple(rates(read)), tuple(differences(read)))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in texts(made).items():
            files.write(folder / name, text, ConstraintRotError)
    except OSError as error:
        raise ConstraintRotError(f"cannot write {folder}: {error.strerror or error}") from error
    return made


def _lines(given: Sequence[Stored], read: Episodes) -> Iterator[str]:
    cells = sum(len(one.commits) for one in given)
    yield (
        f"{read.n:,} episodes of {read.planned:,} planned, from {cells:,} cells of the"
        f" store; {read.errored:,} ended in an error."
    )
    if read.repeated:
        yield (
            f"{read.repeated:,} more have the same variant and settings as a newer one, and are"
            " not counted."
        )


def texts(made: Overview) -> dict[str, str]:
    of_rates = [_rate_row(one) for one in made.rates]
    of_differences = [_difference_row(one) for one in made.differences]
    shown = [
        _table("Rates", _RATE_HEADS, of_rates, METHODS),
        _table("Paired differences", _DIFFERENCE_HEADS, of_differences, _DIFFERENCES),
    ]
    data = {
        "version": VERSION,
        "kind": "overview",
        "read": list(made.lines),
        "rates": [_data(row) for row in of_rates],
        "differences": [_data(row) for row in of_differences],
    }
    return {
        "report.html": plain_page(TITLE, shown, lines=made.lines),
        "report.md": _markdown(made, shown),
        "summary.json": json.dumps(rounded(data), indent=1, allow_nan=False) + "\n",
        "rates.csv": _csv(of_rates),
        "differences.csv": _csv(of_differences),
    }


def _facts(cell: Cell) -> dict[str, Any]:
    return dict(zip(design.SETTINGS, cell.setting, strict=True))


def _rate_row(one: Rate) -> dict[str, Any]:
    silent = f"{one.silent} without a readable call" if one.unreliable else ""
    return {
        "agent": one.cell.agent, "arm": one.cell.arm, **_facts(one.cell), "allowed": one.cell.allowed,
        "value": one.value, **numbers(one.estimate), "silent": one.silent,
        "setting": one.cell.words, "counts": counts(one.estimate),
        "percent": percent(one.estimate), "limits": limits(one.estimate), "note": silent,
    }  # fmt: skip


def _difference_row(one: Difference) -> dict[str, Any]:
    found = one.comparison
    row = {"agent": one.cell.agent, "a": one.a, "b": one.cell.arm, **_facts(one.cell)}
    row |= {"setting": one.cell.words, "pairs": 0, "points": "-", "p_text": "-"}
    if found is None:
        return row | {"note": f"not paired: {one.reason}"}
    adjusted = found.p_value if found.adjusted is None else found.adjusted
    return row | {
        "pairs": found.n, **numbers(found.difference), "only_a": found.only_a,
        "only_b": found.only_b, "p_value": found.p_value, "adjusted": found.adjusted,
        "points": points(found.difference), "p_text": p_text(adjusted), "note": found.verdict,
    }  # fmt: skip


def _table(
    title: str, heads: Mapping[str, str], rows: Sequence[Mapping[str, Any]], note: str
) -> PlainTable:
    notes = [note]
    if len(rows) > SHOWN:
        notes.append(f"The first {SHOWN:,} of {len(rows):,} rows; the CSV file has them all.")
    shown = [[str(row[name]) for name in heads] for row in rows[:SHOWN]]
    return PlainTable(title, [*heads.values()], shown, notes)


def _markdown(made: Overview, shown: Sequence[PlainTable]) -> str:
    parts = [f"# {TITLE}", *map(escaped, made.lines)]
    for one in shown:
        body = [[escaped(cell) for cell in row] for row in one.rows]
        parts += [f"## {one.caption}", tables.Table(one.heads, body).markdown()]
        parts += map(escaped, one.notes)
    return "\n\n".join(parts) + "\n"


def _csv(rows: Sequence[Mapping[str, Any]]) -> str:
    plain = [{name: _plain(value) for name, value in _kept(row)} for row in rows]
    return tables.Table.of(plain).csv()


def _plain(value: object) -> object:
    if isinstance(value, str):
        return untrusted.escape_cell(untrusted.cut(value, untrusted.CELL))
    return float(f"{value:.12g}") if isinstance(value, float) else value


def _data(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: None if value != value else value for name, value in _kept(row)}


def _kept(row: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    return ((name, value) for name, value in row.items() if name not in _FOR_READERS)
