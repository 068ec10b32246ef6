"""The figures of docs/playbook.md, drawn from the committed tables by the report's own code."""

from __future__ import annotations

import csv
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from constraintrot.report.page import collapse
from constraintrot.report.page.figure import by_step
from constraintrot.report.page.plots import drawn
from constraintrot.report.page.view import Figure

FOLDER: Final = Path("docs/figures")


def texts(results: Path) -> dict[str, str]:
    """Each figure as SVG, by file name."""
    sizes, rules = collapse.figures(collapse.read(results / "playbook-collapse.csv"))
    named = {
        "playbook-size": sizes,
        "playbook-rules": rules,
        "playbook-starvation": starved(results),
    }
    # Drawn on white: a page shows an SVG file as it is, in dark mode too.
    return {f"{name}.svg": drawn(_white(one.canvas)) for name, one in named.items()}


def starved(results: Path) -> Figure:
    """Runs in which a rule was pruned, by how often it was counted."""
    with (results / "playbook-starvation.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    series = [
        (
            pruning,
            [
                (float(row["rate"]), 100 * int(row["lost"]) / int(row["runs"]))
                for row in rows
                if row["pruning"] == pruning
            ],
        )
        for pruning in dict.fromkeys(row["pruning"] for row in rows)
    ]
    caption = "Runs that lost the rule, by the rate at which it is counted as helpful"
    return by_step(
        series, caption, "runs that lost the rule, per cent", steps="rate at which it is counted"
    )


def write(results: Path, folder: Path) -> None:
    """Write the figures."""
    import_module("matplotlib")
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts(results).items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")


def _white(canvas: Any) -> Any:
    canvas.patch.set_facecolor("white")
    canvas.patch.set_alpha(1)
    return canvas
