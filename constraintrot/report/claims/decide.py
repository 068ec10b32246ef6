"""The tests that decide a claim; each can also come out against it.

A test names the region of the difference b - a if the claim is right, and the region if it is
wrong. It decides if the whole interval of the difference lies in one of them. A region that
ends at 0 says which of two arms is higher; a region that ends at a declared margin says that
they are equal, or that one is no higher, up to that margin (two one-sided tests, Schuirmann
1987). So "equal" takes as much evidence as "higher"; less evidence leaves the test undecided.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np

from constraintrot.stats.bounds import Mask, bounds, extremes
from constraintrot.stats.interval import CONFIDENCE, Estimate, Floats, Interval
from constraintrot.stats.newcombe import unpaired
from constraintrot.stats.paired import Comparison, compare
from constraintrot.stats.rate import Labels

ALPHA = 1 - CONFIDENCE
UNPAIRED = "square-and-add of the two rates' limits, unpaired"
Value: TypeAlias = Literal["violation", "survived", "mentions", "utility", "over_refusal"]
Expected: TypeAlias = Literal["higher", "lower", "different", "equal", "not higher", "not lower"]
Reason: TypeAlias = Literal[
    "ceiling", "floor", "n", "degenerate", "no control", "no pairs", "silence", "premise",
    "withdrawn",
]  # fmt: skip
Regions: TypeAlias = tuple[tuple[float, float], ...]

_REVERSED: Mapping[Expected, Expected] = {"higher": "lower", "lower": "higher"}
_BAD_WHERE_HIGH = ("violation", "over_refusal")
# The largest confidence of a computed interval, which limits the smallest p-value.
_SUREST = 1 - 1e-6
_HALVINGS = 16


@dataclass(frozen=True)
class Why:
    """Why a test cannot tell: the kind of reason, and the words for a reader."""

    reason: Reason
    words: str


@dataclass(frozen=True)
class Outcomes:
    """The outcomes of two arms.

    What is decided holds for every value of the unknown outcomes, and wherever the unplaced belong.

    Attributes:
        a: outcomes of the first arm: 0, 1, or nan if unknown.
        b: outcomes of the second arm; if paired, of the same episodes in the same order.
        labels_b: cluster of each episode of b; None if b is paired with a.
        wider: by name of a unit above a request, each pair's unit; empty if unpaired.
        unplaced: by arm, a mask of the episodes that may not belong to it; None if all do.
    """

    a: Floats
    b: Floats
    labels_a: Labels
    labels_b: Labels | None = None
    wider: Mapping[str, Labels] = field(default_factory=dict[str, Labels])
    unplaced: tuple[Mask, Mask] | tuple[None, None] = (None, None)

    @cached_property
    def extremes(self) -> tuple[Comparison, ...]:
        """The paired comparisons where b - a is lowest, and highest; empty if unpaired."""
        if self.labels_b is not None:
            return ()
        return extremes(self.a, self.b, self.labels_a)

    @property
    def known(self) -> bool:
        """Whether every outcome of the first arm is known and every episode has its place."""
        return self.unplaced[0] is None and not np.isnan(self.a).any()

    @property
    def comparison(self) -> Comparison | None:
        return self.extremes[0] if self.extremes else None

    @cached_property
    def by_unit(self) -> dict[str, Comparison]:
        return {name: compare(self.a, self.b, labels) for name, labels in self.wider.items()}

    @cached_property
    def printed(self) -> Estimate:
        return self.difference(CONFIDENCE)

    def difference(self, confidence: float) -> Estimate:
        """Return the difference b - a with an interval that includes those of all unknown values."""
        if self.labels_b is None:
            ends = self.extremes
            if confidence != CONFIDENCE:
                ends = extremes(self.a, self.b, self.labels_a, confidence=confidence)
            low, high = (one.difference for one in ends)
        else:
            first, second = (
                bounds(one, labels, unplaced=unplaced, confidence=confidence)
                for one, labels, unplaced in (
                    (self.a, self.labels_a, self.unplaced[0]),
                    (self.b, self.labels_b, self.unplaced[1]),
                )
            )
            low = unpaired(first.all, second.none, UNPAIRED)
            high = unpaired(first.none, second.all, UNPAIRED)
        if not (isinstance(low, Interval) and isinstance(high, Interval)):
            return low if isinstance(high, Interval) else high
        return replace(low, upper=high.upper)


@dataclass(frozen=True)
class Decided:
    """The result of a test.

    Attributes:
        p_same: p-value of the claim; 1 if the interval does not show it, or if no outcome of b
            could have.
        p_opposite: p-value of the contrary; 1 if the interval does not show it, or shows the claim.
    """

    difference: Estimate
    comparison: Comparison | None
    p_same: float
    p_opposite: float
    why: tuple[Why, ...]


def regions(expected: Expected, margin: float) -> tuple[Regions, Regions]:
    """Return the regions of b - a in which the claim is right, and in which it is wrong.

    Differences smaller than ``margin`` do not count as differences.
    """
    above, below = ((0.0, math.inf),), ((-math.inf, 0.0),)
    not_higher, not_lower = ((-math.inf, margin),), ((-margin, math.inf),)
    much_higher, much_lower = ((margin, math.inf),), ((-math.inf, -margin),)
    within = ((-margin, margin),)
    known: dict[Expected, tuple[Regions, Regions]] = {
        "higher": (above, not_higher),
        "lower": (below, not_lower),
        "different": (below + above, within),
        "equal": (within, much_lower + much_higher),
        "not higher": (not_higher, much_higher),
        "not lower": (not_lower, much_lower),
    }
    return known[expected]


def p_value(outcomes: Outcomes, wanted: Regions) -> float:
    """Return the two-sided p-value for the difference in a region; 1 if it is above ``ALPHA``.

    It is 1 less the largest confidence whose interval lies in the region. For paired arms and
    a region without 0 it is at least the exact test's p-value; if that region ends at 0 it
    equals it, as in ``Comparison.verdict``.
    """
    if not _inside(outcomes.printed, wanted):
        return 1.0
    exact = 0.0
    if outcomes.extremes and not any(low < 0 < high for low, high in wanted):
        exact = max(one.p_value for one in outcomes.extremes)
        if exact > ALPHA or all(0.0 in region for region in wanted):
            return exact if exact <= ALPHA else 1.0
    return max(exact, 1 - _largest(lambda level: _inside(outcomes.difference(level), wanted)))


def decide(
    outcomes: Outcomes,
    expected: Expected,
    margin: float,
    value: Value,
    first: str = "the first arm",
) -> Decided:
    """Decide a test, with ``regions``; ``value`` determines which direction is the bad one.

    ``first`` is the name of the first arm in the reasons.
    """
    same, opposite = regions(expected, margin)
    no_room = _no_room(outcomes, expected, margin, value, first)
    p_same = 1.0 if no_room else p_value(outcomes, same)
    p_opposite = p_value(outcomes, opposite)
    if no_room and expected in _REVERSED:
        # Without room to be higher, only "lower" is evidence against "higher". Unknown outcomes
        # may leave room.
        with_room = 0.0 if outcomes.known else p_opposite
        p_opposite = max(with_room, p_value(outcomes, regions(_REVERSED[expected], margin)[0]))
    if p_same <= ALPHA:
        # A rise above 0 and below the margin is in both regions: it is not the contrary of a rise.
        p_opposite = 1.0
    why: list[Why] = []
    if min(p_same, p_opposite) > ALPHA:
        why += [*no_room, *_too_few(outcomes, expected, margin, undecided=not no_room)]
    return Decided(outcomes.printed, outcomes.comparison, p_same, p_opposite, tuple(why))


def _no_room(
    outcomes: Outcomes, expected: Expected, margin: float, value: Value, first: str
) -> tuple[Why, ...]:
    """Return why no outcome of b could show the difference in question; empty if one could.

    For "higher" and "lower" this is the difference that the claim expects; for the others it
    is a change for the worse, because "equal" means nothing if no change could show.
    """
    if expected == "different":
        return ()
    up = expected in ("higher", "not higher")
    if expected == "equal":
        up = value in _BAD_WHERE_HIGH
    end = np.full_like(outcomes.b, float(up))
    same, opposite = regions(expected, margin)
    wanted = same if expected in _REVERSED else opposite
    full = bool(((outcomes.a == float(up)) | np.isnan(outcomes.a)).all())
    if p_value(replace(outcomes, b=end), wanted) <= ALPHA:
        return ()
    from_the_other_end = replace(outcomes, a=np.full_like(outcomes.a, float(not up)), b=end)
    if not full and p_value(from_the_other_end, wanted) > ALPHA:
        return ()
    k, n = int(np.nansum(outcomes.a)), len(outcomes.a)
    direction = "higher" if up else "lower"
    if 2 * (k if up else n - k) < n:
        words = (
            f"{first} is at {k}/{n}, and so few pairs leave no room for a {direction} rate to show"
        )
        return (Why("n", words),)
    words = f"{first} is at {k}/{n} already, too near the end for a {direction} rate to show"
    return (Why("ceiling" if up else "floor", words),)


def _too_few(
    outcomes: Outcomes, expected: Expected, margin: float, *, undecided: bool
) -> Iterator[Why]:
    same, _ = regions(expected, margin)
    a, b = outcomes.a, outcomes.b
    up = expected != "lower"
    best = replace(outcomes, a=np.full_like(a, float(not up)), b=np.full_like(b, float(up)))
    if expected in ("equal", "not higher", "not lower"):
        best = replace(outcomes, a=np.zeros_like(a), b=np.zeros_like(b))
    paired = outcomes.labels_b is None
    count = f"{len(a)} pairs" if paired else f"{len(a)} and {len(b)} episodes"
    if p_value(best, same) > ALPHA:
        yield Why("n", f"{count} are too few, whatever they show")
    elif undecided:
        yield Why("n", f"{count} leave it open")


def _inside(estimate: Estimate, wanted: Regions) -> bool:
    if not isinstance(estimate, Interval):
        return False
    return any(low < estimate.lower and estimate.upper < high for low, high in wanted)


def _largest(holds: Callable[[float], bool]) -> float:
    """Return the largest confidence at which a condition holds; it holds at ``CONFIDENCE``."""
    low, high = CONFIDENCE, _SUREST
    if holds(high):
        return high
    for _ in range(_HALVINGS):
        # Bisected on the log scale of the error, on which p-values differ.
        middle = 1 - math.sqrt((1 - low) * (1 - high))
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low
