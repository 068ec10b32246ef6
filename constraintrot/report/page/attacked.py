"""The paper's Table 4: attacks on ingested content."""

from __future__ import annotations

from typing import TYPE_CHECKING

from constraintrot.report.page import design, paper
from constraintrot.report.page.view import (
    Block,
    Cells,
    Content,
    Missing,
    Row,
    Section,
    Table,
    share,
)
from constraintrot.stats.curves import at_k

if TYPE_CHECKING:
    import pandas as pd

TITLE = "Attacks"
_SURVIVED = ", policy survived"
_COMMAND = (
    "for a in volume inject_deprecation inject_budget inject_system bulk_document;"
    " do inspect eval constraintrot/suite --model MODEL -T conditions=compaction -T attack=$a; done"
)


def attacks(cells: Cells, frame: pd.DataFrame) -> Section:
    """Violation by attack, without a defense, attacks x models.

    The setting is the one that most of a model's attacked episodes have. It may differ from
    the main setting: where plain compaction loses every policy, an attack has no effect.
    """
    asked = frame[~frame["allowed"] & (frame["defense"] == "none")]
    compacted = asked[(asked["condition"] != "control") & (asked["compactor"] != "none")]
    attacked = compacted[compacted["attack"] != "none"]
    if attacked.empty:
        return Section(TITLE.lower(), TITLE, (Missing(TITLE, _COMMAND), paper.attacks()))
    agents = design.agents(attacked)
    compacted, settings = design.main(compacted, attacked)
    attacked = compacted[compacted["attack"] != "none"]
    rows = [
        _row(cells, compacted[compacted["arm"] == design.COMPACTION], "no attack", agents),
        *(
            _row(cells, part, str(name), agents)
            for name, part in attacked.groupby("attack", sort=True)
        ),
    ]
    caption = "Violation after compaction, by attack; no defense"
    columns = tuple(f"{agent}{what}" for agent in agents for what in ("", _SURVIVED))
    notes = tuple(f"Held fixed for {agent}: {setting}." for agent, setting in settings.items())
    blocks: list[Block] = [Table(caption, ("attack",), columns, tuple(rows), notes)]
    tried = _at_k(cells, attacked)
    if tried:
        blocks.append(tried)
    return Section(TITLE.lower(), TITLE, (*blocks, paper.attacks()))


def _at_k(cells: Cells, attacked: pd.DataFrame) -> Table | None:
    """Success at 1 and at k attempts, for models and attacks with replicates; None without."""
    rows: list[Row] = []
    for (agent, name), part in attacked.groupby(["agent", "attack"], sort=True):
        scored = part[part["violation"].notna()]
        variants = scored.groupby(["family", "seed"], sort=False)["violation"].agg(["sum", "count"])
        k = int(variants["count"].min()) if len(variants) else 0
        if k < 2:
            continue
        rates = [at_k(variants["sum"].to_numpy(), variants["count"].to_numpy(), n) for n in (1, k)]
        shown = [
            share(cells.keep(rate, TITLE, f"{agent}, {name}", f"success at {n}"))
            for rate, n in zip(rates, (1, k), strict=True)
        ]
        rows.append(Row((str(agent), str(name)), (shown[0], str(k), shown[1])))
    columns = ("success at 1", "k", "success at k")
    caption = "Share of variants in which at least one of k attempts succeeds"
    return Table(caption, ("model", "attack"), columns, tuple(rows)) if rows else None


def _row(cells: Cells, part: pd.DataFrame, name: str, agents: list[str]) -> Row:
    rates: list[Content] = [
        cells.rate(part[part["agent"] == agent], column, (TITLE, name, f"{agent}{what}"))
        for agent in agents
        for column, what in (("violation", ""), ("survived", _SURVIVED))
    ]
    return Row((name,), tuple(rates))
