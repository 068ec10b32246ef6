"""Bounds over what malformed and missing outcomes could have been."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from constraintrot.errors import ParameterError
from constraintrot.stats.bounds import bounds, difference_bounds
from constraintrot.stats.interval import Estimate, Interval, NoInterval, around
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
    assert found.all == rate(np.tile([1, 0, 1], 6), labels)
    assert found.none == rate(np.tile([1, 0, 0], 6), labels)


@given(st.lists(st.tuples(outcome, outcome), min_size=1, max_size=30))
def test_every_difference_lies_within(rows: list[tuple[float, float]]) -> None:
    a, b = (np.asarray(column) for column in zip(*rows, strict=True))
    found = difference_bounds(a, b)
    rng = np.random.default_rng(1)
    filled = [np.where(np.isnan(x), rng.integers(0, 2, len(x)), x) for x in (a, b)]
    assert found.lower <= (filled[1] - filled[0]).mean() <= found.upper
    assert found.unknown == int((np.isnan(a) | np.isnan(b)).sum())


def test_a_direction_that_silence_cannot_turn_round() -> None:
    nan = float("nan")
    assert difference_bounds([1, 1, 1, nan], [0, 0, 0, 0]).upper < 0
    assert difference_bounds([1, nan, nan, nan], [0, 0, 0, 0]).lower < 0
    either = difference_bounds([0, nan], [nan, 0])
    assert either.lower < 0 < either.upper


def test_arms_of_unequal_length() -> None:
    with pytest.raises(ParameterError, match="same episodes"):
        difference_bounds([1], [1, 0])
    with pytest.raises(ParameterError, match="at least one"):
        difference_bounds([], [])


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
