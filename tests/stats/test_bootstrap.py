"""The cluster bootstrap against scipy's, and that it is one bootstrap however it draws."""

import numpy as np
import pytest
from scipy import stats

from constraintrot.stats import bootstrap, exact
from constraintrot.stats.interval import Floats
from constraintrot.stats.rate import ratio


def cell(clusters: int, each: int, rate: float, seed: int = 0) -> Floats:
    """Hits and sizes by cluster, of unlike clusters."""
    rng = np.random.default_rng(seed)
    chance = rng.beta(3 * rate, 3 * (1 - rate), clusters)
    return np.column_stack([rng.binomial(each, chance), np.full(clusters, each)]).astype(np.float64)


@pytest.mark.parametrize(
    ("clusters", "each", "rate"), [(40, 3, 0.3), (40, 3, 0.9), (900, 4, 0.2), (25, 60, 0.5)]
)
def test_limits_are_scipys(clusters: int, each: int, rate: float) -> None:
    totals = cell(clusters, each, rate)
    theirs = stats.bootstrap(
        (totals[:, 0], totals[:, 1]),
        lambda hits, sizes, axis: hits.sum(axis) / sizes.sum(axis),
        n_resamples=20_000,
        paired=True,
        vectorized=True,
        batch=1000,
        rng=np.random.default_rng(5),
    ).confidence_interval
    lower, upper = bootstrap.bca(
        bootstrap.resample(totals, ratio, 20_000, 1),
        ratio(totals.sum(0)),
        bootstrap.jackknife(totals, ratio),
    )
    width = theirs.high - theirs.low
    assert lower == pytest.approx(theirs.low, abs=0.06 * width)
    assert upper == pytest.approx(theirs.high, abs=0.06 * width)


def test_few_kinds_and_many_are_the_same_bootstrap() -> None:
    totals = cell(2000, 3, 0.3)
    kinds = bootstrap.resample(totals, ratio, 20_000)
    # A hair apart, so that no two clusters are alike and each is drawn by itself.
    unlike = totals + np.column_stack([1e-9 * np.arange(2000), np.zeros(2000)])
    single = bootstrap.resample(unlike, ratio, 20_000)
    assert kinds.mean() == pytest.approx(single.mean(), abs=4e-4)
    assert kinds.std() == pytest.approx(single.std(), rel=0.03)
    assert single.std() == pytest.approx(totals[:, 0].std() / 3 / 2000**0.5, rel=0.03)


def test_a_seed_is_a_result() -> None:
    totals = cell(30, 5, 0.4)
    assert (
        bootstrap.resample(totals, ratio, 500, 7) == bootstrap.resample(totals, ratio, 500, 7)
    ).all()
    assert (
        bootstrap.resample(totals, ratio, 500, 7) != bootstrap.resample(totals, ratio, 500, 8)
    ).any()


@pytest.mark.parametrize("clusters", [7, 900])
def test_as_many_resamples_as_asked(clusters: int) -> None:
    for resamples in (1, 999, 25_001):
        assert len(bootstrap.resample(cell(clusters, 3, 0.5), ratio, resamples)) == resamples


def test_few_clusters_widen_the_tails() -> None:
    totals = cell(16, 5, 0.5)
    found = bootstrap.resample(totals, ratio, 5000)
    edges = (ratio(totals.sum(0)), bootstrap.jackknife(totals, ratio))
    plain = bootstrap.bca(found, *edges)
    wide = bootstrap.bca(found, *edges, clusters=np.asarray(16.0))
    assert wide[0] < plain[0]
    assert wide[1] > plain[1]


def test_jackknife_leaves_one_out() -> None:
    totals = cell(6, 4, 0.5)
    found = bootstrap.jackknife(totals, ratio)
    for at in range(6):
        assert found[at] == ratio(np.delete(totals, at, 0).sum(0))


# Distributions of counts against scipy's, which takes longer to import.


@pytest.mark.parametrize("n", [0, 1, 2, 7, 300, 4_000])
def test_tosses_of_a_fair_coin(n: int) -> None:
    theirs = stats.binom.pmf(np.arange(n + 1), n, 0.5)
    assert exact.fair_binomial(n) == pytest.approx(theirs, rel=1e-11, abs=1e-290)


@pytest.mark.parametrize(("fewer", "n"), [(0, 1), (0, 6), (1, 6), (3, 6), (40, 120), (999, 2_000)])
def test_the_sign_test(fewer: int, n: int) -> None:
    theirs = float(stats.binomtest(fewer, n).pvalue)
    assert exact.fair_sign_test(fewer, n) == pytest.approx(theirs, rel=1e-12)


def test_fisher_as_scipy_has_it() -> None:
    draw = np.random.default_rng(0)
    for most in (2, 5, 20, 300):
        for table in draw.integers(0, most, (40, 2, 2)).tolist():
            theirs = float(stats.fisher_exact(np.asarray(table)).pvalue)
            assert exact.fisher(table) == pytest.approx(theirs, rel=1e-9, abs=1e-290), table
