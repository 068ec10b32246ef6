"""Defenses, with their benefits and costs; and attacks on ingested content (paper's Table 4)."""

import math
from collections.abc import Sequence
from typing import Any

import pandas as pd

from constraintrot.report.defenses import compare_defenses
from constraintrot.report.page import design, paper
from constraintrot.report.page.figure import pareto
from constraintrot.report.page.view import (
    Block,
    Cell,
    Cells,
    Content,
    Missing,
    Row,
    Section,
    Table,
    share,
)
from constraintrot.stats.curves import at_k
from constraintrot.stats.interval import Estimate

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
    """Return the section of defenses: per model a table and a Pareto plot of benefits and costs.

    Attacked and defended episodes at another setting than the main one have a separate table.

    ``main`` has the prepared episodes at the main settings, ``frame`` all of them.
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
    numbered = frame.assign(replicate=frame["replicate"].fillna(0))
    costs = {row["defense"]: row for row in compare_defenses(numbered).to_dict("records")}
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


def _cost(row: dict[Any, Any], key: str, form: str) -> str:
    value = row.get(key)
    if value is None or math.isnan(float(value)) or row.get("defense") == "none":
        return "-"
    return format(float(value), form)


_SURVIVED = ", policy survived"
_ATTACKS = (
    "for a in volume inject_deprecation inject_budget inject_system bulk_document;"
    " do inspect eval constraintrot/suite --model MODEL -T conditions=compaction -T attack=$a; done"
)


def attacks(cells: Cells, frame: pd.DataFrame) -> Section:
    """Return the section of attacks: violation by attack and model, without a defense.

    The setting is that of most of a model's attacked episodes. It may differ from the main
    setting, because an attack has no effect if plain compaction loses every policy.
    """
    asked = frame[~frame["allowed"] & (frame["defense"] == "none")]
    compacted = asked[(asked["condition"] != "control") & (asked["compactor"] != "none")]
    attacked = compacted[compacted["attack"] != "none"]
    if attacked.empty:
        return Section("attacks", "Attacks", (Missing("Attacks", _ATTACKS), paper.attacks()))
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
    return Section("attacks", "Attacks", (*blocks, paper.attacks()))


def _at_k(cells: Cells, attacked: pd.DataFrame) -> Table | None:
    rows: list[Row] = []
    for (agent, name), part in attacked.groupby(["agent", "attack"], sort=True):
        scored = part[part["violation"].notna()]
        variants = scored.groupby(["family", "seed"], sort=False)["violation"].agg(["sum", "count"])
        k = int(variants["count"].min()) if len(variants) else 0
        if k < 2:
            continue
        rates = [at_k(variants["sum"].to_numpy(), variants["count"].to_numpy(), n) for n in (1, k)]
        shown = [
            share(cells.keep(rate, "Attacks", f"{agent}, {name}", f"success at {n}"))
            for rate, n in zip(rates, (1, k), strict=True)
        ]
        rows.append(Row((str(agent), str(name)), (shown[0], str(k), shown[1])))
    columns = ("success at 1", "k", "success at k")
    caption = "Share of variants in which at least one of k attempts succeeds"
    return Table(caption, ("model", "attack"), columns, tuple(rows)) if rows else None


def _row(cells: Cells, part: pd.DataFrame, name: str, agents: list[str]) -> Row:
    rates: list[Content] = [
        cells.rate(part[part["agent"] == agent], column, ("Attacks", name, f"{agent}{what}"))
        for agent in agents
        for column, what in (("violation", ""), ("survived", _SURVIVED))
    ]
    return Row((name,), tuple(rates))
