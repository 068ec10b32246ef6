import math

import pytest

from results.tools.rule_judge.generator import Example
from results.tools.rule_judge.measures import (
    auc_by_kind,
    auc_of,
    brier,
    reliability,
    right,
    threshold,
)


def example(breaks: bool, kind: str = "a") -> Example:
    return Example(0, kind, "en", "rule", "request", breaks, "own", {})


def scored(breaking: list[float], keeping: list[float]) -> list[tuple[Example, float]]:
    return [(example(True), score) for score in breaking] + [
        (example(False), score) for score in keeping
    ]


@pytest.mark.parametrize(
    ("breaking", "keeping", "expected"),
    [([1, 2], [-1, 0], 1), ([-1, 0], [1, 2], 0), ([1], [1], 0.5), ([1, 3], [0, 2], 0.75)],
)
def test_auc(breaking: list[float], keeping: list[float], expected: float) -> None:
    assert auc_of(scored(breaking, keeping)) == expected


def test_auc_of_one_side_is_not_a_number() -> None:
    assert math.isnan(auc_of(scored([1], [])))


def test_auc_by_kind_does_not_compare_kinds() -> None:
    mixed = [
        (example(True, "low"), -5.0),
        (example(False, "low"), -6.0),
        (example(True, "high"), 6.0),
        (example(False, "high"), 5.0),
    ]
    assert auc_by_kind(mixed) == {"all": 0.75, "high": 1, "low": 1}


def test_brier() -> None:
    assert brier(scored([0], [0])) == 0.25
    assert brier(scored([50], [-50])) == pytest.approx(0)
    assert brier(scored([-50], [50])) == pytest.approx(1)


def test_reliability_compares_probability_and_share() -> None:
    bars = reliability(scored([50, 50, 0], [50, 0]), bins=2)
    (bar,) = bars
    assert (bar.count, bar.share) == (5, 0.6)
    assert bar.probability == pytest.approx(0.8)
    low, high = reliability(scored([3], [-3, -3]), bins=2)
    assert (low.count, low.share, high.count, high.share) == (2, 0, 1, 1)


def test_the_threshold_is_in_the_middle_of_the_widest_best_gap() -> None:
    assert threshold(scored([4, 5], [-2, 0])) == 2
    assert threshold(scored([4, 5, -9], [-2, 0])) == 2


def test_the_threshold_does_not_move_with_the_mix() -> None:
    few, many = scored([4, 1], [0, 2]), scored([4, 1], [0, 2] * 50)
    assert threshold(few) == threshold(many)


def test_a_threshold_needs_both_sides() -> None:
    with pytest.raises(ValueError, match="forbidden and allowed"):
        threshold(scored([1, 2], []))


def test_right_counts_both_sides() -> None:
    assert right(scored([1, 3], [0, 2]), 1.5) == (0.5, 0.5)
    assert right(scored([2], [2]), 2) == (0, 1)
