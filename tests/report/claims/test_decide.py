"""A test of a claim decides for it or against it with the same evidence, and else says why not."""

import itertools
from typing import get_args

import numpy as np
import pytest

from constraintrot.report.claims.decide import Expected, Outcomes, Value, decide, p_value, regions
from constraintrot.stats.interval import Floats, Interval

MARGIN = 0.1


def paired(both: int, only_a: int, only_b: int, neither: int) -> Outcomes:
    """Independent pairs with these outcomes."""
    counts = [both, only_a, only_b, neither]
    a, b = np.repeat([1.0, 1, 0, 0], counts), np.repeat([1.0, 0, 1, 0], counts)
    return Outcomes(a, b, np.arange(len(a)))


def unpaired(k_a: int, n_a: int, k_b: int, n_b: int) -> Outcomes:
    """Independent episodes of two arms."""
    a, b = (np.r_[np.ones(k), np.zeros(n - k)] for k, n in ((k_a, n_a), (k_b, n_b)))
    return Outcomes(a, b, np.arange(n_a), np.arange(n_b))


def said(outcomes: Outcomes, expected: Expected, value: Value = "violation") -> str:
    """What a test says: same, opposite, or the reasons why it cannot tell."""
    found = decide(outcomes, expected, MARGIN, value)
    if not found.why:
        return "same" if found.p_same <= found.p_opposite else "opposite"
    assert min(found.p_same, found.p_opposite) == 1
    return ", ".join(why.reason for why in found.why)


@pytest.mark.parametrize(
    ("expected", "outcomes", "says"),
    [
        ("higher", paired(0, 0, 10, 10), "same"),
        ("higher", paired(0, 10, 0, 10), "opposite"),
        # A difference is claimed, and there is none: shown by many pairs, not by 20.
        ("higher", paired(100, 2, 2, 100), "opposite"),
        # A small rise is a rise, although it is below the margin.
        ("higher", paired(0, 0, 10, 300), "same"),
        ("higher", paired(4, 2, 24, 500), "same"),
        ("lower", paired(0, 10, 0, 300), "same"),
        ("different", paired(0, 0, 10, 300), "same"),
        ("higher", paired(5, 2, 2, 11), "n"),
        ("higher", paired(0, 0, 4, 0), "n"),
        ("higher", paired(20, 0, 0, 0), "ceiling"),
        ("higher", paired(18, 0, 2, 0), "ceiling"),
        ("higher", paired(3, 0, 0, 0), "ceiling, n"),
        # One of six leaves five that can differ, which is too few, and no end is near.
        ("higher", paired(1, 0, 5, 0), "n"),
        ("lower", paired(0, 5, 0, 1), "n"),
        ("lower", paired(0, 10, 0, 10), "same"),
        ("lower", paired(0, 0, 10, 10), "opposite"),
        ("lower", paired(0, 0, 0, 20), "floor"),
        ("different", paired(0, 10, 0, 10), "same"),
        ("different", paired(0, 0, 10, 10), "same"),
        ("different", paired(100, 2, 2, 100), "opposite"),
        ("different", paired(5, 2, 2, 11), "n"),
        ("equal", paired(100, 2, 2, 100), "same"),
        ("equal", paired(0, 30, 0, 30), "opposite"),
        ("equal", paired(0, 0, 30, 30), "opposite"),
        ("equal", paired(5, 2, 2, 11), "n"),
        # Equal because everything is broken anyway.
        ("equal", paired(100, 0, 0, 0), "ceiling"),
        ("equal", paired(0, 100, 0, 0), "opposite"),
        ("not higher", paired(40, 30, 0, 30), "same"),
        ("not higher", paired(0, 0, 30, 30), "opposite"),
        ("not higher", paired(0, 0, 0, 20), "n"),
        ("not higher", paired(100, 0, 0, 0), "ceiling"),
        ("not lower", paired(40, 0, 30, 30), "same"),
        ("not lower", paired(0, 30, 0, 30), "opposite"),
        ("not lower", paired(0, 0, 0, 100), "floor"),
    ],
)
def test_a_test_can_say_each_of_its_verdicts(
    expected: Expected, outcomes: Outcomes, says: str
) -> None:
    assert said(outcomes, expected) == says


