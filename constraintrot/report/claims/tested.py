"""A test of a claim: two compared arms, and bounds for the silent episodes' outcomes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import nan
from typing import TypeAlias

import numpy as np
import pandas as pd

from constraintrot.episode.facts import IDENTITY, POLICY
from constraintrot.errors import ParameterError
from constraintrot.grading.outcome_status import SILENT
from constraintrot.report.arms import arms, labels
from constraintrot.report.claims.decide import ALPHA, Decided, Outcomes, Value, Why, decide
from constraintrot.report.claims.declared import Test
from constraintrot.report.contrasts import REMOVED, SHAM, degenerate
from constraintrot.report.page import design
from constraintrot.report.page.compared import ALL, episodes, matched_on
from constraintrot.report.page.view import Compared
from constraintrot.stats.paired import Comparison

# Units of further p-values beside a request's: columns that are equal within a unit.
_UNITS: Mapping[str, Sequence[str]] = {"the policy's wording": POLICY, "family": ("family",)}
Pairs: TypeAlias = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Tested:
    """A test with its result.

    Attributes:
        decided: the result; None if the arms cannot be compared.
        compared: the report's comparison; None if there is none, or it is unpaired.
            Its p-value is adjusted if it belongs to the family, and exploratory otherwise.
        by_unit: the comparison clustered by the policy's wording and by family; empty if
            unpaired.
    """

    test: Test
    decided: Decided | None
    why: tuple[Why, ...]
    compared: Compared | None = None
    by_unit: Mapping[str, Comparison] = field(default_factory=dict[str, Comparison])


def tested(
    test: Test,
    value: Value,
    planned: Mapping[str, pd.DataFrame],
    unplaced: Mapping[str, pd.DataFrame],
    margin: float,
    varied: set[str],
    *,
    heard: bool,
) -> Tested:
    """Compute a test on its arms' episodes.

    Episodes of ``planned`` without a verdict are in no rate, and the result has to hold for every
    outcome of theirs. Those of ``unplaced`` may or may not belong to their arm; an unpaired result has
    to hold in both cases. ``varied`` are the columns in which the arms differ, which are not paired
    on. With ``heard``, the possible outcomes of silent episodes are ignored.
    """
    known = {name: scored(planned[name], value) for name in (test.a, test.b)}
    if missing := [name for name, part in known.items() if part.empty]:
        return Tested(test, None, (Why("no control", f"no episode of {', '.join(missing)}"),))
    a, b = (_useful(planned[name]) for name in (test.a, test.b))
    known_a, known_b = (_useful(part) for part in known.values())
    unchanged = sum(map(len, known.values())) - len(known_a) - len(known_b)
    both = _both(known_a, known_b, test)
    on = [name for name in matched_on(both, test.a, test.b) if name not in varied]
    compared = None
    try:
        outcomes, pairs = _outcomes(known_a, known_b, test, value, on)
    except ParameterError as error:
        if not unchanged:
            return Tested(test, None, (Why("no pairs", str(error).partition(";")[0]),))
        words = f"{unchanged} episodes in whose summary there was nothing of the policy to take out"
        return Tested(test, None, (Why("degenerate", words),))
    if test.paired:
        compared = Compared(ALL, test.a, test.b, value, outcomes.comparison, pairs=pairs)
    decided = decide(outcomes, test.b_is, margin, value, test.a)
    a, b = (_completed(part, on) for part in (a, b))
    more = [unplaced[name][: 0 if test.paired else None] for name in (test.a, test.b)]
    silent = sum(int(is_silent(part, value).sum()) for part in (a, b))
    silent += len(more[0].index.union(more[1].index))
    if silent and not heard:
        unknown = _unknown((a, b), more, test, value, on)
        decided = _whatever(decided, decide(unknown, test.b_is, margin, value, test.a), silent)
    return Tested(test, decided, decided.why, compared, outcomes.by_unit)


def _whatever(decided: Decided, unknown: Decided, silent: int) -> Decided:
    """Return a test's result that holds for every outcome of the silent episodes.

    ``decided`` counts silent episodes as not violated and leaves out those without a verdict;
    ``unknown`` takes their outcomes as unknown.
    """
    p_same = max(decided.p_same, unknown.p_same)
    p_opposite = max(decided.p_opposite, unknown.p_opposite)
    why = decided.why
    if min(p_same, p_opposite) > ALPHA >= min(decided.p_same, decided.p_opposite):
        why = (silence(f"{silent} silent episode{'s' if silent != 1 else ''}"),)
    return replace(decided, p_same=p_same, p_opposite=p_opposite, why=why)


def silence(episodes: str) -> Why:
    """Return the reason for withholding a verdict that depends on the named silent episodes."""
    words = "no readable call, no verdict, or nobody can tell whether the policy survived"
    return Why("silence", f"it depends on {episodes} ({words})")


def scored(part: pd.DataFrame, value: Value) -> pd.DataFrame:
    return part[part[value].notna()]


def _useful(part: pd.DataFrame) -> pd.DataFrame:
    """Return the episodes, without those from whose summary nothing useful was taken out.

    A policy put back into a summary that had lost it is a change.
    """
    return part[~(part["condition"].isin((REMOVED, SHAM)) & degenerate(part))]


def is_silent(part: pd.DataFrame, value: Value) -> pd.Series[bool]:
    """Return a mask of the episodes whose value is unknown.

    An episode without a readable call has an unknown violation, but its survival may be known.
    """
    lost = part["violation"].isna() | part[value].isna()
    return lost | part["outcome"].isin(SILENT) if value == "violation" else lost


def at_most(part: pd.DataFrame, value: Value) -> float:
    """Return the rate of an arm with each silent episode as 1; nan for an empty arm."""
    return float(_filled(part, value, 1.0)[value].mean())


def _completed(part: pd.DataFrame, on: Sequence[str]) -> pd.DataFrame:
    """Return an arm in which episodes without a verdict have the facts that all others share.

    An unfinished episode may lack facts such as its compactor. Attempts without a verdict are
    dropped if the episode was played again.
    """
    lost = part["violation"].isna()
    if not lost.any():
        return part
    part = part.copy()
    for name in {*on} - {*IDENTITY}:
        shared = part.loc[~lost, name].unique()
        if len(shared) == 1:
            part.loc[lost & part[name].map(design.is_none), name] = shared[0]
    again = part.loc[lost.sort_values(kind="stable").index].duplicated([*on])
    return part[~(lost & again)]


def _unknown(
    arms: Sequence[pd.DataFrame],
    unplaced: Sequence[pd.DataFrame],
    test: Test,
    value: Value,
    on: Sequence[str],
) -> Outcomes:
    """Return the outcomes of two arms and of the episodes that may belong to either, nan if silent."""
    first, second = (
        _filled(pd.concat([arm, more]), value, nan)
        for arm, more in zip(arms, unplaced, strict=True)
    )
    masks = [
        np.arange(len(part)) >= len(arm) for part, arm in zip((first, second), arms, strict=True)
    ]
    found = _outcomes(first, second, test, value, on)[0]
    return found if test.paired else replace(found, unplaced=(masks[0], masks[1]))


def _filled(part: pd.DataFrame, value: Value, filled: float) -> pd.DataFrame:
    return part.assign(**{value: part[value].mask(is_silent(part, value), filled)})


def _outcomes(
    a: pd.DataFrame, b: pd.DataFrame, test: Test, value: Value, on: Sequence[str]
) -> tuple[Outcomes, Pairs]:
    return _paired(a, b, test, value, on) if test.paired else (_unpaired(a, b, value), ())


def _paired(
    a: pd.DataFrame, b: pd.DataFrame, test: Test, value: Value, on: Sequence[str]
) -> tuple[Outcomes, Pairs]:
    both = _both(a, b, test)
    matched = arms(both, {name: {"arm": name} for name in (test.a, test.b)}, value, on=on)
    pairs = both.loc[matched.index[test.a]]
    wider = {
        unit: labels(pairs, [name for name in columns if name in pairs])
        for unit, columns in _UNITS.items()
    }
    first, second = (matched.values[name] for name in (test.a, test.b))
    outcomes = Outcomes(first, second, matched.labels, wider=wider)
    return outcomes, episodes(both, matched.index[test.a], matched.index[test.b])


def _both(a: pd.DataFrame, b: pd.DataFrame, test: Test) -> pd.DataFrame:
    return pd.concat([a.assign(arm=test.a), b.assign(arm=test.b)], ignore_index=True)


def _unpaired(a: pd.DataFrame, b: pd.DataFrame, value: Value) -> Outcomes:
    if a.empty or b.empty:
        raise ParameterError("an arm has no episode left")
    first, second = (part[value].to_numpy(float) for part in (a, b))
    return Outcomes(first, second, labels(a), labels(b))
