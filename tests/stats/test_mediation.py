"""Violation by survival, and the share of the effect that deletion carries."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from constraintrot.stats.interval import Floats, Interval, NoInterval
from constraintrot.stats.mediation import CONDITIONS, by_survival, mediate, share_carried
from tests.helpers import known

ZERO, ONE = np.zeros(27), np.ones(27)


def effect(lower: float, estimate: float, upper: float) -> Interval:
    """An effect with given limits."""
    return Interval(estimate, lower, upper, None, 27, "given")


def test_survival_predicts_violation() -> None:
    kept = np.repeat([1, 0], [12, 15])
    violated = np.repeat([0, 1, 0], [12, 10, 5])
    found = by_survival(violated, kept, range(27))
    assert found.table == ((0, 12), (10, 5))
    assert found.difference.estimate == 10 / 15
    assert known(found.difference).lower > 0.2
    assert found.p_value == pytest.approx(stats.fisher_exact(np.asarray([[0, 12], [10, 5]])).pvalue)


def test_survival_that_says_nothing() -> None:
    found = by_survival([1, 0] * 10, [1, 1, 0, 0] * 5, range(20))
    assert not known(found.difference).excludes(0)
    assert found.p_value == 1


def test_a_state_that_never_occurred() -> None:
    found = by_survival([1, 0, 1], [0, 0, 0])
    assert found.table == ((0, 0), (2, 1))
    assert isinstance(found.difference, NoInterval)


def conditions(*violated: Floats) -> dict[str, Floats]:
    """The four arms: control, compaction, the policy removed from its summary, and restored."""
    return dict(zip(CONDITIONS, violated, strict=True))


def test_deletion_carries_it_all() -> None:
    most = np.repeat([1.0, 0], [20, 7])
    found = mediate(conditions(ZERO, most, ONE, ZERO), range(27), degenerate=most)
    share = known(found.share)
    assert share.estimate == 1
    assert 0.5 < share.lower < 1 < share.upper
    assert (found.n, found.degenerate) == (27, 20)
    assert found.deletion is not None
    assert (found.deletion.difference.estimate, found.deletion.n) == (1, 7)


def test_a_policy_that_was_gone_cannot_be_taken_out() -> None:
    found = mediate(conditions(ZERO, ONE, ONE, ZERO), range(27), degenerate=ONE)
    assert found.deletion is None
    assert found.degenerate == found.n


def test_replicates_of_a_variant_are_no_evidence_of_their_own() -> None:
    kept = np.repeat([1, 1, 0, 0], 5)
    assert by_survival(1 - kept, kept, np.repeat(range(4), 5)).p_value is None
    assert by_survival(1 - kept[::5], kept[::5], range(4)).p_value == pytest.approx(1 / 3)


@pytest.mark.parametrize("direct", [-0.4, -0.2, 0.2])
def test_the_share_covers_what_it_says_also_where_restoring_helps_beyond_full_view(
    direct: float,
) -> None:
    """Normal effects with a shared control arm, at its largest correlation."""
    rng, total, error = np.random.default_rng(0), 0.5, 0.04
    shared = rng.standard_normal(2000) * error
    inside = 0
    for one in shared:
        ends = [
            effect(x + one - 1.96 * error, x + one, x + one + 1.96 * error) for x in (total, direct)
        ]
        share = known(share_carried(ends[0], ends[1]))
        inside += share.lower <= 1 - direct / total <= share.upper
    assert inside >= 0.94 * len(shared)


def test_deletion_carries_nothing() -> None:
    found = known(mediate(conditions(ZERO, ONE, ONE, ONE), np.repeat(range(9), 3)).share)
    assert found.estimate == 0
    assert found.lower < 0 < found.upper < 0.7


def test_no_effect_has_no_share() -> None:
    found = mediate(conditions(ZERO, ZERO, ZERO, ZERO), range(27))
    assert isinstance(found.share, NoInterval)
    assert "not distinguishable" in found.share.reason


@given(
    st.floats(0.05, 0.9),
    st.floats(0.01, 0.4),
    st.floats(0.01, 0.4),
    st.floats(0.2, 0.95),
    st.floats(0.01, 0.15),
    st.floats(0.01, 0.15),
)
def test_donner_and_zou_in_closed_form(
    direct: float, down: float, up: float, total: float, below: float, above: float
) -> None:
    assume(direct - down > 0.01)
    l1, u1, l2, u2 = direct - down, direct + up, total - below, total + above
    product = direct * total
    lower = (product - (product**2 - l1 * (2 * direct - l1) * u2 * (2 * total - u2)) ** 0.5) / (
        u2 * (2 * total - u2)
    )
    upper = (product + (product**2 - u1 * (2 * direct - u1) * l2 * (2 * total - l2)) ** 0.5) / (
        l2 * (2 * total - l2)
    )
    assume(u1 < 2 * direct)
    found = known(share_carried(effect(l2, total, u2), effect(l1, direct, u1)))
    assert (found.lower, found.upper) == pytest.approx((1 - upper, 1 - lower), abs=1e-6)


def test_an_effect_without_interval_has_no_share() -> None:
    none = NoInterval("too few clusters")
    assert isinstance(share_carried(none, effect(0, 0.1, 0.2)), NoInterval)
    assert isinstance(share_carried(effect(0.1, 0.2, 0.3), none), NoInterval)
