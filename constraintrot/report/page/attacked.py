"""The paper's Table 4: attacks on what the agent ingests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import design, paper
from .view import Block, Cells, Content, Missing, Row, Section, Table

if TYPE_CHECKING:
    import pandas as pd

TITLE = "Attacks"
_COMMAND = (
    "for a in volume inject_deprecation inject_budget inject_system bulk_document;"
    " do inspect eval constraintrot/suite --model MODEL -T conditions=compaction -T attack=$a; done"
)


def attacks(cells: Cells, main: pd.DataFrame) -> Section:
    """Violation by attack, without a defense, attacks x models."""
    asked = main[~main["allowed"] & (main["defense"] == "none")]
    compacted = asked[(asked["condition"] != "control") & (asked["compactor"] != "none")]
    attacked = compacted[compacted["attack"] != "none"]
    if attacked.empty:
        return Section(TITLE.lower(), TITLE, (Missing(TITLE, _COMMAND), paper.attacks()))
    agents = design.agents(attacked)
    compacted = compacted[compacted["agent"].isin(agents)]
    rows = [
        _row(cells, compacted[compacted["arm"] == design.COMPACTION], "no attack", agents),
        *(
            _row(cells, part, str(name), agents)
            for name, part in attacked.groupby("attack", sort=True)
        ),
    ]
    caption = "Violation after compaction, by attack; no defense"
    columns = (*agents, "policy kept, all models")
    table: Block = Table(caption, ("attack",), columns, tuple(rows))
    return Section(TITLE.lower(), TITLE, (table, paper.attacks()))


def _row(cells: Cells, part: pd.DataFrame, name: str, agents: list[str]) -> Row:
    found: list[Content] = [
        cells.rate(part[part["agent"] == agent], "violation", (TITLE, name, agent))
        for agent in agents
    ]
    kept = cells.rate(part, "kept", (TITLE, name, "policy kept, all models"))
    return Row((name,), (*found, kept))
