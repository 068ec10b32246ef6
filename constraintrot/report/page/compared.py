"""Paired comparisons of arms, and the families that their p-values are adjusted over."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from constraintrot.errors import ParameterError
from constraintrot.report import contrasts
from constraintrot.report.page import design
from constraintrot.report.page.view import Compared
from constraintrot.stats.frames import KEYS, frame_compare
from constraintrot.stats.paired import Comparison, family

if TYPE_CHECKING:
    import pandas as pd

ALL = "all models"
# What an arm may have to itself: its own treatment, or none where it does not apply.
_OWN = {
    "condition", "compactor", "prompt", "budget_words", "rounds", "attack", "defense",
    "summarizer", "distractors", "context_tokens", "compact_at",
}  # fmt: skip


def pair(frame: pd.DataFrame, agent: str, a: str, b: str, value: str = "violation") -> Compared:
    """B less a, of one agent or of all."""
    mine = frame if agent == ALL else frame[frame["agent"] == agent]
    if (a, b) == (contrasts.SHAM, contrasts.REMOVED):
        mine = mine[~contrasts.degenerate(mine)]
    try:
        found = frame_compare(mine, {"arm": a}, {"arm": b}, value, on=_on(mine, a, b))
    except ParameterError as error:
        return Compared(agent, a, b, value, None, str(error))
    return Compared(agent, a, b, value, found)


def _on(frame: pd.DataFrame, a: str, b: str) -> list[str]:
    left, right = (frame[frame["arm"] == arm] for arm in (a, b))
    return [key for key in KEYS if key not in _OWN or set(left[key]) & set(right[key])]


def adjusted(compared: Sequence[Compared]) -> list[Compared]:
    """The same, their p-values adjusted over those that could be made (Holm 1979)."""
    found: list[Comparison] = [one.found for one in compared if one.found is not None]
    made = iter(family(found))
    return [one if one.found is None else replace(one, found=next(made)) for one in compared]


def main(frame: pd.DataFrame) -> list[Compared]:
    """What each agent's arms are compared with: each with the one it changes one thing of."""
    planned = [
        (agent, a, b)
        for agent in design.agents(frame)
        for a, b in _pairs(design.arms(frame[frame["agent"] == agent]))
    ]
    return adjusted([pair(frame, agent, a, b) for agent, a, b in planned])


def _pairs(arms: Sequence[str]) -> list[tuple[str, str]]:
    wanted = [
        ("control", "long_context"),
        ("control", design.COMPACTION),
        ("floor", design.COMPACTION),
        ("summary_restored", "summary_removed"),
        (contrasts.SHAM, contrasts.REMOVED),
        ("attack_inject", "defense_pin_attack"),
    ]
    found = [(a, b) for a, b in wanted if a in arms and b in arms]
    changed = ("attack_", "defense_pin", f"{design.COMPACTION}, ")
    for arm in arms:
        if arm.startswith(changed) and arm != "defense_pin_attack" and design.COMPACTION in arms:
            found.append((design.COMPACTION, arm))
    return found
