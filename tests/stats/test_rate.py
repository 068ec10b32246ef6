"""Rates: published intervals, scipy's, edges, clusters, and the choice of the method."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from constraintrot.evaluation.metrics import limits
from constraintrot.stats import clusters
from constraintrot.stats.exact import p_digits
from constraintrot.stats.interval import Interval, NoInterval
from constraintrot.stats.rate import BCA, clopper_pearson, rate, shown
from results.tools.clustered_outcomes import wilson
from tests.helpers import known

# Newcombe, Statistics in Medicine 17 (1998) 857-872, table I.
PUBLISHED = [
    (81, 263, (0.2553, 0.3662), (0.2527, 0.3676)),
    (15, 148, (0.0624, 0.1605), (0.0578, 0.1617)),
    (0, 20, (0.0, 0.1611), (0.0, 0.1684)),
    (1, 29, (0.0061, 0.1718), (0.0009, 0.1776)),
]


@pytest.mark.parametrize(("k", "n", "by_wilson", "exact"), PUBLISHED)
def test_published_limits(
    k: int, n: int, by_wilson: tuple[float, float], exact: tuple[float, float]
) -> None:
    found = known(clopper_pearson(k, n))
    assert (found.lower, found.upper) == pytest.approx(exact, abs=5e-5)
    assert (found.k, found.n) == (k, n)
    limits = wilson(np.asarray(float(k)), np.asarray(float(n)))
    assert limits == pytest.approx(by_wilson, abs=5e-5)


@given(st.integers(1, 400), st.data())
def test_scipy_and_a_width(n: int, data: st.DataObject) -> None:
    k = data.draw(st.integers(0, n))
    found = known(clopper_pearson(k, n))
    theirs = stats.binomtest(k, n).proportion_ci(0.95, "exact")
    assert (found.lower, found.upper) == pytest.approx((theirs.low, theirs.high), abs=1e-9)
    assert 0 <= found.lower <= k / n <= found.upper <= 1
    assert found.upper - found.lower > 0
    assert (found.lower == 0) == (k == 0)


@given(st.integers(1, 200), st.data())
def test_yes_and_no_mirror_each_other(n: int, data: st.DataObject) -> None:
    k = data.draw(st.integers(0, n))
    one, other = known(clopper_pearson(k, n)), known(clopper_pearson(n - k, n))
    assert one.lower == pytest.approx(1 - other.upper, abs=1e-9)


def test_nothing_is_no_rate() -> None:
    assert clopper_pearson(0, 0) == NoInterval("no episodes")
    assert rate([], []) == NoInterval("no episodes")
    assert clopper_pearson(0, 0).summary() is None


@pytest.mark.parametrize("n", [5, 27, 99, 100, 204])
def test_one_interval_whether_labelled_or_not_and_whatever_n(n: int) -> None:
    outcomes = np.arange(n) % 3 == 0
    exact = clopper_pearson(int(outcomes.sum()), n)
    assert rate(outcomes) == rate(outcomes, range(n)) == exact


@pytest.mark.parametrize("n", [5, 6, 27, 100, 204])
@pytest.mark.parametrize("true", [0.02, 0.3, 0.5, 0.97, 0.99])
def test_it_covers_exactly_where_wilsons_does_not(n: int, true: float) -> None:
    chances = np.asarray(stats.binom.pmf(range(n + 1), n, true))
    found = [rate(np.arange(n) < k) for k in range(n + 1)]
    inside = [isinstance(one, Interval) and not one.excludes(true) for one in found]
    assert chances[inside].sum() >= 0.95


@pytest.mark.parametrize(
    ("sizes", "large_agree"),
    [([1] * 27 + [40] * 3, 3), ([3] * 20 + [30] * 3, 3), ([1] * 100 + [20] * 5, 5)],
)
def test_a_few_large_clusters_are_not_vouched_for_by_small_ones(
    sizes: list[int], large_agree: int
) -> None:
    """The large ones agree by chance; the small ones, of which half differ, say nothing of them."""
    size = np.asarray(sizes, np.float64)
    hits = np.where(np.arange(len(size)) % 2 == 0, size, 0.0)
    hits[-large_agree:] = size[-large_agree:]
    effective = clusters.effective_n(hits, size)
    assert effective <= 1.1 * clusters.kish(size)


@pytest.mark.parametrize("replicates", [1, 2, 5])
@pytest.mark.parametrize(("k", "n"), [(0, 9), (4, 9), (8, 9), (2, 30)])
def test_replicates_that_agree_change_nothing(k: int, n: int, replicates: int) -> None:
    """Inspect's log tells means over replicates only, and shows the same limits."""
    outcomes = np.repeat(np.arange(n) < k, replicates)
    found, exact = (
        known(rate(outcomes, np.repeat(range(n), replicates))),
        known(clopper_pearson(k, n)),
    )
    assert (found.lower, found.upper) == pytest.approx((exact.lower, exact.upper))
    assert limits([1.0] * k + [0.0] * (n - k)) == pytest.approx((exact.lower, exact.upper))


def test_replicates_make_it_wider() -> None:
    outcomes = np.repeat([1, 0, 0, 1, 0, 1, 0, 1, 1], 5)
    alike, apart = known(rate(outcomes, np.repeat(range(9), 5))), known(rate(outcomes))
    assert alike.estimate == apart.estimate
    assert alike.lower < apart.lower
    assert alike.upper > apart.upper
    assert "9 clusters" in alike.method


