"""Does arm b violate less than arm a, and does it cost utility? A decision from paired episodes.

Violation is compared on prohibited requests, utility on allowed ones; the two are
never pooled. Several comparisons (``by``) are one family: p-values are adjusted by
Holm, and the answer is "holds" only if every comparison's is.
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from constraintrot.errors import ParameterError
from constraintrot.evaluation.metrics import SILENCE
from constraintrot.report import contrasts
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

SILENT = ("no_call", "malformed")
# Numbers of pairs above this are not reported.
_MOST = 1_000_000
NO_ALLOWED = (
    "no episode here asks for what is allowed; run the same variants with -T allowed=true,"
    " or the task utility"
)


@dataclass(frozen=True)
class Question:
    """The question, which is fixed before the outcomes are looked at.

    Attributes:
        a: the facts that select the episodes of the first arm.
        b: the facts that select the episodes of the second arm.
        by: facts for each of whose values there is a separate comparison.
        margin: largest accepted loss of utility, a difference of rates; None: no
            decision on utility.
        confidence: nominal coverage of the intervals.
        seed: seed of the bootstrap.
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
    """One comparison and its decision.

    Attributes:
        value: the score that is compared.
        group: the values of the facts in ``Question.by``; empty without them.
        decision: for violation, whether b violates less than a; for utility, whether b
            is non-inferior, or None if no margin was given.
        reason: the reason of the decision, for a reader.
        comparison: the statistics; None if there are no pairs.
        unpaired: by arm, number of episodes that the other arm lacks.
        unscored: number of pairs left out because an episode has no score.
        silent: by arm, number of paired prohibited episodes without a readable call.
        bounds: bounds of the difference of violation over what the episodes without a
            readable call could have done.
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
        """The power of the comparison; None if there are no pairs."""
        if self.comparison is None:
            return None
        result = power.of(self.comparison, alpha=1 - self.comparison.confidence)
        if result.needed is None:
            return result
        return replace(result, needed=max(result.needed, _exact(self.comparison)))

    def enough(self, margin: float) -> int | None:
        """Number of pairs that show non-inferiority at the observed rates; None if no number does."""
        return None if self.comparison is None else _to_keep(self.comparison, margin)


@dataclass(frozen=True)
class Answer:
    """All findings, the decision that follows from them, and notes for the reader."""

    question: Question
    findings: tuple[Finding, ...]
    notes: tuple[str, ...]

    @property
    def decision(self) -> Decision:
        """The worst decision of the findings: does not hold, undecided, holds."""
        decisions = {finding.decision for finding in self.findings}
        if "does not hold" in decisions:
            return "does not hold"
        return "undecided" if "undecided" in decisions else "holds"

    @property
    def exit(self) -> int:
        """Exit status of the command."""
        return EXIT[self.decision]


def answer(frame: pd.DataFrame, question: Question) -> Answer:
    """Compare two arms.

    Args:
        frame: episodes, as ``named`` returns them.
        question: the question.

    Raises:
        ParameterError: the arms are the same or are defined by a fact in ``by``, an arm is
            empty or has an episode twice, the arms have no episode in common, or no request
            is prohibited.
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
    sizes = [len(part(frame, facts)) for facts in question.arms.values()]
    findings = _findings(frame, "utility", question) if all(sizes) else []
    if question.margin is None:
        return findings
    compared = [finding.group for finding in findings]
    left = [group for group in groups if group not in compared]
    return findings + [Finding("utility", group, "undecided", NO_ALLOWED) for group in left]


def _findings(frame: pd.DataFrame, value: Value, question: Question) -> list[Finding]:
    # All episodes first: they determine the keys to match on, and a wrong question fails here.
    keys = frames.arms(frame, question.arms, value).keys
    findings: list[Finding] = []
    for group, cell in _groups(frame, question.by):
        try:
            findings.append(_one(cell, value, group, keys, question))
        except ParameterError as error:
            if not group:
                raise
            findings.append(Finding(value, group, "undecided", str(error)))
    return findings


def _groups(frame: pd.DataFrame, by: Sequence[str]) -> Iterator[tuple[Facts, pd.DataFrame]]:
    if not by:
        yield {}, frame
        return
    for values, cell in frame.groupby(list(by), sort=False):
        yield dict(zip(by, map(str, values), strict=True)), cell


def _one(
    frame: pd.DataFrame, value: Value, group: Facts, keys: tuple[str, ...], question: Question
) -> Finding:
    matched = frames.arms(frame, question.arms, value, on=keys)
    known = matched.known
    if not known.any():
        raise ParameterError(f"no episode has a {value} in both arms")
    first, second = (matched.values[name][known] for name in ("a", "b"))
    comparison = compare(
        first, second, matched.labels[known], confidence=question.confidence, seed=question.seed
    )
    finding = Finding(value, group, None, "", comparison, matched.unpaired, int((~known).sum()))
    if value == "violation":
        # nan where the call was not readable.
        read = frame.assign(read=frames.known(frame, value, SILENT))
        readable = frames.arms(read, question.arms, "read", on=keys).values
        finding = replace(
            finding,
            silent={name: int((arm != arm).sum()) for name, arm in readable.items()},
            bounds=difference_bounds(readable["a"], readable["b"]),
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
    # An agent that makes no readable call does not violate, but does not show obedience.
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
    """Pairs that the exact test needs at least to reject: it counts clusters that differ."""
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

    pairs = bisect.bisect_left(range(1, _MOST + 1), True, key=keeps) + 1
    return None if pairs > _MOST else math.ceil(pairs * comparison.design_effect)


def _notes(frame: pd.DataFrame, question: Question, findings: Sequence[Finding]) -> Iterator[str]:
    """Warnings for the reader: pooled facts, other differences of the arms, left-out episodes."""
    a, b = (part(frame, facts) for facts in question.arms.values())
    fixed = {"allowed", "seed", "replicate", *question.a, *question.b}
    differ: list[str] = []
    for fact in (key for key in frames.KEYS if key in frame and key not in fixed):
        in_a, in_b = ([str(value) for value in arm[fact].unique()] for arm in (a, b))
        shared = [value for value in in_a if value in in_b]
        if not shared:
            differ.append(f"{fact} ({', '.join(in_a[:5])}; {', '.join(in_b[:5])})")
        elif len(shared) > 1 and fact not in (*question.by, "family"):
            pooled = ", ".join(shared[:5])
            yield f"pools several values of {fact} ({pooled}); part them with --by {fact}"
    if differ:
        yield f"the arms differ in {', '.join(differ)} too; the difference may be its doing"
    yield from (line.removeprefix("! ") for line in contrasts.pairing(frame))
    for finding in findings:
        yield from _left_out(finding)


def _left_out(finding: Finding) -> Iterator[str]:
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
    """A difference of rates as text, in percentage points."""
    limits = f"[{100 * interval.lower:+.1f}, {100 * interval.upper:+.1f}]"
    return f"{100 * interval.estimate:+.1f} points {limits}"