def test_equality_is_vacuous_where_nothing_worse_could_show() -> None:
    never = paired(0, 0, 0, 100)
    assert said(never, "equal", "violation") == "same"
    assert said(never, "equal", "utility") == "floor"


def test_three_pairs_that_agree_show_no_equality() -> None:
    (why,) = decide(paired(1, 0, 0, 2), "not higher", MARGIN, "violation").why
    assert why.words == "3 pairs are too few, whatever they show"


@pytest.mark.parametrize(
    ("expected", "outcomes", "says"),
    [
        ("higher", unpaired(2, 20, 40, 60), "same"),
        ("higher", unpaired(18, 20, 6, 60), "opposite"),
        ("higher", unpaired(4, 4, 59, 59), "ceiling"),
        ("higher", unpaired(4, 10, 30, 60), "n"),
        ("equal", unpaired(20, 400, 20, 400), "same"),
    ],
)
def test_arms_that_are_not_paired(expected: Expected, outcomes: Outcomes, says: str) -> None:
    assert said(outcomes, expected) == says


@pytest.mark.parametrize("expected", get_args(Expected))
@pytest.mark.parametrize("rates", [(0.1, 0.95), (0.95, 0.1), (0.05, 0.05)])
@pytest.mark.parametrize("is_paired", [True, False])
def test_a_p_value_is_of_the_worst_filling_of_replicates(
    expected: Expected, rates: tuple[float, float], is_paired: bool
) -> None:
    """Not of the two extremes alone: replicates that disagree count as fewer."""
    rng = np.random.default_rng(7)
    labels = np.repeat(np.arange(12), 4)
    other = None if is_paired else labels
    a, b = ((rng.random(48) < x).astype(np.float64) for x in rates)
    a[[0, 5]], b[[1, 20, 21]] = np.nan, np.nan
    found = decide(Outcomes(a, b, labels, other), expected, MARGIN, "violation")

    def filled(arm: Floats) -> list[Floats]:
        options = [(0.0, 1.0) if np.isnan(one) else (one,) for one in arm]
        return [np.asarray(one) for one in itertools.product(*options)]

    for first, second in itertools.product(filled(a), filled(b)[::3]):
        one = decide(Outcomes(first, second, labels, other), expected, MARGIN, "violation")
        assert found.p_same >= one.p_same - 1e-12
        assert found.p_opposite >= one.p_opposite - 1e-12


def test_an_episode_of_either_arm_or_none_counts_where_it_weakens_most() -> None:
    """With replicates too; here the first three of each arm may belong to it."""
    rng = np.random.default_rng(3)
    labels = np.repeat(np.arange(6), 3)
    a, b = ((rng.random(18) < x).astype(np.float64) for x in (0.2, 0.9))
    maybe = np.arange(18) < 3
    whole = Outcomes(a, b, labels, labels, unplaced=(maybe, maybe)).printed
    for there in itertools.product((True, False), repeat=6):
        kept_a, kept_b = (~maybe | np.r_[part, [True] * 15] for part in (there[:3], there[3:]))
        one = Outcomes(a[kept_a], b[kept_b], labels[kept_a], labels[kept_b]).printed
        assert isinstance(one, Interval)
        assert isinstance(whole, Interval)
        assert whole.lower <= one.lower
        assert one.upper <= whole.upper


def test_the_p_value_is_of_the_region_and_never_below_the_exact_tests() -> None:
    outcomes = paired(0, 0, 10, 2)
    higher, _ = regions("higher", MARGIN)
    _, beyond = regions("not higher", MARGIN)
    assert outcomes.comparison is not None
    exact = outcomes.comparison.p_value
    assert p_value(outcomes, higher) == exact == pytest.approx(2 / 2**10)
    assert p_value(outcomes, beyond) >= exact
    # Of n pairs without an event, the limit at p is 1 - (p / 2) ** (1 / n).
    within, _ = regions("equal", MARGIN)
    assert p_value(paired(0, 0, 0, 50), within) == pytest.approx(2 * 0.9**50, rel=0.02)
