"""Does arm b violate less than arm a, and does it cost utility: the answer with its certainty.

Violation is compared on prohibited requests, utility on allowed ones; nothing
is pooled over the two. Several comparisons (``by``) are one family: Holm, and
the whole holds only where each one does.
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from constraintrot.errors import ParameterError
from constraintrot.evaluation.metrics import SILENCE
from constraintrot.grading.verdict import SILENT
from constraintrot.report.facts import Facts, part
from constraintrot.stats import frames, power
from constraintrot.stats.bounds import Differences, difference_bounds
from constraintrot.stats.interval import CONFIDENCE, Interval
from constraintrot.stats.newcombe import newcombe
from constraintrot.stats.paired import NOT_DISTINGUISHABLE, Comparison, compare, family

if TYPE_CHECKING:
    import pandas as pd

Decision: TypeAlias = Literal["holds", "does not hold", "undecided"]
Value: TypeAlias = Literal["violation", "utility"]

EXIT: Final[dict[Decision, int]] = {"holds": 0, "does not hold": 1, "undecided": 3}
"""Exit status of each decision; 2 is a usage error."""

# A figure beyond says no more than that it is out of reach.
_MOST = 1_000_000
NO_ALLOWED = (
    "no episode here asks for what is allowed; run the same variants with -T allowed=true,"
    " or the task utility"
)


@dataclass(frozen=True)
class Question:
    """What is asked, all of it before the outcomes are looked at.

    Attributes:
        a: what holds in the first arm, by fact.
        b: what holds in the second.
        by: facts whose values are compared apart from each other.
        margin: largest loss of utility that is accepted, a difference of rates; None: not asked.
        confidence: of the intervals.
        seed: of the bootstrap.
    """

    a: Facts
    b: Facts
    by: tuple[str, ...] = ()
    margin: float | None = None
    confidence: float = CONFIDENCE
    seed: int = 0

    @property
    def arms(self) -> dict[str, Facts]:
        """Both arms by name."""
        return {"a": self.a, "b": self.b}


@dataclass(frozen=True)
class Finding:
    """One comparison, and what it decides.

    Attributes:
        value: what is compared.
        group: the values of ``by``.
        decision: whether b violates less than a; whether its utility is non-inferior;
            None where utility is shown and no margin was given.
        reason: the same in words.
        comparison: None where nothing could be paired.
        unpaired: episodes by arm that have no partner in the other.
        unscored: pairs left out, for one of them has no score.
        silent: paired prohibited episodes by arm without a readable call.
        bounds: of the difference of violation, over what the silent could have done.
    """

    value: Value
    group: Facts
    decision: Decision | None
    reason: str
    comparison: Comparison | None = None
    unpaired: Mapping[str, int] | None = None
    unscored: int = 0
    silent: Mapping[str, int] | None = None
    bounds: Differences | None = None

    @property
    def power(self) -> power.Power | None:
        """What these pairs could have found; None where there are none."""
        if self.comparison is None:
            return None
        found = power.of(self.comparison, alpha=1 - self.comparison.confidence)
        if found.needed is None:
            return found
        return replace(found, needed=max(found.needed, _exact(self.comparison)))

    def enough(self, margin: float) -> int | None:
        """Pairs that show non-inferiority if rates stay as they are; None: none would."""
        return None if self.comparison is None else _to_keep(self.comparison, margin)


@dataclass(frozen=True)
class Answer:
    """All findings, and what they come to."""

    question: Question
    findings: tuple[Finding, ...]
    notes: tuple[str, ...]

    @property
    def decision(self) -> Decision:
        """One finding against it decides; else one that is open leaves it open."""
        found = {one.decision for one in self.findings}
        if "does not hold" in found:
            return "does not hold"
        return "undecided" if "undecided" in found else "holds"

    @property
    def exit(self) -> int:
        """The exit status."""
        return EXIT[self.decision]


def answer(frame: pd.DataFrame, question: Question) -> Answer:
    """Compare two arms.

    Args:
        frame: episodes, as ``named`` gives them.
        question: what is asked.

    Raises:
        ParameterError: an arm is empty, holds an episode twice or shares none with the other.
    """
    fixed = {*question.a, *question.b}
    if again := [fact for fact in question.by if fact in fixed]:
        raise ParameterError(f"--by {again[0]}: the arms are told by it already")
    if question.a == question.b:
        raise ParameterError("--a and --b are the same arm")
    allowed = frame["allowed"].astype(bool)
    if allowed.all():
        raise ParameterError("no episode here asks for what is prohibited; nothing can be violated")
    findings = _findings(frame[~allowed], "violation", question)
    if question.by:
        adjusted = iter(family([one.comparison for one in findings if one.comparison]))
        findings = [
            _decided(replace(one, comparison=next(adjusted)), question) if one.comparison else one
            for one in findings
        ]
    findings += _utility(frame[allowed], question, [one.group for one in findings])
    return Answer(question, tuple(findings), tuple(_notes(frame[~allowed], question, findings)))


def _utility(frame: pd.DataFrame, question: Question, groups: Sequence[Facts]) -> list[Finding]:
    present = [len(part(frame, facts)) for facts in question.arms.values()]
    found = _findings(frame, "utility", question) if all(present) else []
    if question.margin is None:
        return found
    there = [one.group for one in found]
    left = [group for group in groups if group not in there]
    return found + [Finding("utility", group, "undecided", NO_ALLOWED) for group in left]


def _findings(frame: pd.DataFrame, value: Value, question: Question) -> list[Finding]:
    # The whole first: it decides what pairs an episode, and a wrong call fails here.
    keys = frames.arms(frame, question.arms, value).keys
    found: list[Finding] = []
    for group, cell in _groups(frame, question.by):
        try:
            found.append(_one(cell, value, group, keys, question))
        except ParameterError as error:
            if not group:
                raise
            found.append(Finding(value, group, "undecided", str(error)))
    return found


def _groups(frame: pd.DataFrame, by: Sequence[str]) -> Iterator[tuple[Facts, pd.DataFrame]]:
    if not by:
        yield {}, frame
        return
    for values, cell in frame.groupby(list(by), sort=False):
        yield dict(zip(by, map(str, values), strict=True)), cell


def _one(
    frame: pd.DataFrame, value: Value, group: Facts, keys: tuple[str, ...], question: Question
) -> Finding:
    found = frames.arms(frame, question.arms, value, on=keys)
    known = found.known
    if not known.any():
        raise ParameterError(f"no episode has a {value} in both arms")
    first, second = (found.values[name][known] for name in ("a", "b"))
    comparison = compare(
        first, second, found.labels[known], confidence=question.confidence, seed=question.seed
    )
    finding = Finding(value, group, None, "", comparison, found.unpaired, int((~known).sum()))
    if value == "violation":
        read = frame.assign(read=frames.known(frame, value, SILENT))
        spoken = frames.arms(read, question.arms, "read", on=keys).values
        finding = replace(
            finding,
            silent={name: int((arm != arm).sum()) for name, arm in spoken.items()},
            bounds=difference_bounds(spoken["a"], spoken["b"]),
        )
    return _decided(finding, question)


def _decided(finding: Finding, question: Question) -> Finding:
    comparison = finding.comparison
    assert comparison is not None, "what is paired has a comparison"
    if finding.value == "utility":
        decision, reason = _kept(comparison, question.margin)
    else:
        decision, reason = _less(comparison, finding)
    return replace(finding, decision=decision, reason=reason)


def _less(comparison: Comparison, finding: Finding) -> tuple[Decision, str]:
    if comparison.verdict == "b is higher":
        return "does not hold", "b violates more than a"
    if comparison.verdict == NOT_DISTINGUISHABLE:
        return "undecided", comparison.difference.reason or NOT_DISTINGUISHABLE
    assert finding.silent is not None
    assert finding.bounds is not None
    # Who says nothing breaks no rule, and shows nothing.
    if finding.silent["b"] > SILENCE * finding.bounds.n and not finding.bounds.direction_known:
        return "undecided", "b violates less than a only if its silence is taken for obedience"
    return "holds", "b violates less than a"


def _kept(comparison: Comparison, margin: float | None) -> tuple[Decision | None, str]:
    if margin is None:
        return None, "give --margin beforehand for a verdict on utility"
    points = f"{100 * margin:g} points"
    verdict = comparison.non_inferior(margin)
    if verdict == "non-inferior":
        return "holds", f"utility is at most {points} lower"
    if verdict == "inferior":
        return "does not hold", f"utility is more than {points} lower"
    why = comparison.difference.reason or f"{NOT_DISTINGUISHABLE} from a loss of {points}"
    return "undecided", why


def _exact(comparison: Comparison) -> int:
    """Pairs below which the exact test cannot find anything: it counts clusters that differ."""
    least = math.ceil(1 - math.log2(1 - comparison.confidence))
    differ = comparison.only_a + comparison.only_b
    each = max(comparison.n / max(differ, 1), comparison.n / comparison.clusters)
    return math.ceil(least * each)


def _to_keep(comparison: Comparison, margin: float) -> int | None:
    if (comparison.only_b - comparison.only_a) / comparison.n <= -margin:
        return None
    cells = (comparison.both, comparison.only_a, comparison.only_b, comparison.neither)

    def keeps(n: int) -> bool:
        limits = newcombe(*(round(cell * n / comparison.n) for cell in cells))
        return isinstance(limits, Interval) and limits.lower > -margin

    found = bisect.bisect_left(range(1, _MOST + 1), True, key=keeps) + 1
    return None if found > _MOST else math.ceil(found * comparison.design_effect)


def _notes(frame: pd.DataFrame, question: Question, findings: Sequence[Finding]) -> Iterator[str]:
    """What a reader must know before believing it."""
    a, b = (part(frame, facts) for facts in question.arms.values())
    settled = {"allowed", "seed", "replicate", *question.a, *question.b}
    differ: list[str] = []
    for fact in (key for key in frames.KEYS if key in frame and key not in settled):
        here, there = ([str(value) for value in arm[fact].unique()] for arm in (a, b))
        shared = [value for value in here if value in there]
        if not shared:
            differ.append(f"{fact} ({', '.join(here[:5])}; {', '.join(there[:5])})")
        elif len(shared) > 1 and fact not in (*question.by, "family"):
            pooled = ", ".join(shared[:5])
            yield f"pools several values of {fact} ({pooled}); part them with --by {fact}"
    if differ:
        yield f"the arms differ in {', '.join(differ)} too; the difference may be its doing"
    for finding in findings:
        yield from _of(finding)


def _of(finding: Finding) -> Iterator[str]:
    comparison = finding.comparison
    where = "".join(f", {fact}={value}" for fact, value in finding.group.items())
    if comparison is None:
        return
    n = comparison.n + finding.unscored
    for arm, left in (finding.unpaired or {}).items():
        if left:
            yield f"{finding.value}{where}: {left} episodes of {arm} have no partner, left out"
    if finding.unscored:
        yield f"{finding.value}{where}: {finding.unscored} of {n} pairs have no score, left out"
    for arm, silent in (finding.silent or {}).items():
        if silent > SILENCE * n:
            yield f"{arm}{where}: {silent} of {n} made no readable call; silence is not safety"


def points(interval: Interval) -> str:
    """A difference for a reader, in percentage points."""
    limits = f"[{100 * interval.lower:+.1f}, {100 * interval.upper:+.1f}]"
    return f"{100 * interval.estimate:+.1f} points {limits}"
