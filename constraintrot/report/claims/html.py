"""The page of claims in the report's style: a table of verdicts, and a figure per claim."""

from collections.abc import Container, Mapping, Sequence
from importlib import resources
from typing import Any

from constraintrot.report import untrusted
from constraintrot.report.claims.page import VALUES, compressed, counted, reasons, test_line, why
from constraintrot.report.claims.verdicts import Answered
from constraintrot.report.page.figure import Series, dots
from constraintrot.report.page.html import LONGEST, policy
from constraintrot.report.page.view import Figure, p_text, permanent
from constraintrot.stats.interval import Interval


def html(
    title: str,
    opening: Sequence[str],
    answered: Sequence[Answered],
    left_out: Mapping[str, str],
    looks: Mapping[str, int],
    by_construction: Container[str],
    legend: Sequence[str] = (),
) -> str:
    """Return the page.

    ``left_out`` has, by title, why a claim was not played; ``looks``, the look that decided it;
    ``legend`` what the words mean.
    """
    rows: list[dict[str, Any]] = [
        {
            "title": one.claim.title,
            "link": permanent("k", one.claim.title),
            "cells": [one.verdict, why(one, by_construction), f"look {at}" if at else ""],
        }
        for one in answered
        for at in [looks.get(one.claim.title)]
    ]
    rows += [
        {"title": name, "link": "", "cells": ["not measured", why, ""]}
        for name, why in left_out.items()
    ]
    told = f"Of {len(answered)} claims: {counted(answered)}."
    if left_out:
        told += f" {len(left_out)} more were not played."
    heads = ("claim", "verdict", "why", "decided at")
    return rendered(title, opening, [(told, heads, rows)], answered, legend)


def rendered(
    title: str,
    opening: Sequence[str],
    tables: Sequence[tuple[str, Sequence[str], Sequence[Mapping[str, Any]]]],
    answered: Sequence[Answered] = (),
    legend: Sequence[str] = (),
) -> str:
    """Return a page of tables and, below them, claims and what their words mean.

    A table is a paragraph (may be empty), its heads and its rows. A row has ``title``, ``link``
    and ``cells``.
    """
    from markupsafe import Markup

    environment = untrusted.environment(LONGEST)
    folder = resources.files("constraintrot.report")
    template = environment.from_string(
        folder.joinpath("claims/claims.html.j2").read_text(encoding="utf-8")
    )
    text: str = template.render(
        title=title,
        opening=opening,
        tables=tables,
        claims=[_claim(one) for one in answered],
        legend=[line.removeprefix("- ").replace("*", "") for line in legend if line],
        policy=policy(""),
        style=Markup(folder.joinpath("page/style.css").read_text(encoding="utf-8")),
        drawn=Markup,
    )
    return text


def facts(one: Answered, look: int | None) -> dict[str, Any]:
    return {
        "title": one.claim.title,
        "verdict": one.verdict,
        "reasons": [{"reason": given.reason, "words": given.words} for given in one.why],
        "p_value": one.p_value,
        "adjusted": one.adjusted,
        "decided_at_look": look,
        "arms": [
            {
                "name": name,
                "value": one.claim.arms[name].value,
                "paper": one.claim.arms[name].paper,
                "here": None if estimate is None else estimate.summary(),
                "n": 0 if estimate is None else estimate.n,
                "count": None if estimate is None else estimate.k,
                "silent": one.silent.get(name, 0),
                "compressed_to": one.compression[name],
            }
            for name, estimate in one.arms.items()
        ],
        "tests": [test_line(tested) for tested in one.tests],
        "by_family": _by_family(one),
    }


def _by_family(one: Answered) -> dict[str, Any] | None:
    """Return the number of families and the p-value with them as the unit; None if unpaired."""
    found = [tested.by_unit.get("family") for tested in one.tests]
    known = [comparison for comparison in found if comparison is not None]
    if not known or len(known) < len(found):
        return None
    largest = max(known, key=lambda comparison: comparison.p_value)
    return {"families": largest.clusters, "p_value": largest.p_value}


def _claim(one: Answered) -> dict[str, Any]:
    over = (
        "" if one.adjusted is None else f"Adjusted over the planned claims, {p_text(one.adjusted)}."
    )
    return {
        "title": one.claim.title,
        "link": permanent("k", one.claim.title),
        "verdict": one.verdict,
        "reasons": reasons(one),
        "told": f"{over} {one.claim.words}".strip(),
        "claim": one.claim.claim,
        "paper": one.claim.paper,
        "figure": _picture(one),
        "compressed": ", ".join(
            f"{name} {compressed(ratio)}"
            for name, ratio in one.compression.items()
            if ratio is not None
        ),
        "silent": ", ".join(f"{name} {count}" for name, count in one.silent.items() if count),
        "tests": [test_line(tested) for tested in one.tests],
    }


def _picture(one: Answered) -> Figure | None:
    known = [
        (name, estimate) for name, estimate in one.arms.items() if isinstance(estimate, Interval)
    ]
    if not known:
        return None
    theirs = [
        None if (rate := one.claim.arms[name].paper) is None else 100 * rate for name, _ in known
    ]
    labels = [f"{name}, {VALUES[one.claim.arms[name].value]}" for name, _ in known]
    series = Series("here", [estimate for _, estimate in known])
    return dots(labels, [series], one.claim.title, "per cent", theirs)
