"""Power of McNemar's test: the formula against enumeration, and what a run still needs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from constraintrot.errors import ParameterError
from constraintrot.stats import power
from constraintrot.stats.paired import compare


def enumerated(n: int, difference: float, discordant: float) -> float:
    """Chance that McNemar's asymptotic test finds it, over all tables of n pairs."""
    found = 0.0
    for differ in range(1, n + 1):
        more = np.arange(differ + 1)
        rejects = (2 * more - differ) ** 2 / differ > stats.chi2.ppf(0.95, 1)
        share = (discordant + difference) / 2 / discordant
        chance = stats.binom.pmf(more, differ, share)[rejects].sum()
        found += stats.binom.pmf(differ, n, discordant) * chance
    return found


@pytest.mark.parametrize(
    ("difference", "discordant"), [(0.2, 0.3), (0.1, 0.2), (0.4, 0.5), (-0.15, 0.4)]
)
def test_the_pairs_needed_find_it(difference: float, discordant: float) -> None:
    n = power.pairs_needed(difference, discordant)
    assert enumerated(n, abs(difference), discordant) == pytest.approx(0.8, abs=0.06)


@given(st.integers(5, 5000), st.floats(0.02, 1), st.floats(1, 4))
def test_what_is_detectable_needs_those_pairs(n: int, discordant: float, effect: float) -> None:
    found = power.detectable(n, discordant, design_effect=effect)
    if found is None:
        assert power.pairs_needed(discordant, discordant, design_effect=effect) >= n
        return
    assert 0 < found <= discordant
    needed = power.pairs_needed(found, discordant, design_effect=effect)
    assert n - 1 <= needed <= n + 1


@given(st.floats(0.01, 0.5), st.floats(0.5, 1))
def test_smaller_differences_need_more(difference: float, discordant: float) -> None:
    assert power.pairs_needed(difference / 2, discordant) >= power.pairs_needed(
        difference, discordant
    )


@pytest.mark.parametrize(("difference", "discordant"), [(0, 0.5), (0.5, 0.2), (0.5, 1.5)])
def test_differences_that_cannot_be(difference: float, discordant: float) -> None:
    with pytest.raises(ParameterError, match="discordant share"):
        power.pairs_needed(difference, discordant)


def test_a_run_that_is_too_short() -> None:
    a, b = [1] * 6 + [0] * 21, [0] * 4 + [1] * 2 + [0] * 19 + [1] * 2
    found = power.of(compare(a, b, range(27)))
    assert found.n == 27
    assert found.discordant == pytest.approx(6 / 27)
    assert found.needed is not None
    assert found.needed > 27
    assert found.more == found.needed - 27
    assert found.detectable is None or found.detectable > 2 / 27


def test_a_run_that_is_long_enough() -> None:
    found = power.of(compare([1] * 60, [0] * 50 + [1] * 10, range(60)))
    assert found.more == 0


def test_no_discordant_pair() -> None:
    found = power.of(compare([0] * 27, [0] * 27, range(27)))
    assert (found.needed, found.more) == (None, None)
    assert found.discordant == pytest.approx(0.128, abs=1e-3)


def test_replicates_count_for_less() -> None:
    a, b = np.repeat([1, 1, 0, 0, 1, 0, 0, 1], 5), np.repeat([0, 0, 0, 0, 1, 0, 1, 0], 5)
    apart, alike = power.of(compare(a, b)), power.of(compare(a, b, np.repeat(range(8), 5)))
    assert apart.needed is not None
    assert alike.needed is not None
    assert alike.needed > 4 * apart.needed
