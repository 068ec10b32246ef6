"""The verdict on each of the paper's claims, computed from the committed episodes.

*Same* if every test of a claim shows what it expects, *opposite* if one shows the contrary,
*not measured* if an arm has no episode, otherwise *cannot tell*, with the reasons. A claim
whose premise does not hold of the subject is *cannot tell* as well.
The claims belong to the family of ``primary.yaml``, where each has one adjusted p-value.
``reproduction.yaml`` also states the verdict, because the words beside it depend on it; it is
an error if the episodes give another one.
"""

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import pandas as pd

from constraintrot.episode.facts import IDENTITY
from constraintrot.errors import ConstraintRotError
from constraintrot.report.arms import frame_rate
from constraintrot.report.claims.decide import ALPHA, Why
from constraintrot.report.claims.declared import (
    REPRODUCTION,
    Claim,
    Claims,
    Test,
    Verdict,
    Where,
    chosen,
    unplaced,
)
from constraintrot.report.claims.tested import Tested, at_most, is_silent, scored, silence, tested
from constraintrot.report.episode_counts import played
from constraintrot.report.page import design, primary
from constraintrot.report.page.primary import Declared, Family, Further
from constraintrot.report.page.view import NOT_MEASURED, Compared, p_text
from constraintrot.stats.interval import Estimate

DIFFERENCES = ("higher", "lower", "different")


@dataclass(frozen=True)
class Answered:
    """A claim with the figures of the committed episodes.

    Attributes:
        arms: rate by arm; None if the arm has no episode.
        compression: by arm, the median of tokens after the last compaction over tokens before
            it; None if nothing was compacted.
        why: why it is undecided; empty with any other verdict.
        p_value: of all expected relations, or of the contrary of any; None if no test has pairs.
        rows: positions of its episodes in the frame.
        silent: by arm, the number of planned episodes with an unknown value.
        premise: by arm of the premise, its rate with all silent episodes as 1.
    """

    claim: Claim
    arms: Mapping[str, Estimate | None]
    compression: Mapping[str, float | None]
    tests: tuple[Tested, ...]
    verdict: Verdict
    why: tuple[Why, ...]
    p_value: float | None
    adjusted: float | None
    rows: frozenset[int]
    scaffolds: tuple[str, ...]
    silent: Mapping[str, int] = field(default_factory=dict[str, int])
    premise: Mapping[str, float] = field(default_factory=dict[str, float])


def answer(
    claims: Claims, frame: pd.DataFrame, declared: Declared
) -> tuple[list[Answered], Family]:
    """Return the claims with their figures and verdicts, which have to be those of the file.

    The frame has the planned episodes of all frames, from ``page.design.prepared``. An episode
    without a verdict is in no rate; a verdict has to hold for each of its outcomes.
    """
    answered, family = decided(claims, frame, declared)
    for one in answered:
        _check(one)
    return answered, family


def decided(
    claims: Claims, frame: pd.DataFrame, declared: Declared
) -> tuple[list[Answered], Family]:
    """Return the same as ``answer``, without checking the file's verdicts."""
    if declared.also != REPRODUCTION or declared.margin != claims.margin:
        raise ConstraintRotError(
            f"the claims of {REPRODUCTION} belong to the family of primary claims; primary.yaml has"
            f" to say `also: {REPRODUCTION}` and the same margin, {claims.margin}"
        )
    first = [measured(claim, claims, frame) for claim in claims.claims]
    answered, family = settled(first, frame, declared)

    def heard(titles: Container[str]) -> Sequence[Answered]:
        again = [
            measured(one.claim, claims, frame, heard=True) if one.claim.title in titles else one
            for one in first
        ]
        return settled(again, frame, declared)[0]

    return with_silence(answered, heard), family


