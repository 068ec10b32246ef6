"""Paired comparisons of arms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from constraintrot.episode.facts import KEYS, Role, names
from constraintrot.errors import ParameterError
from constraintrot.report import contrasts
from constraintrot.report.arms import CODE, arms
from constraintrot.report.page import design
from constraintrot.report.page.view import Compared
from constraintrot.stats.paired import compare

if TYPE_CHECKING:
    import numpy.typing as npt
    import pandas as pd

ALL = "all models"


def pair(frame: pd.DataFrame, agent: str, a: str, b: str, value: str = "violation") -> Compared:
    """Compare arm b with arm a, for one agent or for all.

    Args:
        frame: episodes from ``design.prepared``.
        agent: the agent, or ``ALL``.
        a: name of the first arm.
        b: name of the second arm.
        value: column of the outcome.
    """
    needed = dict.fromkeys((*KEYS, CODE, "arm", "degenerate", "episode", value))
    mine = frame[[name for name in needed if name in frame]]
    mine = mine if agent == ALL else mine[mine["agent"] == agent]
    if (a, b) == (contrasts.SHAM, contrasts.REMOVED):
        mine = mine[~contrasts.degenerate(mine)]
    missing = [name for name in (a, b) if not (mine["arm"] == name).any()]
    if missing:
        return Compared(agent, a, b, value, None, f"no episode of {' or '.join(missing)}")
    fixed = {"a": {"arm": a}, "b": {"arm": b}}
    try:
        matched = arms(mine, fixed, value, on=matched_on(mine, a, b))
    except ParameterError as error:
        return Compared(agent, a, b, value, None, str(error))
    known = matched.known
    if not known.any():
        return Compared(agent, a, b, value, None, f"no episode has a {value} in both arms")
    first, second = (matched.values[name][known] for name in fixed)
    comparison = compare(first, second, matched.labels[known])
    pairs = episodes(mine, *(matched.index[name][known] for name in fixed))
    return Compared(agent, a, b, value, comparison, pairs=pairs)


def episodes(
    frame: pd.DataFrame, a: npt.NDArray[Any], b: npt.NDArray[Any]
) -> tuple[tuple[str, str], ...]:
    """The ids of the episodes of each pair.

    Args:
        frame: episodes; its index is unique.
        a: index of the first episode of each pair.
        b: index of the second.
    """
    ids = frame["episode"]
    return tuple(zip(map(str, ids.loc[a]), map(str, ids.loc[b]), strict=True))


def matched_on(frame: pd.DataFrame, a: str, b: str) -> list[str]:
    """The columns on which two arms are matched: what neither of them varies, and what they share."""
    left, right = (frame[frame["arm"] == arm] for arm in (a, b))
    return [
        key for key in KEYS if key not in names(Role.VARIED) or set(left[key]) & set(right[key])
    ]


def main(frame: pd.DataFrame) -> list[Compared]:
    """Compare each agent's arms with the arm from which they differ in one thing; unadjusted."""
    return [
        pair(frame, agent, a, b)
        for agent in design.agents(frame)
        for a, b in pairs(design.arms(frame[frame["agent"] == agent]))
    ]


def pairs(arms: Sequence[str]) -> list[tuple[str, str]]:
    wanted = [
        ("control", "long_context"),
        ("control", design.COMPACTION),
        ("floor", design.COMPACTION),
        ("summary_restored", "summary_removed"),
        (contrasts.SHAM, contrasts.REMOVED),
        ("attack_inject", "defense_pin_attack"),
    ]
    pairs = [(a, b) for a, b in wanted if a in arms and b in arms]
    changed = ("attack_", "defense_pin", f"{design.COMPACTION}, ")
    for arm in arms:
        if arm.startswith(changed) and arm != "defense_pin_attack" and design.COMPACTION in arms:
            pairs.append((design.COMPACTION, arm))
    return pairs
