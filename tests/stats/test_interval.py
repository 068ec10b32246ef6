"""Intervals hold their estimate and have a width, or are none with a reason."""

from __future__ import annotations

import json
import math

import pytest

from constraintrot.stats.interval import Estimate, Interval, NoInterval, around


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
