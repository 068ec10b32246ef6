"""Figures of the documentation's pages, drawn from committed tables by the report's own code."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from constraintrot.report.page.plots import drawn
from constraintrot.report.page.view import Figure

FOLDER: Final = Path("docs/figures")


def rows(path: Path) -> list[dict[str, str]]:
    """A table's rows."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def lost_by_rate(path: Path, arm: str) -> list[tuple[str, list[tuple[float, float]]]]:
    """Return the percentage of runs lost at each rate, for each arm of a table.

    Args:
        path: a table with the columns ``rate``, ``lost`` and ``runs``.
        arm: the column that names the arms.
    """
    found: dict[str, list[tuple[float, float]]] = {}
    for row in rows(path):
        share = 100 * int(row["lost"]) / int(row["runs"])
        found.setdefault(row[arm], []).append((float(row["rate"]), share))
    return list(found.items())


def svgs(figures: Mapping[str, Figure]) -> dict[str, str]:
    """Each figure as SVG, by file name."""
    # Drawn on white: a page shows an SVG file as it is, in dark mode too.
    return {f"{name}.svg": drawn(_white(one.canvas)) for name, one in figures.items()}


def write(texts: Mapping[str, str], folder: Path = FOLDER) -> None:
    """Write figures, by file name."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")


def _white(canvas: Any) -> Any:
    canvas.patch.set_facecolor("white")
    canvas.patch.set_alpha(1)
    return canvas
