"""Bounds over what malformed and missing outcomes could have been."""

import itertools
import json
import math
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from constraintrot.stats.bounds import Range, bounds, compare_unknown, pair_upper
from constraintrot.stats.interval import Estimate, Floats, Interval, NoInterval, around
from constraintrot.stats.newcombe import count_pairs, pair_limits
from constraintrot.stats.paired import compare
from constraintrot.stats.rate import clopper_pearson, rate

outcome = st.sampled_from([0.0, 1.0, float("nan")])


@given(st.lists(outcome, min_size=1, max_size=40))
def test_every_filling_lies_within(values: list[float]) -> None:
    found = bounds(values)
    rng = np.random.default_rng(0)
    filled = np.asarray(values)
    unknown = np.isnan(filled)
    filled[unknown] = rng.integers(0, 2, unknown.sum())
    assert found.none.estimate <= filled.mean() <= found.all.estimate
    assert found.all.estimate - found.none.estimate == pytest.approx(unknown.mean())


def test_all_known_is_a_rate() -> None:
    found = bounds([1, 0, 0, 1])
    assert found.none == found.all == clopper_pearson(2, 4)


def test_the_bounds_are_rates_of_whole_clusters() -> None:
    labels = np.repeat(range(6), 3)
    found = bounds(np.tile([1, 0, np.nan], 6), labels)
    most, least = (rate(np.tile([1, 0, fill], 6), labels) for fill in (1, 0))
    assert isinstance(found.all, Interval)
    assert isinstance(most, Interval)
    assert (found.all.estimate, found.all.lower) == (most.estimate, most.lower)
    assert found.all.upper >= most.upper
    assert found.none.estimate == least.estimate


@st.composite
def replicated(draw: st.DrawFn) -> tuple[Floats, Floats, Floats]:
    """Outcomes of two arms of which some are unknown, and their clusters of several sizes."""
    sizes = draw(st.lists(st.integers(1, 5), min_size=2, max_size=24))
    labels = np.repeat(np.arange(len(sizes)), sizes)
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    arms: list[Floats] = []
    for _ in range(2):
        shape = draw(
            st.sampled_from([(0.05, 0.3), (0.3, 0.3), (0.05, 2.0), (3.0, 0.3), (1.0, 1.0)])
        )
        chances = rng.beta(*shape, len(sizes))
        outcomes = (rng.random(len(labels)) < chances[labels]).astype(np.float64)
        hidden = rng.permutation(len(labels))[: draw(st.integers(0, 6))]
        outcomes[hidden] = np.nan
        arms.append(outcomes)
    return arms[0], arms[1], labels.astype(np.float64)


def fillings(values: Floats, labels: Floats, rng: np.random.Generator) -> Iterator[Floats]:
    """Some values that the unknown outcomes could have: at random, and alike within a cluster."""
    hidden = np.isnan(values)
    for share in (0.1, 0.5, 0.9):
        for drawn in (
            rng.random(len(values)),
            rng.random(int(labels.max()) + 1)[labels.astype(int)],
        ):
            yield np.where(hidden, (drawn < share).astype(np.float64), values)


@settings(max_examples=40, deadline=None)
@given(replicated(), st.integers(0, 2**32))
def test_no_filling_of_the_unknown_gives_a_weaker_limit(
    given_: tuple[Floats, Floats, Floats], seed: int
) -> None:
    """Not the fillings between, either: the effective number of episodes depends on them."""
    a, b, labels = given_
    rng = np.random.default_rng(seed)
    found = bounds(b, labels)
    unknown = np.isnan(a), np.isnan(b)
    compared = compare_unknown(np.nan_to_num(a), np.nan_to_num(b), labels, unknown=unknown)
    lowest, highest = compared.extremes or (compared, compared)
    for first, second in zip(fillings(a, labels, rng), fillings(b, labels, rng), strict=True):
        filled = rate(second, labels)
        for one, weakest in (
            (filled, found.all),
            (compare(first, second, labels).difference, highest.difference),
        ):
            if isinstance(weakest, Interval):
                assert isinstance(one, Interval)
                assert one.upper <= weakest.upper + 1e-12
        for one, weakest in (
            (filled, found.none),
            (compare(first, second, labels).difference, lowest.difference),
        ):
            if isinstance(weakest, Interval):
                assert isinstance(one, Interval)
                assert one.lower >= weakest.lower - 1e-12


