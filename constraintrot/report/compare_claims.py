"""The decisions of ``compare``, which hold for every outcome of the unknown episodes.

Every claim is tested twice: with all unknown outcomes counted against b (``worst``), and in
b's favour (``best``). It holds only if the worst case shows it, it does not hold only if the
best case refutes it, and otherwise it is undecided.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from constraintrot.report.compare_groups import Group, contrary, contrary_rates
from constraintrot.report.compare_outcomes import Outcomes, Value, mixed
from constraintrot.report.compare_question import Claim, Decision, Question
from constraintrot.report.facts import Facts
from constraintrot.stats import power
from constraintrot.stats.bounds import bounds, compare_unknown
from constraintrot.stats.interval import CONFIDENCE, Estimate, Interval
from constraintrot.stats.paired import NOT_DISTINGUISHABLE, Comparison, compare, family
from constraintrot.stats.rate import rate

T = TypeVar("T")

UNKNOWN_COUNTS = "only if its unknown episodes are taken for obedience"


class Cases(NamedTuple, Generic[T]):
    """A statistic, three times.

    Attributes:
        seen: for the episodes that have a score; silence scores as no violation.
        worst: for all episodes, with unknown outcomes counted against b.
        best: for all episodes, with unknown outcomes counted in b's favour.
    """

    seen: T
    worst: T
    best: T


@dataclass(frozen=True)
class Finding:
    """One comparison and its decision.

    Attributes:
        decision: the decision; None for utility if no margin was given.
        contrary: groups of pooled episodes that show the contrary.
        comparisons: number of comparisons among which p-values are adjusted.
    """

    claim: Claim
    group: Facts
    decision: Decision | None
    reason: str
    outcomes: Outcomes | None = None
    pairs: Cases[Comparison] | None = None
    rates: Cases[Estimate] | None = None
    contrary: Sequence[Group] = field(default_factory=tuple)
    comparisons: int = 1
    confidence: float = CONFIDENCE

    @property
    def value(self) -> Value:
        return "utility" if self.claim == "utility" else "violation"

    @property
    def comparison(self) -> Comparison | None:
        """The comparison of the pairs that have a score in both arms."""
        return None if self.pairs is None else self.pairs.seen

    @property
    def power(self) -> power.Power | None:
        """The power to find a difference; None if there are no pairs."""
        if self.comparison is None:
            return None
        return power.of(self.comparison, comparisons=self.comparisons)

    def enough(self, limit: float) -> int | None:
        """Return the number of variants that show with 80 % power that a limit is kept.

        Returns:
            The number if the true rates are the observed ones; None if no number suffices.
        """
        if self.rates is not None:
            seen = self.rates.seen.estimate
            return power.needed((seen, 1 - seen), power.at_most(limit, self.confidence))
        if self.comparison is None:
            return None
        one = self.comparison
        shares = [count / one.n for count in (one.both, one.only_a, one.only_b, one.neither)]
        rule = power.no_lower if self.claim == "utility" else power.no_higher
        return power.needed(shares, rule(limit, self.confidence))


def decide(claim: Claim, group: Facts, outcomes: Outcomes, question: Question) -> Finding:
    finding = Finding(claim, group, None, "", outcomes, confidence=question.confidence)
    tried = _rates if claim == "at most" else _pairs
    return _decided(tried(finding, outcomes, question), question)


def with_holm(findings: Sequence[Finding], question: Question) -> list[Finding]:
    """Return the findings of "fewer", decided again with p-values adjusted over all of them.

    The worst and the best case are adjusted over the largest p-values of the other findings, as
    what is unknown of those must not decide this one.
    """
    compared = [
        replace(seen, extremes=(worst, best))
        for seen, worst, best in (one.pairs for one in findings if one.pairs)
    ]
    adjusted = (Cases(replace(one, extremes=()), *one.extremes) for one in family(compared))
    return [
        _decided(replace(one, pairs=next(adjusted), comparisons=len(compared)), question)
        if one.pairs
        else one
        for one in findings
    ]


def _pairs(finding: Finding, outcomes: Outcomes, question: Question) -> Finding:
    found = compare_unknown(
        outcomes.scores("a"), outcomes.scores("b"), outcomes.labels,
        unknown=(np.isnan(outcomes.known("a")), np.isnan(outcomes.known("b"))),
        confidence=question.confidence, seed=question.seed,
    )  # fmt: skip
    lowest, highest = found.extremes or (found, found)
    harm = 0.0 if finding.claim == "utility" else 1.0
    worst, best = (highest, lowest) if harm else (lowest, highest)
    limit = question.limit(finding.claim)
    return replace(
        finding,
        pairs=Cases(replace(found, extremes=()), worst, best),
        contrary=contrary(outcomes, harm, limit, question.confidence),
    )


def _rates(finding: Finding, outcomes: Outcomes, question: Question) -> Finding:
    scores, labels = outcomes.scores("b"), outcomes.labels
    known = ~np.isnan(scores)
    confidence, seed = question.confidence, question.seed
    seen = rate(scores[known], labels[known], confidence=confidence, seed=seed)
    found = bounds(outcomes.known("b"), labels, confidence=confidence, seed=seed)
    rates = Cases(seen, found.all, found.none)
    limit = question.limit("at most")
    return replace(finding, rates=rates, contrary=contrary_rates(outcomes, limit, confidence))


def _decided(finding: Finding, question: Question) -> Finding:
    if finding.claim == "utility" and question.margin is None:
        return replace(finding, reason="give --margin beforehand for a verdict on utility")
    if finding.claim == "fewer":
        decision, reason = _fewer(finding)
    else:
        decision, reason = _limited(finding, question.limit(finding.claim))
    if decision == "holds" and (why := _doubt(finding, question)):
        decision, reason = "undecided", why
    return replace(finding, decision=decision, reason=reason)


def _doubt(finding: Finding, question: Question) -> str:
    """Return why a claim that the episodes show is still not accepted; empty without a reason."""
    assert finding.outcomes is not None, "what is decided has episodes"
    if why := mixed(finding.outcomes, question.by) or _no_room(finding, question):
        return why
    for arm, left in finding.outcomes.unpaired.items():
        if left > finding.outcomes.n:
            of = left + finding.outcomes.n
            return f"{finding.outcomes.n} of {of} episodes of {arm} have a partner, fewer than half"
    for arm, missing in finding.outcomes.missing.items():
        planned = finding.outcomes.planned[arm]
        if missing > question.missing * planned:
            share = f"more than {100 * question.missing:g} %"
            return f"{missing} of {planned} planned episodes of {arm} did not come back, {share}"
    clear = [str(group) for group in finding.contrary if group.clear]
    return f"the contrary is seen in {', '.join(clear)}" if clear else ""


def _no_room(finding: Finding, question: Question) -> str:
    """Return why b could not have been shown to be worse; empty if it could, or if b is better."""
    outcomes, pairs = finding.outcomes, finding.pairs
    if finding.claim not in ("no worse", "utility") or outcomes is None or pairs is None:
        return ""
    seen = pairs.seen.a
    if finding.claim == "utility":
        if seen.k is None or seen.k > question.limit("utility") * seen.n:
            return ""
        return f"a does only {seen.k}/{seen.n} of what is allowed, so b has no room to be worse"
    worst = pairs.worst.difference
    if isinstance(worst, Interval) and worst.upper < 0:
        return ""
    most = compare(
        outcomes.filled("a", 0.0), np.ones(outcomes.n), outcomes.labels,
        confidence=question.confidence, seed=question.seed,
    ).difference  # fmt: skip
    if isinstance(most, Interval) and most.lower > question.limit("no worse"):
        return ""
    return f"a violates {seen.k}/{seen.n} already, so b has no room to be worse"


def _fewer(finding: Finding) -> tuple[Decision, str]:
    assert finding.pairs is not None, "what is paired has comparisons"
    seen, worst, best = finding.pairs
    if best.verdict == "b is higher":
        return "does not hold", "b violates more than a"
    if worst.verdict == "b is lower":
        return "holds", "b violates less than a"
    if seen.verdict == "b is lower":
        return "undecided", f"b violates less than a {UNKNOWN_COUNTS}"
    return "undecided", seen.difference.reason or NOT_DISTINGUISHABLE


def _limited(finding: Finding, limit: float) -> tuple[Decision, str]:
    size = f"{100 * limit:g}"
    holds, fails = {
        "no worse": (
            f"b violates at most {size} points more than a",
            f"b violates more than {size} points more than a",
        ),
        "at most": (f"b violates at most {size} %", f"b violates more than {size} %"),
        "utility": (
            f"utility is at most {size} points lower",
            f"utility is more than {size} points lower",
        ),
    }[finding.claim]
    seen, worst, best = _worse(finding)
    if isinstance(best, Interval) and best.lower > limit:
        return "does not hold", fails
    if isinstance(worst, Interval) and worst.upper <= limit:
        return "holds", holds
    if isinstance(seen, Interval) and seen.upper <= limit:
        return "undecided", f"{holds} {UNKNOWN_COUNTS}"
    return "undecided", seen.reason or f"{NOT_DISTINGUISHABLE} from the limit"


def _worse(finding: Finding) -> Cases[Estimate]:
    """Return the harm of b: its violation rate, or how much worse than a it is."""
    if finding.rates is not None:
        return finding.rates
    assert finding.pairs is not None, "what is paired has comparisons"
    differences = (one.difference for one in finding.pairs)
    return Cases(*(map(_turned, differences) if finding.claim == "utility" else differences))


def _turned(estimate: Estimate) -> Estimate:
    if not isinstance(estimate, Interval):
        return estimate
    return replace(
        estimate,
        estimate=-estimate.estimate,
        lower=-estimate.upper,
        upper=-estimate.lower,
        k=None if estimate.k is None else -estimate.k,
    )
