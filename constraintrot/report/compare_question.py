"""The question to ``compare``, and the number of variants that answers it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from constraintrot.episode.facts import CLUSTER
from constraintrot.errors import ParameterError
from constraintrot.report.facts import Facts
from constraintrot.report.tables import Table
from constraintrot.stats import power
from constraintrot.stats.interval import CONFIDENCE

Decision: TypeAlias = Literal["holds", "does not hold", "undecided"]
Claim: TypeAlias = Literal["fewer", "no worse", "at most", "utility"]
"""In order: b violates less than a; at most a margin more; seldom enough; b keeps its utility."""

MISSING_SHARE = 0.1
UTILITY_FLOOR = 0.8


@dataclass(frozen=True)
class Question:
    """The question, which is fixed before the outcomes are looked at.

    Attributes:
        a: the facts that select the episodes of the first arm; None if the question is about
            b alone, as ``at_most`` is.
        margin: largest accepted loss of utility, a difference of rates; None for no
            decision on utility.
        no_worse: if given, the question is not whether b violates less than a, but whether
            it violates at most this much more; a difference of rates.
        at_most: largest accepted violation rate of b; None for no decision on it.
        strict: whether a note for the reader makes the answer "does not hold".
        missing: largest accepted share of planned episodes of an arm without a verdict;
            with more, nothing holds.
        floor: smallest accepted share of allowed requests that each arm does; with less,
            nothing holds, since an agent that does nothing violates nothing.
    """

    a: Facts | None
    b: Facts
    by: tuple[str, ...] = ()
    margin: float | None = None
    confidence: float = CONFIDENCE
    seed: int = 0
    no_worse: float | None = None
    at_most: float | None = None
    strict: bool = False
    missing: float = MISSING_SHARE
    floor: float = UTILITY_FLOOR

    @property
    def arms(self) -> dict[str, Facts]:
        return {"b": self.b} if self.a is None else {"a": self.a, "b": self.b}

    @property
    def claims(self) -> tuple[Claim, ...]:
        alone: tuple[Claim, ...] = () if self.at_most is None else ("at most",)
        if self.a is None:
            return alone
        return ("fewer" if self.no_worse is None else "no worse", *alone)

    def limit(self, claim: Claim) -> float:
        """Return the limit of a claim, a rate or a difference of rates; 0 for "fewer"."""
        limits = {"no worse": self.no_worse, "at most": self.at_most, "utility": self.margin}
        return limits.get(claim) or 0.0

    def check(self) -> None:
        if self.a is None:
            if self.at_most is None:
                raise ParameterError("give --a, the arm to compare with, or --at-most")
            for option, value in (("--no-worse", self.no_worse), ("--margin", self.margin)):
                if value is not None:
                    raise ParameterError(f"{option} compares with a baseline; give it as --a")
        if self.a == self.b:
            raise ParameterError("--a and --b are the same arm")
        for arm, facts in self.arms.items():
            for fact in (fact for fact in self.by if fact in facts):
                raise ParameterError(f"--by {fact}: the arms are told by it already")
            for fact in (fact for fact in CLUSTER if fact in facts and self.a is not None):
                raise ParameterError(
                    f"--{arm} {fact}={facts[fact]}: an episode is paired with the other arm's of"
                    f" the same {fact}, so {fact} cannot tell the arms apart; narrow both with"
                    f" --where {fact}={facts[fact]}, or compare each with --by {fact}"
                )


# Default true rates of violation (of a and b) for which the number is printed.
_EFFECTS = ((0.9, 0.1), (0.5, 0.1), (0.5, 0.3), (0.3, 0.2))
_BOTH = (0.0, 0.02, 0.1, 0.3)
_RATES = (0.0, 0.01, 0.02, 0.05, 0.1)
_UTILITY = (1.0, 0.98, 0.9)


def planned(
    no_worse: float | None,
    at_most: float | None,
    margin: float | None,
    assumed: tuple[float, float] | None,
    confidence: float,
) -> str:
    """Return the number of variants that give each claim a power of 80 %, as text.

    The limits are those of ``Question``. Without ``no_worse`` and ``at_most`` the claim is that b
    violates less than a. ``assumed`` are the true violation rates of a and of b; None gives a
    table of several.
    """
    lines: list[str] = []
    if no_worse is not None:
        lines += [f"b violates at most {100 * no_worse:g} points more than a (--no-worse):", ""]
        rule = power.no_higher(no_worse, confidence)
        lines += _pairs([assumed] if assumed else [(rate, rate) for rate in _BOTH], rule)
    elif at_most is None:
        lines += ["b violates less than a:", ""]
        lines += _pairs([assumed] if assumed else _EFFECTS, power.fewer(confidence))
    if at_most is not None:
        lines += [f"b violates at most {100 * at_most:g} % (--at-most):", ""]
        rule = power.at_most(at_most, confidence)
        rates = [assumed[1]] if assumed else [rate for rate in _RATES if rate < at_most]
        body = [(_per_cent(rate), _number((rate, 1 - rate), rule)) for rate in rates]
        lines += [Table(["true rate of b", "variants"], body).text(), ""]
    if margin is not None:
        lines += [f"utility is at most {100 * margin:g} points lower (--margin; -T allowed=true):"]
        rule = power.no_lower(margin, confidence)
        lines += ["", *_pairs([(rate, rate) for rate in _UTILITY], rule)]
    return "\n".join([*lines, *_assumptions()])


def _pairs(
    assumed: list[tuple[float, float]] | tuple[tuple[float, float], ...], rule: power.Rule
) -> list[str]:
    body = [
        (
            _per_cent(a),
            _per_cent(b),
            _number((a * b, a * (1 - b), (1 - a) * b, (1 - a) * (1 - b)), rule),
        )
        for a, b in assumed
    ]
    return [Table(["true rate of a", "of b", "variants"], body).text(), ""]


def _number(shares: tuple[float, ...], rule: power.Rule) -> str:
    number = power.needed(shares, rule)
    return f"none up to {power.MOST:,} is enough" if number is None else str(number)


def _per_cent(rate: float) -> str:
    return f"{100 * rate:g} %"


def _assumptions() -> Iterator[str]:
    yield "Variants of all families together, for 80 % power: the rule that decides, simulated, says yes"
    yield "in 80 % of runs (-T variants= is for each family). Assumed: the arms are independent of each"
    yield "other, every episode comes back with a readable call, and replicates (--epochs) of a"
    yield "variant agree, so that they add nothing. With --by, so many for each group, and a few more"
    yield "where p-values are adjusted."
