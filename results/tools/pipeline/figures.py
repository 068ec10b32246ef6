"""The figures of docs/pipeline.md, drawn from the committed tables by the report's own code."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from constraintrot.report.page.figure import Series, dots
from constraintrot.report.page.view import Figure
from constraintrot.stats.rate import rate
from results.tools.docs_figures import by_step, lost_by_rate, rows, svgs

_PROFILES: Final = {"kept": "profile kept", "literal": "profile literal"}


def texts(results: Path) -> dict[str, str]:
    """Return each figure as SVG, by file name."""
    named = {
        "pipeline-layers": alone(results, "none"),
        "pipeline-layers-pinned": alone(results, "pin"),
        "pipeline-starvation": starved(results),
    }
    return svgs(named)


def alone(results: Path, defense: str) -> Figure:
    """Return the violations behind each layer alone, by profile."""
    table = [row for row in rows(results / "which-layer.csv") if row["defense"] == defense]
    names = list(dict.fromkeys(row["layer"] for row in table))
    series = [
        Series(told, [_rate(table, profile, name) for name in names])
        for profile, told in _PROFILES.items()
    ]
    what = "without pins" if defense == "none" else "with the rule pinned"
    return dots(names, series, f"Violations behind one layer alone, {what}, scripted models")


def _rate(table: list[dict[str, str]], profile: str, layer: str) -> Any:
    for row in table:
        if (row["profile"], row["layer"]) == (profile, layer):
            hits, n = int(row["alone_violations"]), int(row["alone_n"])
            return rate([1] * hits + [0] * (n - hits))
    return None


def starved(results: Path) -> Figure:
    """Return the runs that lost a rule to a learned budget, by its rate of refusals."""
    series = lost_by_rate(results / "pipeline-starvation.csv", "learning")
    return by_step(
        series,
        "Runs in which learning drove the rule out, by how often it makes the agent refuse",
        "runs without the rule, per cent",
        steps="rate of refusals under the rule",
    )
