"""Defenses: what each buys, what it costs, and what of the allowed it lets through."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from constraintrot.report.defenses import compare_defenses
from constraintrot.report.stats.interval import Estimate

from . import design, paper
from .figure import pareto
from .view import Block, Cell, Cells, Content, Missing, Row, Section, Table

if TYPE_CHECKING:
    import pandas as pd

TITLE = "Defenses"
_COMMAND = (
    "for t in suite utility; do for d in none pin system_channel spotlight;"
    " do inspect eval constraintrot/$t --model MODEL -T conditions=compaction -T defense=$d;"
    " done; done"
)
_UTILITY = (
    "for d in none pin system_channel spotlight; do inspect eval constraintrot/utility"
    " --model MODEL -T conditions=compaction -T defense=$d; done"
)
_COSTS = (
    ("tokens_added", "tokens added", "+.0f"),
    ("seconds_added", "seconds added", "+.3f"),
    ("defense_calls", "model calls", ".1f"),
)


def defenses(cells: Cells, main: pd.DataFrame) -> Section:
    """A table a model: violation with and without attack, utility, over-refusal, costs; Pareto."""
    # The arm of a defense is the compaction it protects, attacked or not.
    compacted = main[main["condition"] == design.COMPACTION]
    if (compacted["defense"] == "none").all():
        return Section(TITLE.lower(), TITLE, (Missing(TITLE, _COMMAND), _paper()))
    blocks: list[Block] = []
    for agent in design.agents(compacted):
        mine = compacted[compacted["agent"] == agent]
        if mine["defense"].nunique() > 1:
            blocks += _of_agent(cells, mine, agent)
    if not compacted["allowed"].any():
        blocks.append(Missing("utility and over-refusal", _UTILITY))
    return Section(TITLE.lower(), TITLE, (*blocks, _paper()))


def _paper() -> str:
    said = "; ".join(f"{name} {rates}" for name, rates in paper.DEFENSES.items())
    return f"The paper, with its models, passive / injection: {said}. {paper.UTILITY}."


def _of_agent(cells: Cells, frame: pd.DataFrame, agent: str) -> list[Block]:
    costs = {row["defense"]: row for row in compare_defenses(_plain(frame)).to_dict("records")}
    rows: list[Row] = []
    drawn: list[tuple[str, Estimate, Estimate]] = []
    names = sorted({str(name) for name in frame["defense"]}, key=lambda one: (one != "none", one))
    for name in names:
        part = frame[frame["defense"] == name]
        asked, allowed = part[~part["allowed"]], part[part["allowed"]]
        where = (TITLE, f"{agent}, {name}")
        found: list[Content] = [
            cells.rate(asked[asked["attack"] == "none"], "violation", (*where, "violation")),
            cells.rate(asked[asked["attack"] != "none"], "violation", (*where, "under attack")),
            cells.rate(allowed, "utility", (*where, "allowed tasks done")),
            cells.rate(allowed, "over_refusal", (*where, "over-refusal")),
        ]
        bad, good = found[0], found[2]
        if isinstance(bad, Cell) and isinstance(good, Cell):
            drawn.append((str(name), bad.estimate, good.estimate))
        found += [_cost(costs.get(name, {}), key, form) for key, _, form in _COSTS]
        rows.append(Row((str(name),), (*found, paper.of(paper.DEFENSES, str(name)))))
    columns = (
        "violation", "under attack", "allowed tasks done", "over-refusal",
        *(head for _, head, _ in _COSTS), f"{paper.NAME}, passive / injection",
    )  # fmt: skip
    notes = ("Costs are medians of paired differences to no defense; model calls are means.",)
    table = Table(f"{agent}: defenses", ("defense",), columns, tuple(rows), notes)
    if len(drawn) > 1:
        return [pareto(drawn, f"{agent}: violation against allowed tasks done"), table]
    return [table]


def _plain(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.assign(replicate=frame["replicate"].fillna(0))


def _cost(row: dict[Any, Any], key: str, form: str) -> str:
    value = row.get(key)
    if value is None or math.isnan(float(value)) or row.get("defense") == "none":
        return "-"
    return format(float(value), form)