def test_the_worst_case_is_not_the_one_with_most_violations() -> None:
    """Two variants of 72 with two silent episodes of ten: with one of the four violated it is weaker."""
    values, labels = np.zeros(720), np.repeat(np.arange(72), 10)
    values[[0, 1, 10, 11]] = np.nan
    one = rate(np.where(np.arange(720) == 0, 1, np.nan_to_num(values)), labels)
    both = rate(np.where(np.arange(720) < 2, 1, np.nan_to_num(values)), labels)
    (seen, most), found = (
        (rate(np.nan_to_num(values, nan=x), labels) for x in (0, 1)),
        bounds(values, labels),
    )
    limits = [round(getattr(each, "upper", 1), 4) for each in (seen, most, one, both, found.all)]
    assert limits[:4] == [0.0499, 0.0477, 0.0527, 0.0554]
    assert limits[4] >= max(limits)


@pytest.mark.parametrize("seed", range(12))
def test_the_limit_of_pairs_is_the_highest_of_all_fillings(seed: int) -> None:
    """One more violation of b can make the arms agree, and the upper limit lower."""
    rng = np.random.default_rng(seed)
    a = (rng.random(12) < 0.5).astype(np.float64)
    b = a.copy() if seed % 2 else (rng.random(12) < 0.3).astype(np.float64)
    open_a, open_b = (rng.permutation(12)[: seed % 5] for _ in range(2))
    filled = [
        [np.asarray(one) for one in itertools.product(*options)]
        for options in (
            [(0.0, 1.0) if at in unknown else (x,) for at, x in enumerate(arm)]
            for arm, unknown in ((a, open_a), (b, open_b))
        )
    ]
    pairs = np.asarray([np.stack(each) for each in itertools.product(*filled)])
    lows, highs = pairs.min(0), pairs.max(0)
    for confidence in (0.95, 0.9999):
        limits = pair_limits(count_pairs(pairs[:, 0], pairs[:, 1]), confidence)[1]
        found = pair_upper(Range(lows[0], highs[0]), Range(lows[1], highs[1]), confidence)
        assert found == pytest.approx(limits.max(), abs=1e-12)


@given(st.lists(st.tuples(outcome, outcome), min_size=1, max_size=30))
def test_every_difference_lies_within(rows: list[tuple[float, float]]) -> None:
    a, b = (np.asarray(column) for column in zip(*rows, strict=True))
    unknown = np.isnan(a), np.isnan(b)
    found = compare_unknown(np.nan_to_num(a), np.nan_to_num(b), unknown=unknown)
    rng = np.random.default_rng(1)
    filled = [np.where(np.isnan(x), rng.integers(0, 2, len(x)), x) for x in (a, b)]
    lowest, highest = found.extremes or (found, found)
    between = (filled[1] - filled[0]).mean()
    assert lowest.difference.estimate <= between <= highest.difference.estimate
    assert bool(found.extremes) == bool(np.any(unknown))


def test_a_direction_that_silence_cannot_turn_round() -> None:
    obeys = compare_unknown([1] * 12, [0] * 12, unknown=([False] * 12, [True] + [False] * 11))
    assert obeys.verdict == "b is lower"
    mute = compare_unknown([1] * 12, [0] * 12, unknown=([False] * 12, [True] * 12))
    assert (mute.p_value < 0.01, mute.verdict) == (True, "not distinguishable at this n")
    # Both extreme fillings show a difference, and a filling between them shows none.
    half = compare_unknown([1, 0] * 20, [0] * 40, unknown=([False] * 40, [True] * 40))
    assert [one.p_value < 0.01 for one in half.extremes] == [True, True]
    assert half.weakest == 1


# Intervals hold their estimate and have a width, or are none with a reason.


def test_the_fields_of_the_summary() -> None:
    found = Interval(0.5, 0.2, 0.8, 3, 6, "Wilson")
    assert json.loads(json.dumps(found.summary())) == {
        "estimate": 0.5,
        "lower": 0.2,
        "upper": 0.8,
        "k": 3,
        "n": 6,
        "method": "Wilson",
    }
    assert found.reason is None
    assert str(found) == "3/6 = 50 % [20, 80]"


def test_none_is_null_with_a_reason() -> None:
    found: Estimate = NoInterval("too few clusters", 2, 3, 2 / 3)
    assert found.summary() is None
    assert not found
    assert (str(found), found.reason) == ("2/3, too few clusters", "too few clusters")
    assert math.isnan(NoInterval("no episodes").estimate)


@pytest.mark.parametrize(
    ("estimate", "lower", "upper"),
    [(0.0, 0.0, 0.0), (0.5, 0.6, 0.8), (0.9, 0.6, 0.8), (math.nan, 0.0, 1.0), (0.5, math.nan, 1.0)],
)
def test_what_is_no_interval(estimate: float, lower: float, upper: float) -> None:
    with pytest.raises(ValueError, match="is no interval"):
        Interval(estimate, lower, upper, None, 9, "a method")


def test_limits_are_made_to_hold_the_estimate() -> None:
    found = around(1.0, 0.6, 1 - 1e-16, 9, 9, "a method")
    assert found.upper == 1
    assert found.excludes(0.5)
    assert not found.excludes(0.6)
