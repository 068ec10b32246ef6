"""Figures of the documentation's pages, drawn from committed tables by the report's own code."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from constraintrot.report.page.drawing import (
    INK,
    LINES,
    SERIES,
    SHAPES,
    WIDTH,
    drawing,
    figure,
    for_paper,
    label,
    legend_beside,
)
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
    return {f"{name}.svg": for_paper(_white(one.canvas)) for name, one in figures.items()}


def write(texts: Mapping[str, str], folder: Path = FOLDER) -> None:
    """Write figures, by file name."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")


def _white(canvas: Any) -> Any:
    canvas.patch.set_facecolor("white")
    canvas.patch.set_alpha(1)
    return canvas


def by_step(
    series: Sequence[tuple[str, Sequence[tuple[float, float]]]], caption: str, axis: str,
    theirs: Sequence[tuple[float, float]] = (), theirs_name: str = "paper", steps: str = "step",
) -> Figure:  # fmt: skip
    """Draw lines over steps, with a marker at each tenth of them.

    Args:
        series: name and points (step, value) of each line.
        caption: caption of the figure.
        axis: label of the y axis.
        theirs: the paper's points, drawn hollow and without a line.
        theirs_name: their name in the legend.
        steps: label of the x axis.
    """
    with drawing(WIDTH, 3.1) as (axes, drawn):
        for at, (name, line) in enumerate(series):
            every = max(1, len(line) // 10)
            style = {"color": SERIES[at % 4], "ls": LINES[(at + at // 4) % 4], "lw": 1.6}
            # Lines that lie on each other have their markers at different places.
            place = (at * every // max(1, len(series)), every)
            style |= {"marker": SHAPES[at % 8], "markevery": place}
            xs, ys = [x for x, _ in line], [y for _, y in line]
            axes.plot(xs, ys, label=label(name, 40), **style)
        if theirs:
            xs, ys = [x for x, _ in theirs], [y for _, y in theirs]
            axes.plot(xs, ys, "v", mfc="none", mec=INK, ms=7, ls="", label=theirs_name)
        axes.set_ylim(bottom=0)
        axes.set_xlabel(steps)
        axes.set_ylabel(axis)
        axes.grid(axis="y")
        legend_beside(axes)
    alt = [
        f"{name}: from {line[0][1]:g} to {line[-1][1]:g}, at most {max(y for _, y in line):g}"
        for name, line in series
        if line
    ]
    data = [{"series": name, "step": x, "value": y} for name, line in series for x, y in line]
    return figure(drawn, caption, f"{axis} by {steps}. {'; '.join(alt)}", data)
