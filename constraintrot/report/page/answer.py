"""The first screen: does compaction break the policies, does the pin hold, how sure are we."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from constraintrot.evaluation.metrics import SILENCE
from constraintrot.grading.verdict import SILENT
from constraintrot.report.page import design
from constraintrot.report.page.compared import ALL, adjusted, pair
from constraintrot.report.page.figure import Series, dots
from constraintrot.report.page.view import (
    Answer,
    Compared,
    Figure,
    Tone,
    p_text,
    percent,
    points,
    rate_text,
)
from constraintrot.stats import power
from constraintrot.stats.frames import frame_bounds, frame_rate, labels
from constraintrot.stats.interval import Interval
from constraintrot.stats.paired import NOT_DISTINGUISHABLE, Comparison

if TYPE_CHECKING:
    import pandas as pd

BREAKS = "Does compaction break the policies?"
HOLDS = "Does the pin hold?"
SURE = "How sure are we?"
_SHOWN = (
    "floor",
    "control",
    design.COMPACTION,
    "attack_inject",
    "defense_pin",
    "defense_pin_attack",
)


def answers(frame: pd.DataFrame) -> tuple[list[Answer], Figure | None, list[Compared]]:
    """Three sentences from the episodes, the figure beside them, and what they rest on.

    Args:
        frame: prepared, at the main settings.
    """
    asked = frame[~frame["allowed"]]
    breaks = pair(asked, ALL, "control", design.COMPACTION)
    holds = pair(asked, ALL, design.COMPACTION, "defense_pin")
    two = adjusted([breaks, holds])
    found = [_breaks(asked, two[0]), _holds(frame, asked, two[1]), _sure(frame, asked, two)]
    return found, _figure(asked), two


def _breaks(frame: pd.DataFrame, compared: Compared) -> Answer:
    found = compared.found
    if found is None:
        return Answer(BREAKS, "Not measured", "open", _unpaired(frame, compared))
    words: dict[str, tuple[str, Tone]] = {
        "b is higher": ("Yes", "bad"),
        "b is lower": ("No, it violates less", "good"),
        NOT_DISTINGUISHABLE: (NOT_DISTINGUISHABLE.capitalize(), "open"),
    }
    word, tone = words[found.verdict]
    text = (
        f"With its policy in full view the agent broke it in {rate_text(found.a)} of episodes,"
        f" after compaction in {rate_text(found.b)}: {_difference(found)}."
    )
    return Answer(BREAKS, word, tone, text + _silence(frame, ("control", design.COMPACTION)))


def _holds(frame: pd.DataFrame, asked: pd.DataFrame, compared: Compared) -> Answer:
    found = compared.found
    if found is None:
        return Answer(HOLDS, "Not measured", "open", _unpaired(asked, compared))
    word, tone = _pinned(found)
    text = (
        f"Pinned, the agent broke it in {rate_text(found.b)} of episodes, without the pin in"
        f" {rate_text(found.a)}: {_difference(found)}."
    )
    attacked = asked[asked["arm"] == "defense_pin_attack"]
    if len(attacked):
        text += f" Under the injection attack: {rate_text(frame_rate(attacked))}."
    done = frame[frame["allowed"] & (frame["arm"] == "defense_pin")]
    utility = f"done in {rate_text(frame_rate(done, 'utility'))}" if len(done) else "not measured"
    text += f" Allowed tasks under the pin: {utility}."
    return Answer(HOLDS, word, tone, text + _silence(asked, ("defense_pin",)))


def _pinned(found: Comparison) -> tuple[str, Tone]:
    if found.verdict == NOT_DISTINGUISHABLE:
        return NOT_DISTINGUISHABLE.capitalize(), "open"
    if found.verdict == "b is higher":
        return "No, it violates more", "bad"
    return (
        ("Yes, in every episode", "good") if not found.both + found.only_b else ("Partly", "open")
    )


def _sure(frame: pd.DataFrame, asked: pd.DataFrame, two: Sequence[Compared]) -> Answer:
    sure = [told is not None for told in _told(two)]
    word = "Of compaction, not of the pin" if sure[0] else "Of the pin, not of compaction"
    tone: Tone = "open"
    if sure[0] == sure[1]:
        word, tone = ("Of both directions", "good") if sure[0] else ("Not yet of either", "open")
    variants = len(set(labels(frame)))
    agents = design.agents(frame)
    text = (
        f"These are {len(frame)} episodes of {variants} variants of {frame['family'].nunique()}"
        f" policies and {_models(agents)}, intervals are 95 %, and p-values are exact and adjusted"
        f" over both questions{_power(two)}."
    )
    after = asked[asked["arm"] == design.COMPACTION]
    unknown = int(after["outcome"].isin(SILENT).sum())
    if unknown:
        bounds = frame_bounds(after)
        text += (
            f" After compaction {unknown} answers neither acted readably nor refused; whatever they"
            f" would have been, the rate is between {percent(bounds.none)} and {percent(bounds.all)}."
        )
    return Answer(SURE, word, tone, text)


def _told(two: Sequence[Compared]) -> list[Comparison | None]:
    """Each comparison whose direction is told apart, else None."""
    return [
        one.found if one.found and one.found.verdict != NOT_DISTINGUISHABLE else None for one in two
    ]


def _power(two: Sequence[Compared]) -> str:
    """What the pairs could have shown, and how many more it takes."""
    found: list[str] = []
    more: list[str] = []
    for one, name in zip(two, ("compaction", "the pin"), strict=True):
        if one.found is None:
            continue
        good_for = power.of(one.found)
        if good_for.detectable is not None:
            found.append(f"{100 * good_for.detectable:.0f} points ({name})")
        if one.found.verdict == NOT_DISTINGUISHABLE and good_for.more:
            pairs = "1 more pair" if good_for.more == 1 else f"about {good_for.more} more pairs"
            more.append(f"{name} takes {pairs} if the difference is as seen")
    text = f"; differences of {' and '.join(found)} are found four times in five" if found else ""
    return text + "".join(f"; {part}" for part in more)


def _models(agents: Sequence[str]) -> str:
    return f"{len(agents)} models" if len(agents) > 1 else f"one model ({agents[0]})"


def _difference(found: Comparison) -> str:
    p_value = found.p_value if found.adjusted is None else found.adjusted
    return f"{points(found.difference)} over {found.n} pairs, {p_text(p_value)}"


def _unpaired(frame: pd.DataFrame, compared: Compared) -> str:
    """What there is of two arms that could not be compared, and what to run."""
    there: list[str] = []
    for arm in (compared.a, compared.b):
        rows = frame[frame["arm"] == arm]
        if len(rows):
            there.append(f"{arm}: {rate_text(frame_rate(rows))}")
    if len(there) == 2:
        return f"{there[0]}; {there[1]}; but nothing is paired: {compared.reason}."
    if there:
        other = compared.b if there[0].startswith(f"{compared.a}:") else compared.a
        return f"{there[0]}; no episode of {other} to compare it with was given."
    return f"No episode of {compared.a} or {compared.b} was given."


def _silence(frame: pd.DataFrame, arms: Sequence[str]) -> str:
    said: list[str] = []
    for arm in arms:
        rows = frame[frame["arm"] == arm]
        silent = int(rows["outcome"].isin(SILENT).sum())
        if len(rows) and silent > SILENCE * len(rows):
            said.append(f"{arm} {silent} of {len(rows)}")
    return f" Silence is not safety: no readable call in {', '.join(said)}." if said else ""


def _figure(frame: pd.DataFrame) -> Figure | None:
    arms = [name for name in _SHOWN if (frame["arm"] == name).any()]
    if not arms:
        return None
    rates = [frame_rate(frame[frame["arm"] == name]) for name in arms]
    with_limits = any(isinstance(rate, Interval) for rate in rates)
    caption = "Violation by condition, 95 % intervals" if with_limits else "Violation by condition"
    return dots(arms, [Series("violation", rates)], caption, width=4.6)
