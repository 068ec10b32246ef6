"""The figures of the reader are of scores that fit and measure do not share."""

import math
import random

from results.tools.rule_reader.evaluate import Scored, fit, measured


def scored(scale: float, shift: float, count: int = 4000) -> list[Scored]:
    """Questions whose true probability of yes is the logistic of a line of their score."""
    rng = random.Random(5)
    found = []
    for at in range(count):
        score = rng.gauss(0, 3)
        yes = rng.random() < 1 / (1 + math.exp(-(scale * score + shift)))
        found.append(Scored("state", "restated" if yes else "lost", at // 5, score, "yes"))
    return found


def test_the_fit_finds_the_line_that_made_the_labels() -> None:
    scale, shift = fit(scored(0.5, -1.0))
    assert abs(scale - 0.5) < 0.06
    assert abs(shift + 1.0) < 0.15


def test_a_fitted_reader_is_calibrated_and_a_perfect_one_right() -> None:
    found = measured(scored(0.7, 0.4))
    assert found.calibration_error < 0.03
    assert 0.8 < found.auc < 0.95
    perfect = [
        Scored("state", "restated" if at % 3 else "scoped", at, 4.0 if at % 3 else -4.0, "yes")
        for at in range(60)
    ]
    told = measured(perfect)
    assert (told.auc, told.precision, told.recall) == (1.0, 1.0, 1.0)
