"""What the first screen says over all models, and its figure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from constraintrot.report.arms import frame_rate
from constraintrot.report.page import answer, design
from constraintrot.report.page.figure import Series, dots
from constraintrot.report.page.primary import Family
from constraintrot.report.page.view import Cell, Compared, Content, Figure
from constraintrot.stats.interval import Interval
from constraintrot.stats.paired import Comparison

if TYPE_CHECKING:
    import pandas as pd

_SHOWN = (
    "floor",
    "control",
    design.COMPACTION,
    "attack_inject",
    "defense_pin",
    "defense_pin_attack",
)


def comparable(frame: pd.DataFrame) -> bool:
    """Return whether a mean over the subjects is one over models: each once, in one scaffold."""
    agents = frame["agent"].nunique()
    models = frame["model" if "model" in frame else "agent"].nunique()
    return agents == models > 1 and frame["scaffold"].nunique() <= 1


def pooled(family: Family, frame: pd.DataFrame) -> list[str]:
    """What holds over all models, each with the same weight, and which ones do not decay.

    Args:
        family: the primary claims.
        frame: all episodes, from ``design.prepared``.
    """
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
    """The models that do not decay, and those of which it cannot be told."""
    ways = {one.agent: answer.direction(one, family) for one in paired}
    none = [agent for agent, way in ways.items() if way in ("same", "lower")]
    lines = [f"Does not decay: {', '.join(none)}."] if none else []
    for one in paired:
        if ways[one.agent] == "open" and one.comparison is not None:
            changes = f"{_changes(one.comparison)} of {one.comparison.n} pairs"
            lines.append(f"No decay shown, and none excluded: {one.agent}, {changes}.")
    return lines


def _changes(one: Comparison) -> str:
    return f"{one.only_b} more and {one.only_a} fewer violations" if one.only_a + one.only_b else (
        "no change in any"
    )  # fmt: skip


def _signed(value: float) -> str:
    shown = f"{value:+.0f}".replace("-", "−")
    return "0" if shown in ("+0", "−0") else shown


def mean(rates: Sequence[Content], models: int) -> str:
    """The mean of the models' rates, each with the same weight, and their range.

    Which models were run is no sample of models, so there is no interval; of one model
    there is no mean.

    Args:
        rates: a row's cells, one per model.
        models: number of models.
    """
    known = [100 * one.estimate.estimate for one in rates if isinstance(one, Cell)]
    if len(known) < 2:
        return "-"
    of = "" if len(known) == models else f", {len(known)} models"
    return f"{sum(known) / len(known):.0f} % ({min(known):.0f} to {max(known):.0f}{of})"


def figure(main: pd.DataFrame) -> Figure | None:
    """Violation by condition, one series per model.

    Args:
        main: episodes at the main settings, from ``design.prepared``.
    """
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
