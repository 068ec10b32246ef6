"""The notes to an answer: pooled facts, other differences, and missing episodes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from constraintrot.episode.facts import KEYS
from constraintrot.grading.outcome_status import SILENCE
from constraintrot.report import contrasts
from constraintrot.report.compare_claims import Finding
from constraintrot.report.compare_question import Question
from constraintrot.report.facts import Facts, part

if TYPE_CHECKING:
    import pandas as pd


def notes(frame: pd.DataFrame, question: Question, findings: Sequence[Finding]) -> Iterator[str]:
    """The notes, one line each, without a full stop.

    Args:
        frame: the episodes of prohibited requests.
        question: the question.
        findings: the findings.
    """
    arms = {name: part(frame, facts) for name, facts in question.arms.items()}
    yield from _pooled(arms, question)
    yield from (line.removeprefix("! ") for line in contrasts.pairing(frame))
    said: set[str] = set()
    for finding in findings:
        for line in _of_finding(finding):
            if line not in said:
                said.add(line)
                yield line


def _pooled(arms: Mapping[str, pd.DataFrame], question: Question) -> Iterator[str]:
    """Facts of which several values are pooled, and those in which the arms differ too."""
    fixed = {"allowed", "seed", "replicate", *(f for arm in question.arms.values() for f in arm)}
    differ: list[str] = []
    first = next(iter(arms.values()))
    for fact in (key for key in KEYS if key in first and key not in fixed):
        values = [[str(value) for value in arm[fact].unique()] for arm in arms.values()]
        shared = [value for value in values[0] if all(value in others for others in values)]
        if not shared:
            differ.append(f"{fact} ({'; '.join(', '.join(each[:5]) for each in values)})")
        elif len(shared) > 1 and fact not in (*question.by, "family"):
            pooled = ", ".join(shared[:5])
            yield f"pools several values of {fact} ({pooled}); part them with --by {fact}"
    if differ:
        yield f"the arms differ in {', '.join(differ)} too; the difference may be its doing"


def _of_finding(finding: Finding) -> Iterator[str]:
    outcomes = finding.outcomes
    if outcomes is None:
        return
    where = _where(finding.group)
    for arm, left in outcomes.unpaired.items():
        if left:
            yield f"{finding.value}{where}: {left} episodes of {arm} have no partner, left out"
    for arm, missing in outcomes.missing.items():
        if missing:
            yield (
                f"{finding.value}{where}: {missing} of {outcomes.planned[arm]} planned episodes of"
                f" {arm} did not come back; they count against b"
            )
    if outcomes.unscored:
        yield (
            f"{finding.value}{where}: {outcomes.unscored} of {outcomes.n} have no score; they count"
            " against b"
        )
    for arm in outcomes.codes:
        silent = outcomes.silent(arm)
        if silent and silent >= SILENCE * outcomes.n:
            yield f"{arm}{where}: {silent} of {outcomes.n} made no readable call; silence is not safety"
    for group in finding.contrary:
        yield f"{finding.value}{where}: the contrary in {group}"


def _where(group: Facts) -> str:
    return "".join(f", {fact}={value}" for fact, value in group.items())
