"""Paired comparisons: published intervals, exact tests, verdicts, margins, Holm."""

import itertools
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from constraintrot.stats.exact import holm
from constraintrot.stats.interval import Floats, NoInterval
from constraintrot.stats.newcombe import difference_limits, pair_limits, square_and_add
from constraintrot.stats.paired import (
    NOT_DISTINGUISHABLE,
    compare,
    design_effect,
    family,
    flip_test,
)
from constraintrot.stats.rate import BCA
from results.tools.clustered_outcomes import wilson
from tests.helpers import known

cells = st.integers(0, 30)


def arms(both: int, only_a: int, only_b: int, neither: int) -> tuple[list[int], list[int]]:
    """Two arms of so many pairs of each kind."""
    a = [1] * (both + only_a) + [0] * (only_b + neither)
    b = [1] * both + [0] * only_a + [1] * only_b + [0] * neither
    return a, b


@pytest.mark.parametrize(
    ("table", "limits"),
    [
        # Bentur et al. 2009, as Fagerland, Lydersen and Laake (2014) give it.
        ((1, 7, 1, 12), (-0.507, -0.026)),
        # Newcombe, Statistics in Medicine 17 (1998) 2635-2650, first example, method 10.
        ((36, 2, 12, 0), (0.0569, 0.3404)),
    ],
)
def test_published_newcombe(table: tuple[int, ...], limits: tuple[float, float]) -> None:
    found = pair_limits(np.asarray(table, np.float64), find=wilson)
    assert found == pytest.approx(limits, abs=5e-4)


@pytest.mark.parametrize("replicates", [1, 3])
@pytest.mark.parametrize("level", [0.05, 0.0071, 0.0017])
@pytest.mark.parametrize(("n", "rise"), [(24, 0.1), (42, 0.05), (68, 0.1)])
@pytest.mark.parametrize("rate", [0.1, 0.5])
def test_arms_that_agree_do_not_hide_a_rise(
    n: int, rise: float, level: float, replicates: int, rate: float
) -> None:
    """All outcomes of n variants that agree in both arms, but for a rise of b in a few of them.

    Replicates agree. The upper limit may be below the true rise in half of the level, as a
    sum over all outcomes, each with its probability.
    """
    sizes = np.full(n, float(replicates))
    under = 0.0
    for more in range(n + 1):
        chance = stats.binom.pmf(more, n, rise)
        for both in range(n - more + 1 if chance > 1e-6 else 0):
            a, b = np.zeros(n), np.zeros(n)
            a[:both] = b[: both + more] = replicates
            found = difference_limits(a, b, sizes, 1 - level)
            if found.upper < rise:
                under += chance * stats.binom.pmf(both, n - more, rate)
    assert under <= level / 2


@given(cells, cells, cells, cells)
def test_limits_of_pairs_are_sound(both: int, only_a: int, only_b: int, neither: int) -> None:
    n = both + only_a + only_b + neither
    if n == 0:
        return
    tables = [(both, only_a, only_b, neither), (both, only_b, only_a, neither)]
    tables.append((neither, only_a, only_b, both))
    lower, upper = pair_limits(np.asarray(tables, np.float64))
    difference = (only_b - only_a) / n
    assert -1 <= lower[0] <= difference + 1e-12
    assert difference - 1e-12 <= upper[0] <= 1
    assert upper[0] > lower[0]
    assert lower[1] == pytest.approx(-upper[0], abs=1e-12)
    assert lower[2] == pytest.approx(lower[0], abs=1e-9)


@given(cells, cells, cells, cells)
def test_mcnemar_is_that_of_statsmodels(both: int, only_a: int, only_b: int, neither: int) -> None:
    if both + only_a + only_b + neither == 0:
        return
    found = compare(*arms(both, only_a, only_b, neither))
    tables = import_module("statsmodels.stats.contingency_tables")
    theirs = tables.mcnemar([[both, only_a], [only_b, neither]], exact=True)
    assert found.p_value == pytest.approx(min(1, theirs.pvalue), abs=1e-12)
    assert found.test == "McNemar, exact"
    counted = (found.both, found.only_a, found.only_b, found.neither)
    assert counted == (both, only_a, only_b, neither)


@settings(deadline=None)
@given(st.lists(st.integers(-6, 6), min_size=2, max_size=9))
def test_flips_are_those_of_scipy(differences: list[int]) -> None:
    values = np.asarray(differences, np.float64)
    theirs = stats.permutation_test(
        (values,),
        lambda x, axis: x.sum(axis),
        permutation_type="samples",
        n_resamples=2**9,
        vectorized=True,
    )
    # scipy doubles the smaller tail too; both tails of a sum of 0 hold more than half.
    assert flip_test(values) == pytest.approx(min(1, theirs.pvalue), abs=1e-12)


def test_flips_by_enumeration() -> None:
    values = np.asarray([5.0, 3, 3, -1, 0, 4])
    sums = [
        sum(np.asarray(signs) * np.abs(values)) for signs in itertools.product((-1, 1), repeat=6)
    ]
    expected = np.mean(np.abs(sums) >= abs(values.sum()))
    assert flip_test(values) == pytest.approx(expected, abs=1e-12)


