"""The figures of docs/wiki.md, drawn from the committed tables by the report's own code."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from constraintrot.memory.wiki import STEPS
from constraintrot.report.page.figure import Series, dots
from constraintrot.report.page.view import Figure
from constraintrot.stats.interval import Estimate
from constraintrot.stats.rate import clopper_pearson, rate
from results.tools.docs_figures import by_step, svgs
from results.tools.their_claims import read
from results.tools.wiki import claims, wording

_PLACES: Final = {
    "wiki_schema": "in the schema", "wiki": "on a page", "wiki_source": "in a source alone",
}  # fmt: skip


def texts(results: Path) -> dict[str, str]:
    """Return each figure as SVG, by file name."""
    reach = read(results / f"{claims.REACH}.csv")
    answers = wording.read(results / f"{claims.WORDING}.csv")
    named = {
        "wiki-reach": reached(reach),
        "wiki-attacks": attacked(reach),
        "wiki-wording": deferred(answers),
    }
    return svgs(named)


def reached(rows: claims.Rows) -> Figure:
    """Return the share of queries that reach the policy, by its place and the vault's size."""
    plain = [row for row in rows if row["setting"] == "as it is" and row["hot"] == "guide"]
    series = []
    for place, name in _PLACES.items():
        points = []
        for others in sorted({int(row["others"]) for row in plain}):
            cell = [
                int(row["reached"])
                for row in plain
                if (row["place"], row["others"]) == (place, str(others))
            ]
            points.append((float(others), 100 * sum(cell) / len(cell)))
        series.append((name, points))
    caption = "Requests on which a query reaches the policy, by where in the wiki it is"
    return by_step(series, caption, "policy reached, per cent", steps="other sources in the vault")


def attacked(rows: claims.Rows) -> Figure:
    """Return the share of queries that reach a policy on a page, under each attack."""
    page = [row for row in rows if row["place"] == "wiki" and row["others"] == "40"]
    labels = [
        name for name in dict.fromkeys(row["setting"] for row in page) if not name.endswith("write")
    ]

    def of(name: str, hot: str, linted: str) -> Estimate | None:
        cell = [
            row
            for row in page
            if (row["setting"], row["hot"], row["linted"]) == (name, hot, linted)
        ]
        # Variants of a family are no independent cases.
        labelled = [row["family"] for row in cell]
        return rate([int(row["reached"]) for row in cell], labelled) if cell else None

    series = [
        Series(title, [of(name, hot, linted) for name in labels])
        for title, hot, linted in (
            ("guide", "guide", "0"), ("gate", "gate", "0"), ("guide, after lint --fix", "guide", "1"),
        )
    ]  # fmt: skip
    caption = "A policy on a page: how often it is reached, with the hot cache as guide and as gate"
    return dots(labels, series, caption, "policy reached, per cent")


def deferred(answers: Sequence[dict[str, str]]) -> Figure:
    """Return the writes that scripted maintainers skipped, by the schema's wording."""
    series = []
    for model in ("heeding", "forgetful"):
        for worded in ("reminder", "consequence"):
            left = [
                row["left"].split()
                for row in answers
                if (row["model"], row["wording"]) == (f"scripted/maintainer-{model}", worded)
            ]
            rates: list[Estimate | None] = [
                clopper_pearson(sum(step in one for one in left), len(left)) for step in STEPS
            ]
            series.append(Series(f"{model}, {worded}", rates))
    caption = "Writes that scripted maintainers left for later, by the wording of the schema"
    return dots(list(STEPS), series, caption, "left for later, per cent")
