"""Power of the deciding rules: against enumeration, and against the decision itself."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from constraintrot.stats import power
from constraintrot.stats.paired import compare
from constraintrot.stats.rate import rate
from tests.helpers import known
from tests.stats.test_paired import arms

cells = st.integers(0, 25)


@given(cells, cells, cells, cells)
def test_the_rules_are_those_that_decide(both: int, only_a: int, only_b: int, neither: int) -> None:
    n = both + only_a + only_b + neither
    if n < 2:
        return
    table = np.asarray([(both, only_a, only_b, neither)], np.float64)
    a, b = arms(both, only_a, only_b, neither)
    decided = compare(a, b, range(n))
    assert power.mcnemar(table)[0] == pytest.approx(decided.p_value)
    assert power.fewer()(table)[0] == (decided.verdict == "b is lower")
    assert power.no_lower(0.1)(table)[0] == (known(decided.difference).lower > -0.1)
    assert power.no_higher(0.1)(table)[0] == (known(decided.difference).upper < 0.1)
    of_b = known(rate(b, range(n)))
    counts = np.asarray([(both + only_b, only_a + neither)], np.float64)
    assert power.at_most(0.3)(counts)[0] == (of_b.upper <= 0.3)


def test_the_simulated_chance_is_the_enumerated_one() -> None:
    shares, n = (0.1, 0.5, 0.05, 0.35), 12
    counts = [c for c in itertools.product(range(n + 1), repeat=4) if sum(c) == n]
    tables = np.asarray(counts, np.float64)
    chances = np.asarray(stats.multinomial.pmf(tables, n, shares))
    exact = chances[power.fewer()(tables)].sum()
    assert power.chance(shares, n, power.fewer(), 20_000) == pytest.approx(exact, abs=0.015)


@pytest.mark.parametrize("n", [6, 18, 40, 120])
def test_what_is_detectable_is_found_four_times_in_five_and_less_is_not(n: int) -> None:
    rule = power.fewer()
    found = power.detectable(n, rule)
    assert found is not None

    def exact(effect: float) -> float:
        differ = np.arange(n + 1)
        tables = np.stack([0 * differ, differ, 0 * differ, n - differ], -1).astype(np.float64)
        return float(stats.binom.pmf(differ, n, effect)[rule(tables)].sum())

    assert exact(found + 0.02) > 0.8 > exact(found - 0.02)


@pytest.mark.parametrize(
    ("a", "b"), [([1] * 18, [0] * 18), ([0] * 18, [0] * 18), ([1] * 18, [1] * 18)]
)
def test_the_effect_does_not_come_from_the_discordance_that_was_seen(
    a: list[int], b: list[int]
) -> None:
    found = power.of(compare(a, b, range(18)))
    assert found.detectable is not None
    assert 0.35 < found.detectable < 0.45


def test_five_variants_find_nothing() -> None:
    found = power.of(compare([1] * 5, [0] * 5, range(5)))
    assert (found.detectable, found.needed, found.more) == (None, 6, 1)


@pytest.mark.parametrize(
    ("shares", "rule"),
    [
        ((0.2, 0.3, 0.1, 0.4), power.fewer()),
        ((0.05, 0.05, 0.05, 0.85), power.no_lower(0.1)),
        ((0.0, 0.2, 0.02, 0.78), power.no_higher(0.05)),
    ],
)
def test_the_number_needed_is_enough_and_less_is_not(
    shares: tuple[float, ...], rule: power.Rule
) -> None:
    n = power.needed(shares, rule)
    assert n is not None
    assert power.chance(shares, n, rule, 4000, seed=5) > 0.77
    assert power.chance(shares, n // 2, rule, 4000, seed=5) < 0.77
    assert all(power.chance(shares, n + more, rule) >= 0.8 for more in range(10))


def test_certain_outcomes_need_what_the_exact_interval_takes() -> None:
    assert power.needed((0, 0, 0, 1), power.no_higher(0.05)) == 72
    assert power.needed((0, 1), power.at_most(0.05)) == 72
    assert 1 - 0.025 ** (1 / 72) < 0.05 < 1 - 0.025 ** (1 / 71)


def test_a_number_just_below_the_most_is_found() -> None:
    """Doubling alone would go from 65,536 past it."""
    found = power.needed((0.048, 0.952), power.at_most(0.05))
    assert found is not None
    assert 65_536 < found <= power.MOST


def test_what_no_number_shows_has_none() -> None:
    assert power.needed((0.5, 0.5), power.at_most(0.05)) is None
    assert power.of(compare([0] * 27, [0] * 27, range(27))).needed is None


def test_replicates_that_agree_count_once() -> None:
    a, b = np.repeat([1, 1, 0, 0, 1, 0, 0, 1], 5), np.repeat([0, 0, 0, 0, 1, 0, 1, 0], 5)
    alike = power.of(compare(a, b, np.repeat(range(8), 5)))
    assert alike.n == 8
    once = power.of(compare(a[::5], b[::5], range(8)))
    assert (alike.detectable, alike.needed) == (once.detectable, once.needed)


def test_a_family_of_comparisons_is_harder() -> None:
    comparison = compare([1] * 20, [0] * 20, range(20))
    alone, among = (power.of(comparison, comparisons=count) for count in (1, 10))
    assert alone.detectable is not None
    assert among.detectable is not None
    assert among.detectable > alone.detectable
    assert (alone.needed, among.needed) == (6, 9)
