"""Costs of the episodes: tokens, seconds, and the prefix that a cache could serve."""

from __future__ import annotations

from typing import TYPE_CHECKING

from constraintrot.report.page import bundles, design
from constraintrot.report.page.view import Row, Section, Table

if TYPE_CHECKING:
    import pandas as pd

TITLE = "Cost"
_MEDIANS = (
    ("tokens_before", "history, tokens", ".0f"),
    ("tokens_after", "after compaction", ".0f"),
    ("last_input_tokens", "last input", ".0f"),
    ("input_tokens", "input, all calls", ".0f"),
    ("output_tokens", "output", ".0f"),
    ("seconds", "seconds", ".1f"),
    ("seconds_compaction", "of it compacting", ".1f"),
    ("prefix_tokens", "shared prefix", ".0f"),
)


def cost(frame: pd.DataFrame) -> Section:
    """Medians per episode, by model and condition."""
    rows: list[Row] = []
    rows_of = bundles.bundles(frame)
    for agent in design.agents(frame):
        mine = frame[frame["agent"] == agent]
        for arm, names in rows_of:
            part = mine[mine["arm"].isin(names)]
            if part.empty:
                continue
            medians = tuple(_median(part[name], form) for name, _, form in _MEDIANS)
            rows.append(Row((agent, arm), (str(len(part)), *medians, _cached(part))))
    columns = ("episodes", *(head for _, head, _ in _MEDIANS), "served from cache")
    notes = (
        *bundles.bundled(rows_of),
        "Medians an episode over all its settings. Tokens before and after compaction, last input"
        " and shared prefix are o200k tokens; input and output are as the provider counts them."
        " Seconds are of the machine that ran it.",
    )
    caption = "Cost by model and condition"
    table = Table(caption, ("model", "condition"), columns, tuple(rows), notes)
    return Section("cost", TITLE, (table,))


def _median(values: pd.Series[float], form: str) -> str:
    known = values.dropna()
    return format(float(known.median()), form) if len(known) else "-"


def _cached(part: pd.DataFrame) -> str:
    """Share of all input tokens that the provider read from its cache."""
    cached = float(part["cached_tokens"].sum())
    # Inspect's input tokens do not include the cached ones.
    total = float(part["input_tokens"].sum()) + cached
    return f"{100 * cached / total:.0f} %" if total else "-"
