"""Input that no statistic takes: it is refused in words, and nothing is computed."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from constraintrot.errors import ParameterError
from constraintrot.stats.agreement import krippendorff_alpha
from constraintrot.stats.bounds import compare_unknown
from constraintrot.stats.curves import at_k, rounds_to_loss, trend
from constraintrot.stats.paired import compare
from constraintrot.stats.rate import clopper_pearson, rate


@pytest.mark.parametrize(
    ("statistic", "given", "says"),
    [
        (clopper_pearson, (3, 2), "is no rate"),
        (clopper_pearson, (-1, 2), "is no rate"),
        (clopper_pearson, (1, 0), "is no rate"),
        (rate, ([0, 2],), "neither 0 nor 1"),
        (rate, ([0, float("nan")],), "missing"),
        (rate, ([0, 1], ["a"]), "1 cluster labels for 2 episodes"),
        (rate, (["True", "False"],), "an outcome is no number: .*'True'; give 0 and 1"),
        (rate, ([0, [1]],), "an outcome is no number"),
        (compare, ([0, 1], [0]), "differ in length"),
        (compare, ([], []), "nothing is paired"),
        (compare, ([0.5], [1]), "neither 0 nor 1"),
        (
            partial(compare_unknown, unknown=([False], [False, False])),
            ([1], [1, 0]),
            "same episodes",
        ),
        (rounds_to_loss, ([], []), "no episode"),
        (rounds_to_loss, ([1, 2], [0, 3]), "neither 0 nor 1"),
        (trend, ([[1], [1]], [0, 0]), "shape"),
        (at_k, ([1, 1], [5, 2], 3), "at least 3 attempts a variant; the least has 2"),
        (at_k, ([3], [2], 1), "as many attempts"),
        (krippendorff_alpha, ([],), "there is no rater"),
        (krippendorff_alpha, ([[1, 2], [1]],), "differ in length"),
    ],
)
def test_bad_input_is_refused(statistic: Callable[..., Any], given: Any, says: str) -> None:
    with pytest.raises(ParameterError, match=says):
        statistic(*given)
