"""The answers over all models with their figure, and Tables 1 to 3 of the paper."""

from collections.abc import Mapping, Sequence

import pandas as pd

from constraintrot.report.arms import frame_rate
from constraintrot.report.page import answer, counted, design, paper
from constraintrot.report.page.compared import pair
from constraintrot.report.page.figure import Series, dots
from constraintrot.report.page.primary import Family
from constraintrot.report.page.view import (
    NOT_MEASURED,
    Block,
    Cell,
    Cells,
    Compared,
    Content,
    Figure,
    Missing,
    Row,
    Section,
    Table,
    points,
)
from constraintrot.stats.interval import Interval
from constraintrot.stats.paired import Comparison

HEADLINE = "Conditions by model"
MEAN = "mean of the models"
TASKS = "Decay by task"
SUMMARIZERS = "Summarizer by agent"
_ALL = "floor,control,compaction,attack_volume,attack_inject,defense_pin,defense_pin_attack"
_SUITE = "inspect eval constraintrot/suite --model MODEL"


def headline(cells: Cells, main: pd.DataFrame, settings: dict[str, str]) -> Section:
    """Return the section of the paper's Table 2: violation by condition and model.

    ``main`` has the prepared episodes at each agent's main setting; ``settings`` has its words.
    """
    asked = main[~main["allowed"]]
    agents = design.agents(main)
    several = comparable(main)
    columns = (*agents, *([MEAN] if several else []), paper.NAME)
    rows: list[Row] = []
    rows_of = counted.bundles(asked)
    for arm, names in rows_of:
        of_arm = asked[asked["arm"].isin(names)]
        rates: list[Content] = [
            cells.rate(of_arm[of_arm["agent"] == agent], "violation", (HEADLINE, arm, agent))
            for agent in agents
        ]
        if several:
            rates.append(mean(rates, len(agents)))
        rows.append(Row((arm,), (*rates, paper.pooled(arm))))
    held = dict.fromkeys(settings.values())
    notes = list(counted.bundled(rows_of))
    if len(held) == 1:
        notes.append(f"Held fixed: {'; '.join(held)}.")
    if len(held) > 1:
        notes += [f"Held fixed for {agent}: {setting}." for agent, setting in settings.items()]
    left = len(cells.frame) - len(main)
    if left:
        notes.append(
            f"Not in this table: {left} episodes at other settings; see the sections below."
        )
    caption = "Share of episodes that violated the policy, paper's Table 2"
    blocks: list[Block] = []
    if rows:
        blocks.append(Table(caption, ("condition",), columns, tuple(rows), tuple(notes)))
    missing = [name for name in _ALL.split(",") if name not in set(asked["arm"])]
    if missing:
        blocks.append(Missing(", ".join(missing), f"{_SUITE} -T conditions={','.join(missing)}"))
    return Section("headline", HEADLINE, (*blocks, paper.headline()))


def tasks(cells: Cells, main: pd.DataFrame) -> Section:
    """Return the section of the paper's Table 1: decay by task, one table per model."""
    asked = main[~main["allowed"]]
    blocks: list[Block] = []
    for agent in design.agents(asked):
        mine = asked[asked["agent"] == agent]
        if {"control", design.COMPACTION} <= set(mine["arm"]):
            blocks += _decay(cells, mine, agent)
    if not blocks:
        blocks.append(Missing(TASKS, f"{_SUITE} -T conditions=floor,control,compaction"))
    return Section("tasks", TASKS, tuple(blocks))


def _decay(cells: Cells, frame: pd.DataFrame, agent: str) -> list[Block]:
    arms = [name for name in ("floor", "control", design.COMPACTION) if name in set(frame["arm"])]
    rows: list[Row] = []
    parts = [(family, frame[frame["family"] == family], "") for family in _families(frame)]
    parts += [(f"all {kind}", part, kind) for kind, part in design.kinds(frame)]
    for name, part, kind in parts:
        where = (TASKS, f"{agent}, {name}")
        rates: list[Content] = [
            cells.rate(part[part["arm"] == arm], "violation", (*where, arm)) for arm in arms
        ]
        compacted = part[part["arm"] == design.COMPACTION]
        rates.append(cells.rate(compacted, "survived", (*where, "policy survived")))
        decay = _difference(cells, part, agent, name)
        rows.append(Row((name,), (*rates, decay, paper.of(paper.KINDS, kind))))
    columns = (*arms, "policy survived", "decay (paired)", f"decay, {paper.NAME}")
    table = Table(f"{agent}: violation by task, paper's Table 1", ("task",), columns, tuple(rows))
    names = [row.heads[0] for row in rows]
    series = [
        Series(
            arm, [one.estimate if isinstance(one := row.cells[at], Cell) else None for row in rows]
        )
        for at, arm in enumerate(arms)
        if arm != "floor"
    ]
    return [dots(names, series, f"{agent}: violation by task"), table]


def _difference(cells: Cells, frame: pd.DataFrame, agent: str, name: str) -> str:
    comparison = pair(frame, agent, "control", design.COMPACTION).comparison
    if comparison is None:
        return NOT_MEASURED
    difference = cells.keep(comparison.difference, TASKS, agent, name)
    return f"{points(difference)}, {comparison.n} pairs"


def _families(frame: pd.DataFrame) -> list[str]:
    known = frame[["kind", "family"]].drop_duplicates()
    order = {"soft": 0, "hard": 1}
    pairs = sorted(
        zip(known["kind"], known["family"], strict=True),
        key=lambda pair: (order.get(str(pair[0]), 2), str(pair[1])),
    )
    return [str(family) for _, family in pairs]


