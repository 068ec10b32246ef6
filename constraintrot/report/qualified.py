"""Restriction of claims to the families on which the subject qualifies, and notes on the rest.

The reading end of ``report.qualification``, for ``compare``, ``report`` and the
reproduction page.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal, TypeAlias

import pandas as pd

from constraintrot.errors import ParameterError
from constraintrot.report.qualification import SETTINGS, Family, Qualification, read

Level: TypeAlias = Literal["bounds", "observed"]
# Facts that an experiment varies. A qualification is of a subject with the same other facts.
_VARIED = ("defense", "attack", "distractors", "channel", "wording", "context_tokens", "exercised")
# Those on which it may depend whether a policy in sight is obeyed.
_ASKED_AT = ("channel", "wording", "context_tokens", "exercised")
_UNKNOWN = ("none", "None", "nan", "<NA>")


def read_all(paths: Sequence[Path]) -> list[Qualification]:
    """Read the qualifications of files, and of all ``*.json`` in folders."""
    files = [
        path
        for given in paths
        for path in (sorted(given.glob("*.json")) if given.is_dir() else [given])
    ]
    return [read(path) for path in files]


def claimable(
    frame: pd.DataFrame, paths: Sequence[Path], level: Level = "bounds"
) -> tuple[pd.DataFrame, list[str]]:
    """Restrict a frame as ``restricted`` does, by the qualifications of files and folders."""
    kept, lines = restricted(frame, read_all(paths), level)
    if lines and kept.empty:
        raise ParameterError(" ".join(["nothing is left to compute.", *lines]))
    return kept, lines


def restricted(
    frame: pd.DataFrame, given: Sequence[Qualification], level: Level = "bounds"
) -> tuple[pd.DataFrame, list[str]]:
    """Keep the episodes of families on which their subject qualifies, and describe the rest.

    Without qualifications the frame is returned whole. The level ``bounds`` takes the families that
    qualify by their bounds; ``observed`` also those whose rates meet the criteria though their bounds
    cannot tell.

    Returns:
        The frame, and a line for each subject. Episodes of a subject without a
        qualification stay, and a line says so.
    """
    if not given:
        return frame, []
    lines: list[str] = []
    keep, judged = _none(frame), _none(frame)
    for one in given:
        rows = of_subject(frame, one)
        if (rows & judged).any():
            raise ParameterError(f"two qualifications are of {_subject(one)}; give one of them")
        judged |= rows
        keep |= rows & frame["family"].isin([family.family for family in usable(one, level)])
        if rows.any():
            lines.append(sentence(one, level))
            lines += _unplayed(frame[rows], one) + _overlap(frame[rows], one)
            lines += beyond(frame[rows], one)
    if not judged.any():
        subjects = "; ".join(_subject(one) for one in given)
        raise ParameterError(f"no episode is of a subject with a qualification ({subjects})")
    others = frame[~judged]
    if len(others):
        named = "; ".join(unqualified(others, given))
        lines.append(f"Without a qualification, and not left out: {named}.")
    return frame[keep | ~judged], lines


def usable(one: Qualification, level: Level = "bounds") -> list[Family]:
    """Return the families on which claims may be computed."""
    return [
        family
        for family in one.families
        if family.verdict == "qualified"
        or (level == "observed" and family.verdict == "cannot tell" and family.observed)
    ]


def sentence(one: Qualification, level: Level = "bounds") -> str:
    """Return the sentence beside a claim that names its families and the others."""
    taken = [family.family for family in usable(one, level)]
    parts = [
        f"Qualification of {_subject(one)}: claims are computed on"
        f" {', '.join(taken) or 'no family'}"
    ]
    rest = [family for family in one.families if family.family not in taken]
    for verdict, words in (("not", "not qualified"), ("cannot tell", "cannot tell")):
        if left := [str(family) for family in rest if family.verdict == verdict]:
            parts.append(f"{words}: {', '.join(left)}")
    if level == "observed" and (
        open_ := [f for f in usable(one, level) if f.verdict != "qualified"]
    ):
        parts.append(
            "of these by their rates alone, n being too small for the bounds: "
            + ", ".join(map(str, open_))
        )
    return "; ".join(parts) + "."


def _none(frame: pd.DataFrame) -> pd.Series[bool]:
    return pd.Series(False, index=frame.index)


def of_subject(frame: pd.DataFrame, one: Qualification) -> pd.Series[bool]:
    """Return which episodes have the model, scaffold and fixed settings of a qualification."""
    rows = (frame["agent"] == one.agent) & (frame["scaffold"] == one.scaffold)
    for name in set(SETTINGS) - set(_VARIED):
        if name in frame and name in one.settings:
            # Older frames and unplayed episodes lack some facts.
            unknown = frame[name].map(_text).isin(_UNKNOWN)
            rows &= unknown | (frame[name].map(_text) == _text(one.settings[name]))
    return rows


def unqualified(frame: pd.DataFrame, given: Sequence[Qualification]) -> list[str]:
    """Return the subjects without a qualification.

    If only a setting differs from that of a qualification, the setting is named too.
    """
    names = [name for name in SETTINGS if name not in _VARIED and name in frame]
    named: set[str] = set()
    for row in frame[["agent", "scaffold", *names]].drop_duplicates().to_dict("records"):
        alike = [
            one for one in given if (one.agent, one.scaffold) == (row["agent"], row["scaffold"])
        ]
        facts = [
            f"{name} {_text(row[name])}"
            for name in names
            if _text(row[name]) not in _UNKNOWN
            and any(_text(one.settings.get(name, row[name])) != _text(row[name]) for one in alike)
        ]
        named.add(", ".join([str(row["agent"]), str(row["scaffold"]), *facts]))
    return sorted(named)


def beyond(rows: pd.DataFrame, one: Qualification) -> list[str]:
    """Return a note on settings that the results have and the qualification did not play."""
    parts: list[str] = []
    for name in _ASKED_AT:
        if name in rows and name in one.settings:
            asked = _text(one.settings[name])
            if more := sorted(set(rows[name].map(_text)) - {*asked.split(", "), *_UNKNOWN}):
                parts.append(f"{name} {asked}, and results are also at {', '.join(more)}")
    if not parts:
        return []
    return [f"The qualification of {_subject(one)} was played at {'; at '.join(parts)}."]


def _text(value: object) -> str:
    text = str(value)
    return text.removesuffix(".0")


def _subject(one: Qualification) -> str:
    return f"{one.agent} with scaffold {one.scaffold}"


def _unplayed(rows: pd.DataFrame, one: Qualification) -> list[str]:
    names = sorted(set(rows["family"].unique()) - {family.family for family in one.families})
    return [f"Left out, with no qualification of theirs: {', '.join(names)}."] if names else []


def _overlap(rows: pd.DataFrame, one: Qualification) -> list[str]:
    seeds = sorted({int(seed) for seed in rows["seed"].unique()} & set(one.seeds))
    if not seeds:
        return []
    return [
        f"{len(seeds)} seeds are in the qualification and in the results of {_subject(one)}"
        f" ({', '.join(map(str, seeds[:5]))}{' ...' if len(seeds) > 5 else ''}): the same episodes"
        " chose the families."
    ]