def test_copies_add_nothing() -> None:
    once = known(clopper_pearson(4, 9))
    found = known(rate(np.repeat([1, 0, 0, 1, 0, 1, 0, 1, 0], 7), np.repeat(range(9), 7)))
    assert found.lower == pytest.approx(once.lower, abs=0.05)
    assert found.lower <= once.lower
    assert found.upper >= once.upper


@pytest.mark.parametrize("value", [0, 1])
def test_a_cell_of_one_outcome_counts_its_clusters(value: int) -> None:
    found = known(rate(np.full(27, value), np.repeat(range(9), 3)))
    exact = known(clopper_pearson(9 * value, 9))
    assert (found.lower, found.upper) == pytest.approx((exact.lower, exact.upper))
    assert (found.k, found.n) == (27 * value, 27)


def test_many_clusters_get_the_bootstrap_and_the_seed_tells() -> None:
    rng = np.random.default_rng(1)
    outcomes, labels = rng.random(300) < 0.4, np.sort(rng.integers(0, 60, 300))
    found = known(rate(outcomes, labels, seed=1))
    assert found.method == BCA
    assert found == rate(outcomes, labels, seed=1)
    assert found != rate(outcomes, labels, seed=2)


def test_many_clusters_of_one_outcome_do_not() -> None:
    outcomes = np.zeros(300)
    outcomes[:3] = 1
    found = known(rate(outcomes, np.repeat(range(60), 5)))
    assert "the clusters differ too little" in found.method


@pytest.mark.parametrize("replicates", [(0, 1), (0, 1, 1), (0, 0, 0, 1, 1)])
def test_many_clusters_that_are_alike_are_not_certainty(replicates: tuple[int, ...]) -> None:
    found = known(rate(replicates * 60, np.repeat(range(60), len(replicates))))
    assert "the clusters differ too little" in found.method
    assert found.lower < found.estimate < found.upper


@pytest.mark.parametrize(
    "labels",
    [
        np.array([2**63 + 5, 2**63 + 5, 1, 2**64 - 1], np.uint64),
        np.array([2**63 + 5, 2**63 + 5, 2**63, 0], np.uint64),
        np.array([-(2**63), -(2**63), 2**63 - 1, 0], np.int64),
        np.array([-1, -1, 3, 0], np.int8),
        np.array([255, 255, 3, 0], np.uint8),
    ],
)
def test_labels_may_be_integers_of_any_size(labels: npt.NDArray[Any]) -> None:
    codes = clusters.codes_of(labels)
    assert (codes[0] == codes[1], len(set(codes)), codes.max()) == (True, 3, 2)
    assert rate([1, 0, 1, 0], labels) == rate([1, 0, 1, 0], list(labels))


def test_one_cluster_is_too_few() -> None:
    found = rate([1, 0, 1], ["a", "a", "a"])
    assert found == NoInterval("too few clusters", 2, 3, 2 / 3)
    assert shown(found) == "2/3, too few clusters"


@given(
    st.lists(st.tuples(st.integers(0, 1), st.integers(0, 6)), min_size=1, max_size=60),
)
def test_any_cell_has_an_interval_or_a_reason(rows: list[tuple[int, int]]) -> None:
    outcomes, labels = [row[0] for row in rows], [row[1] for row in rows]
    found = rate(outcomes, labels)
    assert found.n == len(rows)
    assert found.k == sum(outcomes)
    if isinstance(found, Interval):
        assert 0 <= found.lower <= found.estimate <= found.upper <= 1
        assert found.upper > found.lower
        summary = found.summary()
        assert set(summary) == {"estimate", "lower", "upper", "k", "n", "method"}
    else:
        assert found.reason == "too few clusters"


@given(st.permutations(range(24)))
def test_the_order_of_episodes_means_nothing(order: list[int]) -> None:
    rng = np.random.default_rng(3)
    outcomes, labels = (rng.random(24) < 0.5).astype(int), np.repeat(range(6), 4)
    again = rate(outcomes[order], [f"variant {labels[at]}" for at in order])
    assert again.summary() == pytest.approx(rate(outcomes, labels).summary())


def test_korn_and_graubard_by_hand() -> None:
    hits, sizes = np.asarray([3.0, 1, 2, 4, 2, 3, 1, 2, 3, 2, 1, 4, 2]), np.full(13, 5.0)
    n, c, p = 65, 13, hits.sum() / 65
    spread = c / (c - 1) * ((hits - 5 * p) ** 2).sum() / n**2
    few = stats.t.ppf(0.975, n - 1) / stats.t.ppf(0.975, c - 1)
    worth = min(p * (1 - p) / spread, n) * few**2
    lower, upper = clusters.limits(hits, sizes)
    assert lower == pytest.approx(stats.beta.ppf(0.025, p * worth, (1 - p) * worth + 1))
    assert upper == pytest.approx(stats.beta.ppf(0.975, p * worth + 1, (1 - p) * worth))


@pytest.mark.parametrize(
    ("sizes", "effective"), [([3, 3, 3], 3), ([5], 1), ([1, 1, 8], 100 / 66), ([0, 4, 4], 2)]
)
def test_kish(sizes: list[float], effective: float) -> None:
    assert clusters.kish(np.asarray(sizes, np.float64)) == pytest.approx(effective)


@pytest.mark.parametrize(
    ("value", "told"),
    [(0.0504, "0.0504"), (0.04996, "0.04996"), (0.05, "0.05"), (0.039, "0.039"), (0.125, "0.12")],
)
def test_a_p_value_is_not_rounded_to_the_limit(value: float, told: str) -> None:
    assert p_digits(value) == told
