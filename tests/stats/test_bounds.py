"""Bounds over what malformed and missing outcomes could have been."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from constraintrot.errors import ParameterError
from constraintrot.stats.bounds import bounds, difference_bounds
from constraintrot.stats.rate import clopper_pearson, rate

outcome = st.sampled_from([0.0, 1.0, float("nan")])


@given(st.lists(outcome, min_size=1, max_size=40))
def test_every_filling_lies_within(values: list[float]) -> None:
    found = bounds(values)
    rng = np.random.default_rng(0)
    filled = np.asarray(values)
    unknown = np.isnan(filled)
    filled[unknown] = rng.integers(0, 2, unknown.sum())
    assert found.none.estimate <= filled.mean() <= found.all.estimate
    assert found.all.estimate - found.none.estimate == pytest.approx(unknown.mean())


def test_all_known_is_a_rate() -> None:
    found = bounds([1, 0, 0, 1])
    assert found.none == found.all == clopper_pearson(2, 4)


def test_the_bounds_are_rates_of_whole_clusters() -> None:
    labels = np.repeat(range(6), 3)
    found = bounds(np.tile([1, 0, np.nan], 6), labels)
    assert found.all == rate(np.tile([1, 0, 1], 6), labels)
    assert found.none == rate(np.tile([1, 0, 0], 6), labels)


@given(st.lists(st.tuples(outcome, outcome), min_size=1, max_size=30))
def test_every_difference_lies_within(rows: list[tuple[float, float]]) -> None:
    a, b = (np.asarray(column) for column in zip(*rows, strict=True))
    found = difference_bounds(a, b)
    rng = np.random.default_rng(1)
    filled = [np.where(np.isnan(x), rng.integers(0, 2, len(x)), x) for x in (a, b)]
    assert found.lower <= (filled[1] - filled[0]).mean() <= found.upper
    assert found.unknown == int((np.isnan(a) | np.isnan(b)).sum())


def test_a_direction_that_silence_cannot_turn_round() -> None:
    nan = float("nan")
    assert difference_bounds([1, 1, 1, nan], [0, 0, 0, 0]).upper < 0
    assert difference_bounds([1, nan, nan, nan], [0, 0, 0, 0]).lower < 0
    either = difference_bounds([0, nan], [nan, 0])
    assert either.lower < 0 < either.upper


def test_arms_of_unequal_length() -> None:
    with pytest.raises(ParameterError, match="same episodes"):
        difference_bounds([1], [1, 0])
    with pytest.raises(ParameterError, match="at least one"):
        difference_bounds([], [])
