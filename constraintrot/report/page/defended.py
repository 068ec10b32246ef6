"""Defenses: violation, allowed tasks done, over-refusal and costs of each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from constraintrot.report.defenses import compare_defenses
from constraintrot.report.page import design, paper
from constraintrot.report.page.figure import pareto
from constraintrot.report.page.view import Block, Cell, Cells, Content, Missing, Row, Section, Table
from constraintrot.stats.interval import Estimate

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


def defenses(cells: Cells, main: pd.DataFrame, frame: pd.DataFrame) -> Section:
    """A table and a Pareto plot per model: violation, utility, over-refusal, costs.

    Attacked and defended episodes at another setting than the main one have a separate table.

    Args:
        cells: collects the rates.
        main: episodes from ``design.prepared``, at the main settings.
        frame: all episodes from ``design.prepared``.
    """
    # Defenses are compared after compaction, with and without an attack.
    compacted, whole = (one[one["condition"] == design.COMPACTION] for one in (main, frame))
    under = whole[(whole["attack"] != "none") & (whole["defense"] != "none")]
    if (compacted["defense"] == "none").all() and under.empty:
        return Section(TITLE.lower(), TITLE, (Missing(TITLE, _COMMAND), _paper()))
    blocks: list[Block] = []
    for agent in design.agents(compacted):
        mine = compacted[compacted["agent"] == agent]
        if mine["defense"].nunique() > 1:
            blocks += _of_agent(cells, mine, agent)
    apart = under[~under.index.isin(compacted.index)]
    if len(apart):
        elsewhere, settings = design.main(whole, apart)
        for agent, setting in settings.items():
            name = f"{agent}, under attack at another setting ({setting})"
            blocks += _of_agent(cells, elsewhere[elsewhere["agent"] == agent], name)
    if not compacted["allowed"].any():
        blocks.append(Missing("utility and over-refusal", _UTILITY))
    return Section(TITLE.lower(), TITLE, (*blocks, _paper()))


def _paper() -> str:
    rates = "; ".join(f"{name} {rate}" for name, rate in paper.DEFENSES.items())
    return f"The paper, with its models, passive / injection: {rates}. {paper.UTILITY}."


def _of_agent(cells: Cells, frame: pd.DataFrame, agent: str) -> list[Block]:
    costs = {row["defense"]: row for row in compare_defenses(_plain(frame)).to_dict("records")}
    rows: list[Row] = []
    drawn: list[tuple[str, Estimate, Estimate]] = []
    names = sorted({str(name) for name in frame["defense"]}, key=lambda one: (one != "none", one))
    for name in names:
        part = frame[frame["defense"] == name]
        asked, allowed = part[~part["allowed"]], part[part["allowed"]]
        where = (TITLE, f"{agent}, {name}")
        row: list[Content] = [
            cells.rate(asked[asked["attack"] == "none"], "violation", (*where, "violation")),
            cells.rate(asked[asked["attack"] != "none"], "violation", (*where, "under attack")),
            cells.rate(allowed, "utility", (*where, "allowed tasks done")),
            cells.rate(allowed, "over_refusal", (*where, "over-refusal")),
        ]
        violation, utility = row[0], row[2]
        if isinstance(violation, Cell) and isinstance(utility, Cell):
            drawn.append((str(name), violation.estimate, utility.estimate))
        row += [_cost(costs.get(name, {}), key, form) for key, _, form in _COSTS]
        rows.append(Row((str(name),), (*row, paper.of(paper.DEFENSES, str(name)))))
    columns = (
        "violation", "under attack", "allowed tasks done", "over-refusal",
        *(head for _, head, _ in _COSTS), f"{paper.NAME}, passive / injection",
    )  # fmt: skip
    table = Table(f"{agent}: defenses", ("defense",), columns, tuple(rows), _notes(rows, frame))
    if len(drawn) > 1:
        return [pareto(drawn, f"{agent}: violation against allowed tasks done"), table]
    return [table]


def _notes(rows: Sequence[Row], frame: pd.DataFrame) -> tuple[str, ...]:
    notes = ["Costs are medians of paired differences to no defense; model calls are means."]
    sizes = {row.cells[0].estimate.n for row in rows if isinstance(row.cells[0], Cell)}
    if len(sizes) > 1:
        notes.append(
            "The rows do not hold the same episodes; paired differences stand in their own section."
        )
    pooled = sorted({str(name) for name in frame["attack"]} - {"none"})
    if len(pooled) > 1:
        notes.append(f"Under attack: {', '.join(pooled)} together, as far as each row has them.")
    return tuple(notes)


def _plain(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.assign(replicate=frame["replicate"].fillna(0))


def _cost(row: dict[Any, Any], key: str, form: str) -> str:
    value = row.get(key)
    if value is None or math.isnan(float(value)) or row.get("defense") == "none":
        return "-"
    return format(float(value), form)
