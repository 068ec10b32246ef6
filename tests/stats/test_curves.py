"""Budget curves, Kaplan-Meier, success at k."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from constraintrot.stats.curves import at_k, rounds_to_loss, trend
from constraintrot.stats.interval import NoInterval
from constraintrot.stats.rate import clopper_pearson
from tests.helpers import known

# Weeks of remission under 6-MP, Gehan (1965); limits in Collett, Modelling Survival Data.
WEEKS = [6, 6, 6, 6, 7, 9, 10, 10, 11, 13, 16, 17, 19, 20, 22, 23, 25, 32, 32, 34, 35]
RELAPSED = [1, 1, 1, 0, 1, 0, 1, 0, 0, 1, 1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0]
REMISSION = [
    (6, 0.857, 0.620, 0.952),
    (7, 0.807, 0.563, 0.923),
    (10, 0.753, 0.503, 0.889),
    (13, 0.690, 0.432, 0.849),
    (16, 0.627, 0.368, 0.805),
    (22, 0.538, 0.268, 0.747),
    (23, 0.448, 0.188, 0.680),
]
observed = st.lists(st.tuples(st.integers(1, 6), st.integers(0, 1)), min_size=1, max_size=30)


def test_published_remission() -> None:
    found = rounds_to_loss(WEEKS, RELAPSED)
    for step, (week, share, lower, upper) in zip(found.steps, REMISSION, strict=False):
        kept = known(step.kept)
        assert step.time == week
        assert kept.estimate == pytest.approx(share, abs=6e-4)
        # The published limits are log-log, which cover too little for few episodes.
        assert upper < kept.upper < upper + 0.06
        assert kept.lower == pytest.approx(lower, abs=0.03)
    assert found.median == 23
    assert (found.n, found.censored) == (21, 12)
    # The last step says how far anyone was seen.
    assert found.steps[-1].time == 35
    assert found.steps[-1].lost == 0


@given(observed)
def test_kaplan_and_meier_as_scipy_has_them(rows: list[tuple[int, int]]) -> None:
    time, lost = (np.asarray(column) for column in zip(*rows, strict=True))
    found = rounds_to_loss(time, lost)
    data = stats.CensoredData.right_censored(time, lost == 0)
    theirs = stats.ecdf(data).sf
    for step in found.steps:
        kept = known(step.kept)
        wanted = float(theirs.evaluate(np.asarray([step.time]))[0])
        assert kept.estimate == pytest.approx(wanted, abs=1e-12)
        assert 0 <= kept.lower < kept.upper <= 1
    shares = [step.kept.estimate for step in found.steps]
    assert shares == sorted(shares, reverse=True)


@given(observed)
def test_without_censoring_it_is_a_rate(rows: list[tuple[int, int]]) -> None:
    time = np.asarray([row[0] for row in rows])
    for step in rounds_to_loss(time, np.ones(len(time))).steps:
        assert step.kept.estimate == pytest.approx((time > step.time).mean())
        if left := int((time > step.time).sum()):
            kept, exact = known(step.kept), known(clopper_pearson(left, len(time)))
            assert (kept.lower, kept.upper) == pytest.approx((exact.lower, exact.upper))


def test_nothing_lost_and_all_lost_have_a_width() -> None:
    (step,) = rounds_to_loss([3, 3, 3, 3], [0, 0, 0, 0]).steps
    assert known(step.kept).estimate == 1
    assert known(step.kept).lower < 0.5
    lost = rounds_to_loss([1, 1, 2, 2], [1, 1, 1, 1])
    last = known(lost.steps[-1].kept)
    assert last.estimate == 0
    assert last.upper > 0.3
    assert lost.median == 1
    assert rounds_to_loss([3, 3], [0, 0]).median is None


def test_copies_of_an_episode_tell_no_more() -> None:
    time, lost = [1, 2, 2, 3, 3, 3], [1, 1, 0, 1, 0, 0]
    fourfold = rounds_to_loss(*(np.repeat(one, 4) for one in (time, lost, range(6))))
    once, copies = (known(one.steps[1].kept) for one in (rounds_to_loss(time, lost), fourfold))
    assert (copies.lower, copies.upper) == pytest.approx((once.lower, once.upper))


def test_one_cluster_has_no_interval() -> None:
    (step,) = rounds_to_loss([2, 2], [1, 1], ["a", "a"]).steps
    assert step.kept == NoInterval("too few clusters", None, 2, 0.0)
    assert at_k([1], [3], 1) == NoInterval("too few clusters", None, 3, 1 / 3)


def test_a_budget_curve() -> None:
    found = trend(np.repeat([[1], [1], [0]], 20, axis=1), range(20))
    assert found.slope_sign == -1
    assert found.p_value == pytest.approx(2 / 2**20)


def test_a_flat_curve() -> None:
    found = trend(np.ones((2, 8)), range(8))
    assert (found.slope_sign, found.p_value) == (0, 1.0)


def test_variants_that_always_violate_are_no_trend() -> None:
    # Within each variant nothing changes with the budget.
    found = trend([[1] * 4 + [0] * 4] * 2, range(8))
    assert found.p_value == 1


def test_replicates_of_a_variant_are_one_observation() -> None:
    found = trend(np.repeat([[1], [0]], 12, axis=1), np.repeat(range(4), 3))
    assert found.p_value == pytest.approx(2 / 2**4)


def test_episodes_without_every_dose_are_no_trend() -> None:
    played = np.where(np.arange(30) < 6, 1.0, math.nan)
    found = trend([played, np.ones(30)], range(30))
    assert (found.slope_sign, found.p_value) == (0, 1.0)
    assert found.n == 6
    nothing = trend([[1, math.nan], [math.nan, 1]], range(2))
    assert (nothing.n, nothing.slope_sign, nothing.p_value) == (0, 0, None)


def test_without_a_trend_five_per_cent_are_found_where_doses_have_other_variants() -> None:
    draws = np.random.default_rng(0)
    found = 0
    for _ in range(400):
        outcomes = draws.integers(0, 2, (2, 30)).astype(float)
        outcomes[0, 8:] = math.nan
        found += (trend(outcomes, range(30)).p_value or 0) <= 0.05
    assert found / 400 <= 0.05


@pytest.mark.parametrize(("hits", "tries", "k"), [(2, 5, 1), (2, 5, 3), (0, 4, 2), (3, 6, 6)])
def test_success_at_k_by_drawing_all(hits: int, tries: int, k: int) -> None:
    drawn = itertools.combinations([1] * hits + [0] * (tries - hits), k)
    expected = np.mean([max(one) for one in drawn])
    assert at_k([hits] * 3, [tries] * 3, k).estimate == pytest.approx(expected)


@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=2, max_size=20),
    st.integers(1, 5),
)
def test_success_at_k_is_sound(rows: list[tuple[int, int]], k: int) -> None:
    hits, tries = [row[0] for row in rows], [row[0] + row[1] + k for row in rows]
    found, more = known(at_k(hits, tries, k)), at_k(hits, [t + 1 for t in tries], k + 1)
    assert 0 <= found.lower <= found.estimate <= found.upper <= 1
    assert found.lower < found.upper
    if k > 1:
        assert found.estimate >= at_k(hits, tries, k - 1).estimate - 1e-12
    assert more.n == found.n + len(rows)


def test_success_at_one_is_the_mean_rate_and_many_attempts_do_not_overflow() -> None:
    assert at_k([1, 2, 0], [4, 4, 2], 1).estimate == pytest.approx((0.25 + 0.5 + 0) / 3)
    assert at_k([1, 500], [2000, 1000], 400).estimate == pytest.approx((0.2 + 1) / 2, abs=1e-6)