def with_silence(
    answered: list[Answered], heard: Callable[[Container[str]], Sequence[Answered]]
) -> list[Answered]:
    """Give silence as the reason of the claims that would be decided without it.

    ``heard`` decides all claims again, the named ones without regard to silent episodes.
    """
    open_ = {
        one.claim.title
        for one in answered
        if one.verdict == "cannot tell" and any(one.silent.values()) and one.adjusted is not None
    }
    if not open_:
        return answered
    return [
        replace(one, why=(silence("its silent episodes"),))
        if one.claim.title in open_ and other.verdict in ("same", "opposite")
        else one
        for one, other in zip(answered, heard(open_), strict=True)
    ]


def settled(
    answered: Sequence[Answered], frame: pd.DataFrame, declared: Declared
) -> tuple[list[Answered], Family]:
    """Adjust the p-values of measured claims over their family, and give each its verdict."""
    # A family without claims of its own compares no subjects.
    of = design.subjects(played(frame)) if declared.claims else frame
    family = primary.family(declared, of, _further(answered))
    adjusted = iter(family.further)
    answered = [
        one if one.p_value is None else replace(one, adjusted=next(adjusted).adjusted)
        for one in answered
    ]
    return [_with_verdict(_told(one, family)) for one in answered], family


def unused(answered: Sequence[Answered], frame: pd.DataFrame) -> pd.DataFrame:
    """Return the episodes with a verdict that no claim uses."""
    frame = played(frame)
    used = frozenset[int]().union(*(one.rows for one in answered))
    return frame[~frame.index.isin(list(used))]


def measured(claim: Claim, claims: Claims, frame: pd.DataFrame, *, heard: bool = False) -> Answered:
    """Compute a claim's rates and tests; its verdict is "not measured" until ``settled``.

    With ``heard``, the possible outcomes of silent episodes are ignored.
    """
    where = {name: {**claims.held, **claim.where, **arm.where} for name, arm in claim.arms.items()}
    planned = {name: chosen(frame, where[name]) for name in claim.arms}
    open_ = {name: unplaced(frame, where[name]) for name in claim.arms}
    parts = {name: scored(part, claim.arms[name].value) for name, part in planned.items()}
    rates = {
        name: None if part.empty else frame_rate(part, claim.arms[name].value)
        for name, part in parts.items()
    }
    unmeasured = [name for name, part in parts.items() if part.empty]
    lacking = {name for name in unmeasured if not claim.arms[name].control}
    tests = tuple(
        tested(
            test,
            claim.arms[test.a].value,
            planned,
            open_,
            claims.margin,
            _varied(where, test),
            heard=heard,
        )
        for test in claim.tests
        if not lacking & {test.a, test.b}
    )
    rows = frozenset(int(at) for part in parts.values() for at in part.index)
    scaffolds = sorted({str(name) for part in parts.values() for name in part["scaffold"]})
    if len(scaffolds) > 1:
        raise ConstraintRotError(
            f"{REPRODUCTION}, {claim.title!r}: its episodes are of the scaffolds"
            f" {' and '.join(scaffolds)}, which are different subjects; name one in `where`"
        )
    value = None if lacking else claim_p_value(tests)
    if value is not None:
        value = min(1.0, value * claim.looks)
    return Answered(
        claim,
        rates,
        {name: _compression(part) for name, part in parts.items()},
        tests,
        "not measured",
        (),
        value,
        None,
        rows,
        tuple(scaffolds),
        {
            name: int(is_silent(part, claim.arms[name].value).sum())
            for name, part in planned.items()
        },
        {
            name: at_most(planned[name], claim.arms[name].value)
            for name in (claim.premise.arms if claim.premise else ())
        },
    )


def _compression(part: pd.DataFrame) -> float | None:
    ratios = (part["tokens_after"] / part["tokens_before"]).dropna()
    return None if ratios.empty else float(ratios.median())


def _further(answered: Sequence[Answered]) -> list[Further]:
    return [
        Further(one.claim.title, one.p_value, _alone(one))
        for one in answered
        if one.p_value is not None
    ]


