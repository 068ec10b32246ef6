"""``summary.json``: every number of the page, for programs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

from constraintrot.report.page.view import Cell, Compared

if TYPE_CHECKING:
    from constraintrot.report.page.sections import Page
    from constraintrot.stats.interval import Estimate

VERSION = 2


def summary(page: Page) -> str:
    """Return the report as JSON; a missing interval is null, with the reason next to it."""
    data = {
        "version": VERSION,
        "episodes": len(page.frame),
        "answers": [
            {
                "model": one.agent,
                "question": one.question,
                "answer": one.word,
                "figures": one.line,
                "text": one.text,
            }
            for one in page.answers
        ],
        "qualifies": dict(page.qualifies),
        "all_models": list(page.pooled),
        "primary": page.family.declared.model_dump(mode="json"),
        "further": [
            {"name": one.name, "p_value": one.p_value, "adjusted": one.adjusted}
            for one in page.family.further
        ],
        "adjusted_over": page.family.size,
        "notices": page.source.notices,
        "cells": [_cell(one) for one in page.cells],
        "others": [
            {"where": list(where), **_interval(estimate)} for where, estimate in page.others
        ],
        "comparisons": [_compared(one) for one in page.compared],
        "runs": [run.model_dump() for run in page.source.runs],
        "frames": [{"name": name, "sha256": digest} for name, digest in page.source.inputs],
    }
    return json.dumps(rounded(data), indent=1, allow_nan=False) + "\n"


def rounded(value: Any) -> Any:
    """Round the numbers of a value to 7 digits; further digits depend on the CPU."""
    if isinstance(value, dict):
        return {name: rounded(one) for name, one in cast("dict[str, object]", value).items()}
    if isinstance(value, list):
        return [rounded(one) for one in cast("list[object]", value)]
    return float(f"{value:.7g}") if isinstance(value, float) else value


def _cell(cell: Cell) -> dict[str, Any]:
    section, row, column = cell.where
    return {
        "cell": cell.number,
        "section": section,
        "row": row,
        "column": column,
        "value": cell.value,
        **_interval(cell.estimate),
        "silent": cell.silent,
    }


def _compared(one: Compared) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "model": one.agent,
        "a": one.a,
        "b": one.b,
        "value": one.value,
        "primary": one.primary or None,
        "setting": one.at or None,
    }
    comparison = one.comparison
    if comparison is None:
        return {**facts, "interval": None, "reason": f"unpaired: {one.reason}"}
    return {
        **facts,
        **_interval(comparison.difference),
        "of_a": comparison.a.summary(),
        "of_b": comparison.b.summary(),
        "only_a": comparison.only_a,
        "only_b": comparison.only_b,
        "p_value": comparison.p_value,
        "adjusted": comparison.adjusted,
        "test": comparison.test,
        "verdict": comparison.verdict if one.primary else "exploratory",
    }


def _interval(estimate: Estimate) -> dict[str, Any]:
    return {"interval": estimate.summary(), "reason": estimate.reason}
