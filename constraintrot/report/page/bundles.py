"""Rows of tables of arms: arms with one episode each share a row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from constraintrot.report.page import design

if TYPE_CHECKING:
    import pandas as pd


def bundles(frame: pd.DataFrame) -> list[tuple[str, tuple[str, ...]]]:
    """The rows of a table of arms: a name, and the arms in it.

    Arms with one episode a model whose conditions begin with the same word are one row,
    except for the paper's arms.

    Args:
        frame: episodes, from ``prepared``.
    """
    sizes = frame.groupby(["arm", "agent"], sort=False).size().groupby("arm", sort=False).max()
    rows: dict[str, list[str]] = {}
    for name in design.arms(frame):
        condition, *rest = name.split(", ")
        alone = name not in design.ORDER and int(sizes[name]) == 1 and "_" in condition
        row = ", ".join([f"{condition.split('_')[0]}_…", *rest]) if alone else name
        rows.setdefault(row, []).append(name)
    return [
        (names[0] if len(names) == 1 else f"{row} ({len(names)} conditions)", tuple(names))
        for row, names in rows.items()
    ]


def bundled(rows: Sequence[tuple[str, tuple[str, ...]]]) -> tuple[str, ...]:
    """A note for each row of ``bundles`` that holds several conditions."""
    return tuple(
        f"{row}, one episode each: {', '.join(name.split(', ')[0] for name in names)}."
        for row, names in rows
        if len(names) > 1
    )