def summarizers(cells: Cells, frame: pd.DataFrame) -> Section:
    """Return the section of the paper's Table 3: violation by summarizer and agent."""
    asked = frame[~frame["allowed"] & (frame["arm"] == design.COMPACTION)]
    made = asked[asked["summarizer"].notna() & (asked["summarizer"] != "none")]
    crossed = made[["agent", "summarizer"]].drop_duplicates()
    if crossed["summarizer"].nunique() < 2:
        command = (
            "inspect eval constraintrot/suite --model AGENT --model-role summarizer=SUMMARIZER"
            " -T conditions=compaction"
        )
        missing = Missing(f"{SUMMARIZERS} (one summarizer alone)", command)
        return Section("summarizers", SUMMARIZERS, (missing, paper.summarizers()))
    held = [name for name in design.SETTINGS if name not in ("summary_by", "scaffold")]
    groups = list(made.groupby(held, sort=False, dropna=False))
    _, largest = max(groups, key=lambda group: (group[1]["summarizer"].nunique(), len(group[1])))
    agents = design.agents(largest)
    # Agents may have different scaffolds, but the cells of one agent must share one.
    scaffolds = {agent: part["scaffold"].mode()[0] for agent, part in largest.groupby("agent")}
    largest = largest[largest["scaffold"] == largest["agent"].map(scaffolds)]
    rows = tuple(
        Row(
            (str(summarizer),),
            tuple(
                cells.rate(
                    part[part["agent"] == agent], "violation", (SUMMARIZERS, str(summarizer), agent)
                )
                for agent in agents
            ),
        )
        for summarizer, part in largest.groupby("summarizer", sort=True)
    )
    caption = "Violation after compaction; rows wrote the summary, columns acted on it"
    table = Table(caption, ("summarizer / agent",), tuple(agents), rows)
    return Section("summarizers", SUMMARIZERS, (table, paper.summarizers()))


_SHOWN = (
    "floor",
    "control",
    design.COMPACTION,
    "attack_inject",
    "defense_pin",
    "defense_pin_attack",
)


def comparable(frame: pd.DataFrame) -> bool:
    """Return whether a mean over subjects is a mean over models: each once, in one scaffold."""
    agents = frame["agent"].nunique()
    models = frame["model" if "model" in frame else "agent"].nunique()
    return agents == models > 1 and frame["scaffold"].nunique() <= 1


def pooled(family: Family, frame: pd.DataFrame) -> list[str]:
    """Return the means over all models, each with the same weight, and the models without decay."""
    agents = design.agents(frame)
    if len(agents) < 2:
        return []
    asked = frame[~frame["allowed"]]
    lines: list[str] = []
    for name, (a, b) in zip(("Compaction", "Pin"), answer.QUESTIONS, strict=True):
        found = [answer.question(asked, family, agent, a, b) for agent in agents]
        paired = {one.agent: one.comparison for one in found if one.comparison is not None}
        if len(paired) > 1 and comparable(asked):
            lines.append(_mean(name, paired, len(agents)))
        if a == "control":
            lines += _named([one for one in found if one.comparison is not None], family)
    return lines


def _mean(name: str, paired: Mapping[str, Comparison], models: int) -> str:
    values = [100 * one.difference.estimate for one in paired.values()]
    mean, low, high = map(_signed, (sum(values) / len(values), min(values), max(values)))
    of = f"{len(values)} models" if len(values) == models else f"{len(values)} of {models} models"
    return f"{name}, mean of {of}, each with the same weight: {mean} points ({low} to {high})."


def _named(paired: Sequence[Compared], family: Family) -> list[str]:
    ways = {one.agent: answer.direction(one, family) for one in paired}
    none = [agent for agent, way in ways.items() if way in ("same", "lower")]
    lines = [f"Does not decay: {', '.join(none)}."] if none else []
    for one in paired:
        if ways[one.agent] == "open" and one.comparison is not None:
            more, fewer = one.comparison.only_b, one.comparison.only_a
            told = (
                f"{more} more and {fewer} fewer violations" if more + fewer else "no change in any"
            )
            changes = f"{told} of {one.comparison.n} pairs"
            lines.append(f"No decay shown, and none excluded: {one.agent}, {changes}.")
    return lines


def _signed(value: float) -> str:
    shown = f"{value:+.0f}".replace("-", "−")
    return "0" if shown in ("+0", "−0") else shown


def mean(rates: Sequence[Content], models: int) -> str:
    """Return the mean of the models' rates, each with the same weight, and their range.

    The models are not a sample, so there is no interval. A single model has no mean.
    """
    known = [100 * one.estimate.estimate for one in rates if isinstance(one, Cell)]
    if len(known) < 2:
        return "-"
    of = "" if len(known) == models else f", {len(known)} models"
    return f"{sum(known) / len(known):.0f} % ({min(known):.0f} to {max(known):.0f}{of})"


def figure(main: pd.DataFrame) -> Figure | None:
    """Draw violation by condition at the main settings, one series per model."""
    asked = main[~main["allowed"]]
    arms = [name for name in _SHOWN if (asked["arm"] == name).any()]
    if not arms:
        return None
    series: list[Series] = []
    for agent in design.agents(asked):
        mine = asked[asked["agent"] == agent]
        of_arms = [mine[mine["arm"] == name] for name in arms]
        series.append(Series(agent, [frame_rate(part) if len(part) else None for part in of_arms]))
    with_limits = any(isinstance(rate, Interval) for one in series for rate in one.values)
    caption = "Violation by condition" + (", 95 % intervals" if with_limits else "")
    return dots(arms, series, caption, width=4.6)
