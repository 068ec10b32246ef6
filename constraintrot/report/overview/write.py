"""Write the files of an overview."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from constraintrot.errors import ConstraintRotError
from constraintrot.extras import require
from constraintrot.report import untrusted
from constraintrot.report.overview.episodes import Cell, Episodes, episodes
from constraintrot.report.overview.rates import Difference, Rate, differences, rates
from constraintrot.report.page import design
from constraintrot.report.page.summary import rounded
from constraintrot.report.page.view import counts, limits, p_text, percent, points
from constraintrot.report.stored import Stored
from constraintrot.report.tables import Table
from constraintrot.stats.interval import Estimate
from constraintrot.stats.rate import METHODS

VERSION = 1
NAMES = ("report.html", "report.md", "summary.json", "rates.csv", "differences.csv")
SHOWN = 1_000
"""Most rows of a table of the page; the CSV files have all."""
_LONGEST = 300
_DIFFERENCES = (
    "Violation, second arm less first, on the same variants, seeds and replicates, at the second"
    " arm's setting. p-values are exact, and adjusted (Holm) over all differences of this page."
    " None of them is a claim that was declared before the run: those are for `constraintrot"
    " compare`, which reads the same store."
)


@dataclass(frozen=True)
class Overview:
    """What was written.

    Attributes:
        lines: what was read, in sentences.
        rates: every rate.
        differences: every paired difference.
    """

    lines: tuple[str, ...]
    rates: tuple[Rate, ...]
    differences: tuple[Difference, ...]


def overview(given: Sequence[Stored], folder: Path) -> Overview:
    """Compute every rate and paired difference of a store, and write the page and its tables.

    Args:
        given: one store.
        folder: where to write ``NAMES``.

    Raises:
        MissingExtraError: the extra ``report`` is not installed.
        ConstraintRotError: the store cannot be read, or the folder cannot be written.
    """
    require("a report", "report")
    read = episodes(given)
    lines = tuple(_lines(given, read))
    made = Overview(lines, tuple(_sorted(rates(read))), tuple(differences(read)))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in texts(made).items():
            (folder / name).write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise ConstraintRotError(f"cannot write {folder}: {error.strerror or error}") from error
    return made


def _sorted(given: Iterable[Rate]) -> list[Rate]:
    return sorted(given, key=lambda one: (one.cell.agent, one.cell.arm, _words(one.cell)))


def _lines(given: Sequence[Stored], read: Episodes) -> Iterable[str]:
    cells = sum(len(one.commits) for one in given)
    yield (
        f"{len(read.cell):,} episodes of {read.planned:,} planned, from {cells:,} cells of the"
        f" store; {read.errored:,} ended in an error."
    )
    if read.repeated:
        yield (
            f"{read.repeated:,} more have the same variant and settings as a newer one, and are"
            " not counted."
        )


def texts(made: Overview) -> dict[str, str]:
    """The content of each file, by its name."""
    of_rates = [_rate_row(one) for one in made.rates]
    of_differences = [_difference_row(one) for one in made.differences]
    tables = {
        "Rates": (_shown(of_rates, _RATE_HEADS), len(of_rates), f"{METHODS}"),
        "Paired differences": (
            _shown(of_differences, _DIFFERENCE_HEADS), len(of_differences), _DIFFERENCES,
        ),
    }  # fmt: skip
    return {
        "report.html": _html(made, tables),
        "report.md": _markdown(made, tables),
        "summary.json": _summary(made),
        "rates.csv": _csv(of_rates),
        "differences.csv": _csv(of_differences),
    }


_RATE_HEADS = {
    "agent": "model", "arm": "arm", "setting": "setting", "value": "score", "counts": "n",
    "percent": "rate", "limits": "interval", "note": "note",
}  # fmt: skip
_DIFFERENCE_HEADS = {
    "agent": "model", "a": "first arm", "b": "second arm", "setting": "setting", "pairs": "pairs",
    "points": "difference", "p_text": "p, adjusted", "note": "note",
}  # fmt: skip


def _words(cell: Cell) -> str:
    return design.words(dict(zip(design.SETTINGS, cell.setting, strict=True)))


def _facts(cell: Cell) -> dict[str, Any]:
    return dict(zip(design.SETTINGS, cell.setting, strict=True))


def _rate_row(one: Rate) -> dict[str, Any]:
    silent = f"{one.silent} without a readable call" if one.unreliable else ""
    return {
        "agent": one.cell.agent, "arm": one.cell.arm, **_facts(one.cell), "allowed": one.cell.allowed,
        "value": one.value, **_numbers(one.estimate), "silent": one.silent,
        "setting": _words(one.cell), "counts": counts(one.estimate),
        "percent": percent(one.estimate), "limits": limits(one.estimate), "note": silent,
    }  # fmt: skip


def _difference_row(one: Difference) -> dict[str, Any]:
    found = one.comparison
    row = {"agent": one.cell.agent, "a": one.a, "b": one.cell.arm, **_facts(one.cell)}
    row |= {"setting": _words(one.cell), "pairs": 0, "points": "-", "p_text": "-"}
    if found is None:
        return row | {"note": f"not paired: {one.reason}"}
    adjusted = found.p_value if found.adjusted is None else found.adjusted
    return row | {
        "pairs": found.n, **_numbers(found.difference), "only_a": found.only_a,
        "only_b": found.only_b, "p_value": found.p_value, "adjusted": found.adjusted,
        "points": points(found.difference), "p_text": p_text(adjusted), "note": found.verdict,
    }  # fmt: skip


def _numbers(one: Estimate) -> dict[str, Any]:
    found = one.summary()
    return {
        "k": one.k, "n": one.n, "estimate": one.estimate,
        "lower": None if found is None else found["lower"],
        "upper": None if found is None else found["upper"],
        "method": one.reason if found is None else found["method"],
    }  # fmt: skip


def _shown(rows: Sequence[Mapping[str, Any]], heads: Mapping[str, str]) -> list[list[str]]:
    return [[*heads.values()], *([str(row[name]) for name in heads] for row in rows[:SHOWN])]


_Tables = Mapping[str, tuple[list[list[str]], int, str]]


def _html(made: Overview, tables: _Tables) -> str:
    from markupsafe import Markup

    folder = resources.files("constraintrot.report")
    style = folder.joinpath("page", "style.css").read_text(encoding="utf-8")
    template = folder.joinpath("overview", "template.html.j2").read_text(encoding="utf-8")
    text: str = (
        untrusted.environment(_LONGEST * 10)
        .from_string(template)
        .render(lines=made.lines, tables=tables, style=Markup(style), shown=SHOWN)
    )
    return text


def _markdown(made: Overview, tables: _Tables) -> str:
    parts = ["# Compaction and policies: overview", *made.lines]
    for title, (rows, count, note) in tables.items():
        head, *body = [[_cell(one) for one in row] for row in rows]
        parts += [f"## {title}", note, Table(head, body).markdown()]
        if count > SHOWN:
            parts.append(f"The first {SHOWN:,} of {count:,} rows; the CSV file has them all.")
    return "\n\n".join(parts) + "\n"


def _cell(text: str) -> str:
    safe = untrusted.cut(text, _LONGEST).replace("\n", " ")
    for sign in "\\`*_[]<>|":
        safe = safe.replace(sign, f"\\{sign}")
    return safe


def _csv(rows: Sequence[Mapping[str, Any]]) -> str:
    return Table.of(
        [
            {name: _plain(value) for name, value in row.items() if name not in _FOR_READERS}
            for row in rows
        ]
    ).csv()


_FOR_READERS = ("counts", "percent", "limits", "points", "p_text", "setting")


def _plain(value: object) -> object:
    if isinstance(value, str):
        return untrusted.escape_cell(untrusted.cut(value, untrusted.CELL))
    return float(f"{value:.12g}") if isinstance(value, float) else value


def _summary(made: Overview) -> str:
    data = {
        "version": VERSION,
        "kind": "overview",
        "read": list(made.lines),
        "rates": [_without_gaps(_rate_row(one)) for one in made.rates],
        "differences": [_without_gaps(_difference_row(one)) for one in made.differences],
    }
    return json.dumps(rounded(data), indent=1, allow_nan=False) + "\n"


def _without_gaps(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: None if value != value else value
        for name, value in row.items()
        if name not in _FOR_READERS
    }
