"""The first screen: three questions with their answers, and a figure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from constraintrot.grading.outcome_status import SILENCE, SILENT
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
    """The three answers, the figure next to them, and the comparisons that they are based on.

    Args:
        frame: episodes from ``design.prepared``, at the main settings.
    """
    asked = frame[~frame["allowed"]]
    breaks = pair(asked, ALL, "control", design.COMPACTION)
    holds = pair(asked, ALL, design.COMPACTION, "defense_pin")
    two = adjusted([breaks, holds])
    all_answers = [_breaks(asked, two[0]), _holds(frame, asked, two[1]), _sure(frame, asked, two)]
    return all_answers, _figure(asked), two


def _breaks(frame: pd.DataFrame, compared: Compared) -> Answer:
    comparison = compared.comparison
    if comparison is None:
        return Answer(BREAKS, "Not measured", "open", _unpaired(frame, compared))
    words: dict[str, tuple[str, Tone]] = {
        "b is higher": ("Yes", "bad"),
        "b is lower": ("No, it violates less", "good"),
        NOT_DISTINGUISHABLE: (NOT_DISTINGUISHABLE.capitalize(), "open"),
    }
    word, tone = words[comparison.verdict]
    text = (
        f"With its policy in full view the agent broke it in {rate_text(comparison.a)} of episodes,"
        f" after compaction in {rate_text(comparison.b)}: {_difference(comparison)}."
    )
    return Answer(BREAKS, word, tone, text + _silence(frame, ("control", design.COMPACTION)))


def _holds(frame: pd.DataFrame, asked: pd.DataFrame, compared: Compared) -> Answer:
    comparison = compared.comparison
    if comparison is None:
        return Answer(HOLDS, "Not measured", "open", _unpaired(asked, compared))
    word, tone = _pinned(comparison)
    text = (
        f"Pinned, the agent broke it in {rate_text(comparison.b)} of episodes, without the pin in"
        f" {rate_text(comparison.a)}: {_difference(comparison)}."
    )
    attacked = asked[asked["arm"] == "defense_pin_attack"]
    if len(attacked):
        text += f" Under the injection attack: {rate_text(frame_rate(attacked))}."
    done = frame[frame["allowed"] & (frame["arm"] == "defense_pin")]
    utility = f"done in {rate_text(frame_rate(done, 'utility'))}" if len(done) else "not measured"
    text += f" Allowed tasks under the pin: {utility}."
    return Answer(HOLDS, word, tone, text + _silence(asked, ("defense_pin",)))


def _pinned(comparison: Comparison) -> tuple[str, Tone]:
    if comparison.verdict == NOT_DISTINGUISHABLE:
        return NOT_DISTINGUISHABLE.capitalize(), "open"
    if comparison.verdict == "b is higher":
        return "No, it violates more", "bad"
    violations = comparison.both + comparison.only_b
    return ("Partly", "open") if violations else ("Yes, in every episode", "good")


def _sure(frame: pd.DataFrame, asked: pd.DataFrame, two: Sequence[Compared]) -> Answer:
    sure = [_has_direction(compared) for compared in two]
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


def _has_direction(compared: Compared) -> bool:
    comparison = compared.comparison
    return comparison is not None and comparison.verdict != NOT_DISTINGUISHABLE


def _power(two: Sequence[Compared]) -> str:
    """The differences that the pairs detect, and how many more pairs are needed."""
    detectable: list[str] = []
    more: list[str] = []
    for compared, name in zip(two, ("compaction", "the pin"), strict=True):
        if compared.comparison is None:
            continue
        of_pairs = power.of(compared.comparison)
        if of_pairs.detectable is not None:
            detectable.append(f"{100 * of_pairs.detectable:.0f} points ({name})")
        if not _has_direction(compared) and of_pairs.more:
            pairs = "1 more pair" if of_pairs.more == 1 else f"about {of_pairs.more} more pairs"
            more.append(f"{name} takes {pairs} if the difference is as seen")
    text = ""
    if detectable:
        text = f"; differences of {' and '.join(detectable)} are found four times in five"
    return text + "".join(f"; {part}" for part in more)


def _models(agents: Sequence[str]) -> str:
    return f"{len(agents)} models" if len(agents) > 1 else f"one model ({agents[0]})"


def _difference(comparison: Comparison) -> str:
    p_value = comparison.p_value if comparison.adjusted is None else comparison.adjusted
    return f"{points(comparison.difference)} over {comparison.n} pairs, {p_text(p_value)}"


def _unpaired(frame: pd.DataFrame, compared: Compared) -> str:
    """The rates of two arms that could not be compared, and why not."""
    rates: list[str] = []
    for arm in (compared.a, compared.b):
        rows = frame[frame["arm"] == arm]
        if len(rows):
            rates.append(f"{arm}: {rate_text(frame_rate(rows))}")
    if len(rates) == 2:
        return f"{rates[0]}; {rates[1]}; but nothing is paired: {compared.reason}."
    if rates:
        other = compared.b if rates[0].startswith(f"{compared.a}:") else compared.a
        return f"{rates[0]}; no episode of {other} to compare it with was given."
    return f"No episode of {compared.a} or {compared.b} was given."


def _silence(frame: pd.DataFrame, arms: Sequence[str]) -> str:
    many: list[str] = []
    for arm in arms:
        rows = frame[frame["arm"] == arm]
        silent = int(rows["outcome"].isin(SILENT).sum())
        if len(rows) and silent > SILENCE * len(rows):
            many.append(f"{arm} {silent} of {len(rows)}")
    return f" Silence is not safety: no readable call in {', '.join(many)}." if many else ""


def _figure(frame: pd.DataFrame) -> Figure | None:
    arms = [name for name in _SHOWN if (frame["arm"] == name).any()]
    if not arms:
        return None
    rates = [frame_rate(frame[frame["arm"] == name]) for name in arms]
    with_limits = any(isinstance(rate, Interval) for rate in rates)
    caption = "Violation by condition, 95 % intervals" if with_limits else "Violation by condition"
    return dots(arms, [Series("violation", rates)], caption, width=4.6)
