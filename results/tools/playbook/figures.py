"""The figures of docs/playbook.md, drawn from the committed tables by the report's own code."""

from __future__ import annotations

from pathlib import Path

from constraintrot.report.page.view import Figure
from results.tools.docs_figures import by_step, lost_by_rate, svgs
from results.tools.playbook import collapse_steps


def texts(results: Path) -> dict[str, str]:
    """Return each figure as SVG, by file name."""
    sizes, rules = collapse_steps.figures(collapse_steps.read(results / "playbook-collapse.csv"))
    named = {
        "playbook-size": sizes,
        "playbook-rules": rules,
        "playbook-starvation": starved(results),
    }
    return svgs(named)


def starved(results: Path) -> Figure:
    """Return the runs in which a rule was pruned, by its rate of counts."""
    series = lost_by_rate(results / "playbook-starvation.csv", "pruning")
    caption = "Runs that lost the rule, by the rate at which it is counted as helpful"
    return by_step(
        series, caption, "runs that lost the rule, per cent", steps="rate at which it is counted"
    )