def _alone(one: Answered) -> Compared | None:
    if len(one.tests) != 1 or (compared := one.tests[0].compared) is None:
        return None
    comparison = compared.comparison
    same = comparison and min(1.0, comparison.p_value * one.claim.looks) == one.p_value
    return compared if same else None


def _told(one: Answered, family: Family) -> Answered:
    return replace(
        one,
        tests=tuple(
            test if test.compared is None else replace(test, compared=family.told(test.compared))
            for test in one.tests
        ),
    )


def _varied(where: Mapping[str, Where], test: Test) -> set[str]:
    """Return the columns in which the queries of a test's arms differ, without ``IDENTITY``."""
    a, b = where[test.a], where[test.b]
    return {name for name in {*a, *b} if a.get(name) != b.get(name)} - {*IDENTITY}


def claim_p_value(tests: Sequence[Tested]) -> float | None:
    """Return the smaller p-value of "all tests as expected" and "any test contrary".

    The former is the largest p-value, since all have to hold (an intersection-union test); the
    latter the smallest times the number of tests (Bonferroni), since one is enough. If neither
    is shown, the p-value of a single difference is that of its comparison, unless it depends on
    silent episodes.
    """
    if all(test.decided is None for test in tests):
        return None
    shown = min(both_p_values(tests))
    depends = any(why.reason == "silence" for why in tests[0].why)
    if shown > ALPHA and len(tests) == 1 and tests[0].test.b_is in DIFFERENCES and not depends:
        comparison = tests[0].compared and tests[0].compared.comparison
        return comparison.p_value if comparison else shown
    return shown


def both_p_values(tests: Sequence[Tested]) -> tuple[float, float]:
    """Return the p-values of the claim and of its contrary; 1 if there is none."""
    decided = [test.decided for test in tests]
    same = max(1.0 if one is None else one.p_same for one in decided)
    opposite = min(1.0 if one is None else one.p_opposite for one in decided)
    return same, min(1.0, opposite * len(tests))


def _with_verdict(one: Answered) -> Answered:
    if any(
        estimate is None and not one.claim.arms[name].control for name, estimate in one.arms.items()
    ):
        return one
    if unmet := _unmet_premise(one):
        return replace(one, verdict="cannot tell", why=(unmet,))
    same, opposite = both_p_values(one.tests)
    if one.adjusted is not None and max(one.adjusted, min(same, opposite)) <= ALPHA:
        return replace(one, verdict="same" if same <= opposite else "opposite")
    return replace(one, verdict="cannot tell", why=tuple(_reasons(one)))


def _unmet_premise(one: Answered) -> Why | None:
    if (premise := one.claim.premise) is None:
        return None
    for arm in premise.arms:
        if (rate := one.arms[arm]) is None:
            return Why("no control", f"no episode of {arm}")
        if rate.estimate > premise.at_most:
            return Why("premise", premise.words)
        if one.premise[arm] > premise.at_most:
            words = (
                f"{one.silent[arm]} episodes of {arm} are silent, and the premise depends on them"
            )
            return Why("silence", words)
    return None


def _reasons(one: Answered) -> Iterator[Why]:
    yield from (why for test in one.tests for why in test.why)
    if one.adjusted is not None and min(both_p_values(one.tests)) <= ALPHA:
        yield Why("n", f"adjusted over the primary claims, {p_text(one.adjusted)}")
    elif not any(test.why for test in one.tests):
        yield Why("n", "one test says what is expected, another the contrary, neither with enough")


def _check(one: Answered) -> None:
    if one.verdict == one.claim.verdict:
        return
    because = "; ".join(f"{why.reason}: {why.words}" for why in one.why)
    empty = ", ".join(name for name, estimate in one.arms.items() if estimate is None)
    if one.verdict == NOT_MEASURED:
        because = f"no episode answers {empty}"
    raise ConstraintRotError(
        f"{REPRODUCTION}, {one.claim.title!r}: the verdict is {one.claim.verdict!r}, but the episodes"
        f" say {one.verdict!r}{f' ({because})' if because else ''}; change it, and read its words again"
    )
