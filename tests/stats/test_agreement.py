"""Kappa against statsmodels, alpha against the published example, and what has no value."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from constraintrot.errors import ParameterError
from constraintrot.stats.agreement import (
    TOO_ALIKE,
    TOO_FEW,
    UNDEFINED,
    cohen_kappa,
    krippendorff_alpha,
)
from constraintrot.stats.interval import Interval, NoInterval

N = None
# Krippendorff, Computing Krippendorff's Alpha-Reliability (2011), section C: nominal alpha .743.
PUBLISHED = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, N, N, N],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, N, 3],
    [N, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, N],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, N],
]
ratings = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=2, max_size=40)


def test_published_alpha() -> None:
    found = krippendorff_alpha(PUBLISHED)
    assert found.estimate == pytest.approx(0.743, abs=5e-4)
    assert found.n == 11
    # The bootstrap covers too little of so few units.
    assert isinstance(found, NoInterval)
    assert found.reason == TOO_FEW
    many = krippendorff_alpha([rater * 5 for rater in PUBLISHED])
    assert isinstance(many, Interval)
    assert many.lower < 0.743 < many.upper


def test_two_raters_by_hand() -> None:
    # Krippendorff (2011), section A: 10 units, two categories, alpha .095.
    first = [0, 1, 0, 0, 0, 0, 0, 0, 1, 0]
    second = [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]
    assert krippendorff_alpha([first, second]).estimate == pytest.approx(0.095, abs=5e-4)


@settings(deadline=None)
@given(ratings)
def test_kappa_is_that_of_statsmodels(rows: list[tuple[int, int]]) -> None:
    table = np.zeros((3, 3))
    for one, other in rows:
        table[one, other] += 1
    found = cohen_kappa(*zip(*rows, strict=True), resamples=50)
    if np.isnan(found.estimate):
        assert found == NoInterval(UNDEFINED, None, len(rows))
        return
    raters: Any = import_module("statsmodels.stats.inter_rater")
    theirs: float = raters.cohens_kappa(table, return_results=False)
    assert found.estimate == pytest.approx(theirs, abs=1e-9)
    if isinstance(found, Interval):
        assert found.lower < found.upper <= 1


@settings(deadline=None)
@given(ratings)
def test_raters_can_change_places(rows: list[tuple[int, int]]) -> None:
    first, second = zip(*rows, strict=True)
    for one, other in (
        (cohen_kappa(first, second, resamples=20), cohen_kappa(second, first, resamples=20)),
        (
            krippendorff_alpha([first, second], resamples=20),
            krippendorff_alpha([second, first], resamples=20),
        ),
    ):
        assert one.estimate == pytest.approx(other.estimate, nan_ok=True)


def test_perfect_agreement_is_not_certainty() -> None:
    ratings = ["kept", "dropped"] * 90
    found = cohen_kappa(ratings, ratings)
    assert isinstance(found, Interval)
    assert found.estimate == found.upper == 1
    assert 0.9 < found.lower < 0.99
    clustered = cohen_kappa(ratings, ratings, np.repeat(range(60), 3))
    assert isinstance(clustered, Interval)
    assert clustered.lower < found.lower


@pytest.mark.parametrize(("units", "each"), [(49, 1), (147, 3)])
def test_fewer_than_fifty_clusters_give_a_value_without_an_interval(units: int, each: int) -> None:
    first, labels = [at % 2 for at in range(units)], [at // each for at in range(units)]
    second = [1 - one if at % 5 == 0 else one for at, one in enumerate(first)]
    found = cohen_kappa(first, second, labels)
    assert isinstance(found, NoInterval)
    assert found.reason == TOO_FEW
    assert found.estimate == pytest.approx(0.6, abs=0.03)


def test_one_category_has_no_agreement_beyond_chance() -> None:
    assert cohen_kappa([1] * 9, [1] * 9) == NoInterval(UNDEFINED, None, 9)
    assert krippendorff_alpha([[1] * 9, [1] * 9]).summary() is None


def test_a_single_dissent_among_the_alike() -> None:
    found = cohen_kappa([1] * 90, [1] * 89 + [0])
    assert found == NoInterval(TOO_ALIKE, None, 90, 0.0)


def test_missing_ratings_are_left_out() -> None:
    assert cohen_kappa([1, 0, 1, N], [1, 0, 0, 1], resamples=9).n == 3
    assert cohen_kappa([1, 0, 1, float("nan")], [1, 0, 0, 1], resamples=9).n == 3
    assert krippendorff_alpha([[N, 1], [1, N]]) == NoInterval("no unit was rated twice")


def test_raters_of_unequal_length() -> None:
    with pytest.raises(ParameterError, match="differ in length"):
        krippendorff_alpha([[1, 2], [1]])


def test_a_seed_is_a_result() -> None:
    assert krippendorff_alpha(PUBLISHED, seed=4) == krippendorff_alpha(PUBLISHED, seed=4)
