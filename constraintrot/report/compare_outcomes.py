"""The outcomes that ``compare`` decides on, with the unknown ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from constraintrot.episode.facts import KEYS, NONE
from constraintrot.errors import ParameterError
from constraintrot.grading.outcome_status import MISSING, SILENT, status
from constraintrot.grading.verdict import REFUSED
from constraintrot.report import arms
from constraintrot.report.compare_question import Decision, Question
from constraintrot.report.facts import Facts, part
from constraintrot.report.planned import PLANNED
from constraintrot.stats.interval import Floats, Interval
from constraintrot.stats.rate import rate

Value: TypeAlias = Literal["violation", "utility"]

# Codes of outcomes without a score, as numbers for a frame of pairs; 0 and 1 are scores.
_SILENT, _UNDECIDED, _MISSING = 2.0, 3.0, 4.0
_CODE = "code"
_CODES = {"violated": 1.0, "not violated": 0.0, "unknown": _SILENT, "missing": _MISSING}


@dataclass(frozen=True)
class Outcomes:
    """The outcomes of both arms' episodes in one order, or of one arm's.

    Attributes:
        codes: by arm, 0 or 1, or the code of an outcome without a score.
        facts: the facts that each episode has in all arms.
        unpaired: by arm, number of its episodes that the other arm did not plan.
        missing: by arm, number of planned episodes without a verdict.
    """

    value: Value
    codes: dict[str, Floats]
    labels: npt.NDArray[np.intp]
    facts: pd.DataFrame
    unpaired: dict[str, int]
    planned: dict[str, int]
    missing: dict[str, int]

    @property
    def n(self) -> int:
        return len(self.labels)

    def scores(self, arm: str) -> Floats:
        """Return the scores of an arm; nan without a score. Silence scores as no violation."""
        codes = self.codes[arm]
        return np.where(codes == _SILENT, 0.0, np.where(codes > _SILENT, np.nan, codes))

    def known(self, arm: str) -> Floats:
        """Return the scores of an arm; nan for unknown outcomes, silence included."""
        return np.where(self.codes[arm] > 1, np.nan, self.codes[arm])

    def filled(self, arm: str, unknown: float) -> Floats:
        return np.nan_to_num(self.known(arm), nan=unknown)

    def silent(self, arm: str) -> int:
        return int((self.codes[arm] == _SILENT).sum())

    @property
    def unscored(self) -> int:
        return int(np.any([codes == _UNDECIDED for codes in self.codes.values()], axis=0).sum())

    @property
    def unknown(self) -> int:
        return int(np.any([codes > 1 for codes in self.codes.values()], axis=0).sum())


def coded(frame: pd.DataFrame, value: Value) -> pd.DataFrame:
    """Return the frame with a column of codes for one score."""
    scores = frame[value].to_numpy(np.float64, na_value=np.nan)
    if not np.isin(scores[~np.isnan(scores)], (0, 1)).all():
        raise ParameterError(f"a {value} is neither 0 nor 1; a rate counts yes and no only")
    if value == "violation":
        codes = _violations(frame["outcome"], scores)
    else:
        lost = (frame["outcome"] == MISSING).to_numpy()
        codes = np.where(lost, _MISSING, np.nan_to_num(scores, nan=_UNDECIDED))
    return frame.assign(**{_CODE: codes})


def _violations(outcome: pd.Series[Any], scores: Floats) -> Floats:
    of_outcome, outcomes = pd.factorize(outcome, use_na_sentinel=False)
    of_score, known = pd.factorize(scores, use_na_sentinel=False)
    of_both, pairs = pd.factorize(of_outcome * len(known) + of_score)
    numbers = map(int, pairs)
    kinds = [(outcomes[one // len(known)], float(known[one % len(known)])) for one in numbers]
    return np.asarray([_violation(name, score) for name, score in kinds], np.float64)[of_both]


def _violation(outcome: str, score: float) -> float:
    code = _CODES[status(outcome, score)]
    # An outcome and a score that contradict each other are unknown.
    contradicted = code <= 1 and code != score
    return _UNDECIDED if outcome != MISSING and (isnan(score) or contradicted) else code


def keys(frame: pd.DataFrame, question: Question) -> tuple[str, ...]:
    """Return the columns on which both arms are matched, the same for all groups."""
    return arms.arms(frame, question.arms, _CODE).keys


def paired(frame: pd.DataFrame, value: Value, question: Question, on: Sequence[str]) -> Outcomes:
    """Return the outcomes of both arms, episode by episode.

    The frame is of one group, as ``coded`` returns it; ``on`` are the columns to match on.
    """
    everything = PLANNED in frame
    matched = arms.arms(frame, question.arms, _CODE, on=on, unmatched=not everything)
    codes = {arm: np.nan_to_num(one, nan=_MISSING) for arm, one in matched.values.items()}
    rows = {arm: part(frame, facts)[_CODE] for arm, facts in question.arms.items()}
    absent = {arm: int(np.isnan(one).sum()) for arm, one in matched.values.items()}
    found = Outcomes(
        value,
        codes,
        matched.labels,
        matched.shared,
        matched.unpaired if everything else dict.fromkeys(codes, 0),
        {arm: len(rows[arm]) + absent[arm] for arm in codes},
        {arm: int((rows[arm] == _MISSING).sum()) + absent[arm] for arm in codes},
    )
    if not np.all([one <= _SILENT for one in codes.values()], axis=0).any():
        raise ParameterError(f"no episode has a {value} in both arms")
    return found


def alone(frame: pd.DataFrame, facts: Facts) -> Outcomes:
    rows = arms.select(frame, "b", facts)
    codes = rows[_CODE].to_numpy(np.float64)
    missing = int((codes == _MISSING).sum())
    if missing == len(rows):
        raise ParameterError("no episode has a violation")
    present = [key for key in KEYS if key in rows]
    return Outcomes(
        "violation",
        {"b": codes},
        arms.labels(rows),
        rows[present],
        {"b": 0},
        {"b": len(rows)},
        {"b": missing},
    )


def groups(frame: pd.DataFrame, by: Sequence[str]) -> Iterator[tuple[Facts, pd.DataFrame]]:
    if not by:
        yield {}, frame
        return
    for values, cell in frame.groupby(list(by), sort=False):
        yield dict(zip(by, map(str, values), strict=True)), cell


_NEVER_ACTED = (*REFUSED, *SILENT, MISSING)
# Facts of a subject, and what compacts: a rate over several of them is of none.
_ONE = ("agent", "scaffold", "rule_judge_by", "compactor")
_NO_VALUE = (NONE, "None", "nan")


def mixed(outcomes: Outcomes, by: Sequence[str]) -> str:
    """Return a note on a fact that should have one value but has several; empty without one."""
    for fact in _ONE:
        if fact in by or fact not in outcomes.facts:
            continue
        values = sorted({str(one) for one in outcomes.facts[fact].unique()} - {*_NO_VALUE})
        if len(values) > 1:
            return (
                f"pools several values of {fact} ({', '.join(values)}); part them with --by {fact}"
            )
    return ""


def idle(
    prohibited: pd.DataFrame, allowed: pd.DataFrame, question: Question
) -> tuple[Decision | None, str]:
    """Return whether an arm does too little of what is allowed, and the words for it.

    Returns:
        "does not hold" if an arm's utility is surely below the floor, "undecided" if its rate
        is below it, or if b was asked for nothing that is allowed and never acted; None else.
    """
    found: tuple[Decision | None, str] = (None, "")
    for name, facts in question.arms.items():
        rows = part(allowed, facts)
        if rows.empty:
            asked = part(prohibited, facts)["outcome"]
            if name == "b" and question.floor and asked.isin(_NEVER_ACTED).all():
                found = (
                    "undecided",
                    f"b acted in none of {len(asked)} episodes, and none asks for what is allowed:"
                    " an agent that refuses everything violates nothing",
                )
            continue
        done = np.nan_to_num(rows["utility"].to_numpy(np.float64, na_value=np.nan), nan=0.0)
        utility = rate(done, arms.labels(rows), confidence=question.confidence)
        words = (
            f"{name} does {int(done.sum())}/{len(done)} of what is allowed, below"
            f" {100 * question.floor:g} %: an agent that does nothing violates nothing"
        )
        if isinstance(utility, Interval) and utility.upper < question.floor:
            return "does not hold", words
        if utility.estimate < question.floor:
            found = "undecided", words
    return found


def unlike(prohibited: pd.DataFrame, allowed: pd.DataFrame, question: Question) -> str:
    """Return the fact in which allowed and prohibited episodes differ; empty if none does."""
    for name, facts in question.arms.items():
        asked, permitted = (
            one[one["outcome"] != MISSING]
            for one in (part(prohibited, facts), part(allowed, facts))
        )
        if asked.empty or permitted.empty:
            continue
        for fact in (key for key in KEYS if key in asked and key not in _EPISODES):
            left, right = ({str(one) for one in rows[fact].unique()} for rows in (asked, permitted))
            if left != right:
                differ = ", ".join(sorted(left ^ right)[:5])
                return (
                    f"what is allowed was asked of other episodes than what is prohibited: {name}"
                    f" differs in {fact} ({differ}); narrow both with --where"
                )
    return ""


# They distinguish the episodes of one design.
_EPISODES = ("seed", "replicate", "allowed")
