"""Paired comparisons of arms, and the setting at which two arms of a model are compared."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy.typing as npt
import pandas as pd

from constraintrot.episode.facts import IDENTITY, KEYS, Role, names
from constraintrot.errors import ParameterError
from constraintrot.grading.outcome_status import SILENT
from constraintrot.report import contrasts
from constraintrot.report.arms import CODE, arms
from constraintrot.report.page import design
from constraintrot.report.page.view import Compared
from constraintrot.stats.bounds import compare_unknown

ALL = "all models"


def pair(frame: pd.DataFrame, agent: str, a: str, b: str) -> Compared:
    """Compare the violations of arm b with arm a in a prepared frame, for one agent or for ``ALL``."""
    needed = dict.fromkeys((*KEYS, CODE, "arm", "degenerate", "episode", "outcome", "violation"))
    mine = frame[[name for name in needed if name in frame]]
    mine = mine if agent == ALL else mine[mine["agent"] == agent]
    if (a, b) == (contrasts.SHAM, contrasts.REMOVED):
        mine = mine[~contrasts.degenerate(mine)]
    missing = [name for name in (a, b) if not (mine["arm"] == name).any()]
    if missing:
        return Compared(agent, a, b, "violation", None, f"no episode of {' or '.join(missing)}")
    fixed = {"a": {"arm": a}, "b": {"arm": b}}
    try:
        matched = arms(mine, fixed, on=matched_on(mine, a, b))
    except ParameterError as error:
        return Compared(agent, a, b, "violation", None, str(error))
    known = matched.known
    if not known.any():
        return Compared(agent, a, b, "violation", None, "no episode has a violation in both arms")
    first, second = (matched.values[name] for name in fixed)
    # Silence is no violation and no obedience, so a verdict has to hold whatever it hides.
    silent, silent_b = (
        mine["outcome"].isin(SILENT).loc[matched.index[name]].to_numpy() for name in fixed
    )
    comparison = compare_unknown(first, second, matched.labels, unknown=(silent, silent_b))
    pairs = episodes(mine, *(matched.index[name][known] for name in fixed))
    return Compared(agent, a, b, "violation", comparison, pairs=pairs)


def episodes(
    frame: pd.DataFrame, a: npt.NDArray[Any], b: npt.NDArray[Any]
) -> tuple[tuple[str, str], ...]:
    ids = frame["episode"]
    return tuple(zip(map(str, ids.loc[a]), map(str, ids.loc[b]), strict=True))


def matched_on(frame: pd.DataFrame, a: str, b: str) -> list[str]:
    """Return the columns to match two arms on: those that neither varies, or that both share."""
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
    """Return the pairs of arms to compare: arms that differ in one thing."""
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


def most_pairs(frame: pd.DataFrame, a: str, b: str) -> tuple[pd.DataFrame, dict[str, object]]:
    """Return the episodes of two arms at the setting with the most pairs, and that setting.

    Pairs are counted whatever their outcomes. Ties are broken by the number of episodes of arm
    b, then for the main setting, then by the setting's words. A setting that does not apply to
    an arm (a control has no compactor) matches any. Without pairs, the setting with the most
    episodes of arm b is taken, or of arm a if there are none of b.
    """
    groups = {name: _by_setting(frame[frame["arm"] == name], name) for name in (a, b)}
    usual = design.commonest(frame)
    ranked: list[tuple[tuple[int, int, bool, str], dict[str, object]]] = []
    for chosen, part in groups[b] or groups[a]:
        fitting = [one for setting, one in groups[a] if _compatible(setting, chosen, a, b)]
        pairs = _identities(part) & set[object]().union(*map(_identities, fitting))
        order = (
            -len(pairs) * bool(groups[b]),
            -len(part),
            not _equal(chosen, usual),
            design.words(chosen),
        )
        ranked.append((order, chosen))
    if not ranked:
        return frame[:0], {}
    _, chosen = min(ranked, key=lambda one: one[0])
    parts = [
        part
        for name, found in groups.items()
        for at, part in found
        if _compatible(at, chosen, name, b)
    ]
    return pd.concat(parts).sort_index(), chosen


def paired(
    frame: pd.DataFrame, agent: str, a: str, b: str, at: Mapping[str, object] | None = None
) -> Compared:
    """Compare arm b with arm a at the setting with the most pairs, which the result names.

    With ``at``, only episodes with these settings count.
    """
    part, setting = most_pairs(frame[design.fits(frame, at)] if at else frame, a, b)
    return replace(pair(part, agent, a, b), at=apart(setting, frame) or "main")


def apart(setting: dict[str, object], frame: pd.DataFrame) -> str:
    """Name the parts of a setting that differ from a model's main setting; empty if none do."""
    usual = design.commonest(frame)
    return design.words({k: v for k, v in setting.items() if k in usual and not _same(v, usual[k])})


def _by_setting(frame: pd.DataFrame, arm: str) -> list[tuple[dict[str, object], pd.DataFrame]]:
    names = [name for name in design.SETTINGS if arm != "long_context" or name != "context_tokens"]
    groups = frame.groupby(names, sort=False, dropna=False)
    return [(dict(zip(names, key, strict=True)), part) for key, part in groups]


def _compatible(setting: dict[str, object], chosen: dict[str, object], arm: str, b: str) -> bool:
    if arm == b:
        return _equal(setting, chosen)
    return all(
        design.is_none(value) or design.is_none(chosen.get(name)) or value == chosen[name]
        for name, value in setting.items()
    )


def _equal(setting: dict[str, object], other: dict[str, object]) -> bool:
    return all(_same(value, other[name]) for name, value in setting.items())


def _same(one: object, other: object) -> bool:
    return one == other or (design.is_none(one) and design.is_none(other))


def _identities(frame: pd.DataFrame) -> set[object]:
    scored = frame[frame["violation"].notna()]
    return set(scored[list(IDENTITY)].itertuples(index=False, name=None))