def test_flips_of_large_clusters_stay_a_probability() -> None:
    rng = np.random.default_rng(0)
    far = flip_test(rng.integers(5, 60, 300).astype(np.float64))
    assert 0 <= far < 1e-12
    near = flip_test(rng.integers(-40, 41, 300).astype(np.float64))
    assert 0.01 < near <= 1


def test_a_difference_that_is_there() -> None:
    found = compare(*arms(3, 18, 0, 6), range(27))
    assert found.verdict == "b is lower"
    assert compare(*arms(3, 0, 18, 6), range(27)).verdict == "b is higher"
    assert known(found.difference).k == -18
    assert found.n == 27


def test_a_difference_that_is_not_told() -> None:
    found = compare(*arms(3, 2, 1, 3), range(9))
    assert found.verdict == NOT_DISTINGUISHABLE == "not distinguishable at this n"


def test_no_discordant_pair_is_not_certainty() -> None:
    found = compare(np.zeros(27), np.zeros(27), np.repeat(range(9), 3))
    assert known(found.difference).upper > 0.3
    assert found.p_value == 1
    assert found.verdict == NOT_DISTINGUISHABLE


def test_five_clusters_say_it_by_no_number_of_replicates() -> None:
    found = compare(np.ones(500), np.zeros(500), np.repeat(range(5), 100))
    assert found.p_value == pytest.approx(2 / 32)
    assert found.verdict == NOT_DISTINGUISHABLE


def test_one_cluster_is_too_few() -> None:
    found = compare([1, 1, 1], [0, 0, 0], ["a", "a", "a"])
    assert found.difference == NoInterval("too few clusters", -3, 3, -1.0)
    assert found.verdict == NOT_DISTINGUISHABLE


def pairs(n: int, each: int, seed: int = 2) -> tuple[Floats, Floats, Any]:
    """Two arms over clusters that both arms share."""
    rng = np.random.default_rng(seed)
    chance = np.repeat(rng.beta(1, 2, n), each)
    a, b = (rng.random(n * each) < chance * by for by in (1.0, 0.4))
    return a.astype(np.float64), b.astype(np.float64), np.repeat(range(n), each)


def test_the_bootstrap_is_used_where_it_holds() -> None:
    many = compare(*pairs(80, 4), seed=3)
    assert known(many.difference).method == BCA
    assert many.bootstrap == many.difference
    assert many == compare(*pairs(80, 4), seed=3)
    few = compare(*pairs(9, 4))
    assert "t-based" in known(few.difference).method
    assert isinstance(few.bootstrap, NoInterval)
    assert "too few clusters" in few.bootstrap.reason


def test_clusters_that_differ_alike_are_not_certainty() -> None:
    labels = np.repeat(range(60), 3)
    found = known(compare(np.tile([1.0, 0, 1], 60), np.tile([0.0, 0, 1], 60), labels).difference)
    assert found.method != BCA
    assert found.lower < found.estimate < found.upper


def test_swapping_the_arms_turns_the_sign() -> None:
    a, b, labels = pairs(9, 4)
    one, other = compare(a, b, labels), compare(b, a, labels)
    assert known(one.difference).lower == pytest.approx(-known(other.difference).upper)
    assert one.p_value == pytest.approx(other.p_value)


# statsmodels takes a tenth of a second a call.
@settings(max_examples=15, deadline=None)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_by_its_definition(p_values: list[float]) -> None:
    ordered = sorted(range(len(p_values)), key=p_values.__getitem__)
    expected, highest = [0.0] * len(p_values), 0.0
    for rank, at in enumerate(ordered):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[at]))
        expected[at] = highest
    assert holm(p_values) == pytest.approx(expected)


def test_holm_of_none() -> None:
    assert holm([]) == []
    assert holm([0.04]) == [0.04]
    assert family([]) == []


def test_a_family_is_harder_to_tell() -> None:
    clear = compare(*arms(0, 20, 0, 7), range(27))
    slight = compare(*arms(5, 7, 0, 15), range(27))
    assert slight.verdict == "b is lower"
    adjusted = family([clear, slight, slight, slight, slight])
    assert [one.verdict for one in adjusted] == ["b is lower", *[NOT_DISTINGUISHABLE] * 4]
    assert adjusted[1].adjusted == pytest.approx(4 * slight.p_value)


def test_correlation_narrows_and_its_opposite_widens() -> None:
    arm = tuple(np.asarray(x) for x in (0.4, 0.2, 0.6))
    one = (arm[0], arm[1], arm[2])
    limits = [square_and_add(one, one, np.asarray(r)) for r in (-0.8, 0.0, 0.8)]
    widths = [float(upper - lower) for lower, upper in limits]
    assert widths[0] > widths[1] > widths[2] > 0


def test_design_effect() -> None:
    single = np.asarray([1.0, 0, -1, 0, 1, 1])
    assert design_effect(single, np.ones(6), 4) == pytest.approx(1)
    # Copies of each pair: the variance of n pairs that are c.
    assert design_effect(4 * single, np.full(6, 4.0), 16) == pytest.approx(
        4 * 23 / 24 * 6 / 5, rel=1e-6
    )
    assert design_effect(np.zeros(6), np.ones(6), 0) == 1
