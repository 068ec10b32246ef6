"""Kappa against statsmodels, alpha against the published example, and what has no value."""

from importlib import import_module
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from constraintrot.stats.agreement import (
    UNDEFINED,
    cohen_kappa,
    krippendorff_alpha,
)
from constraintrot.stats.interval import TOO_FEW, Interval, NoInterval
from results.tools.clustered_outcomes import Cell
from results.tools.coverage import agreement_rows
from tests.helpers import known

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
    found = known(krippendorff_alpha(PUBLISHED))
    assert found.estimate == pytest.approx(0.743, abs=5e-4)
    assert found.n == 11
    assert found.lower < 0.743 < found.upper
    many = known(krippendorff_alpha([rater * 5 for rater in PUBLISHED]))
    assert many.upper - many.lower < (found.upper - found.lower) / 1.5


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
    found = cohen_kappa(*zip(*rows, strict=True))
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
        (cohen_kappa(first, second), cohen_kappa(second, first)),
        (
            krippendorff_alpha([first, second]),
            krippendorff_alpha([second, first]),
        ),
    ):
        assert one.estimate == pytest.approx(other.estimate, nan_ok=True)


def test_perfect_agreement_is_not_certainty() -> None:
    ratings = ["kept", "dropped"] * 90
    found = known(cohen_kappa(ratings, ratings))
    assert found.estimate == found.upper == 1
    assert 0.9 < found.lower < 0.99
    clustered = known(cohen_kappa(ratings, ratings, np.repeat(range(60), 3)))
    assert clustered.lower < found.lower


def test_clusters_widen_an_interval() -> None:
    first = [at % 2 for at in range(150)]
    # All of one cluster in five is seen differently.
    second = [1 - one if at // 3 % 5 == 0 else one for at, one in enumerate(first)]
    alone = known(cohen_kappa(first, second))
    together = known(cohen_kappa(first, second, [at // 3 for at in range(150)]))
    assert alone.estimate == together.estimate == pytest.approx(0.6, abs=0.01)
    assert together.upper - together.lower > 1.3 * (alone.upper - alone.lower)


def test_one_cluster_gives_a_value_without_an_interval() -> None:
    found = cohen_kappa([1, 0, 1, 0], [1, 0, 1, 1], ["same"] * 4)
    assert isinstance(found, NoInterval)
    assert found.reason == TOO_FEW
    assert found.estimate == pytest.approx(0.5)


@pytest.mark.parametrize("size", ["1", "3", "20 x 3, 3 x 30"])
@pytest.mark.parametrize(("ones", "apart"), [(0.5, 0.02), (0.05, 0.05)])
def test_limits_cover_the_true_agreement(size: str, ones: float, apart: float) -> None:
    cell = Cell((ones, apart), 23 if "x" in size else 30, size, 0.0 if size == "1" else 0.7)
    rows = agreement_rows(cell, 400, 0, (5,))
    assert {row.statistic for row in rows} == {"kappa", "alpha"}
    for row in rows:
        assert row.coverage is not None
        assert row.coverage > 0.93
        # Where ones are rare, hardly anything about chance is known.
        assert row.width is not None
        assert 0 < row.width < (1.2 if ones == 0.5 else 2)


def test_one_category_has_no_agreement_beyond_chance() -> None:
    assert cohen_kappa([1] * 9, [1] * 9) == NoInterval(UNDEFINED, None, 9)
    assert krippendorff_alpha([[1] * 9, [1] * 9]).summary() is None


def test_a_single_dissent_among_the_alike() -> None:
    found = known(cohen_kappa([1] * 90, [1] * 89 + [0]))
    assert found.estimate == pytest.approx(0, abs=1e-9)
    # Chance alone could have made as little dissent, so nothing below is excluded.
    assert found.lower == -1


def test_missing_ratings_are_left_out() -> None:
    assert cohen_kappa([1, 0, 1, N], [1, 0, 0, 1]).n == 3
    assert cohen_kappa([1, 0, 1, float("nan")], [1, 0, 0, 1]).n == 3
    assert krippendorff_alpha([[N, 1], [1, N]]) == NoInterval("no unit was rated twice")
