"""Boundaries of a group-sequential test: all its looks together err as often as one test.

O'Brien & Fleming, A multiple testing procedure for clinical trials, Biometrics 35, 1979: with K
equal groups, look k rejects where ``|z| >= C sqrt(K / k)``. C is found by integrating the
density of the sum of the increments over the looks (Armitage, McPherson & Rowe, 1969).
"""

from functools import cache, lru_cache

import numpy as np
from scipy.optimize import brentq
from scipy.stats import norm

from constraintrot.errors import ParameterError

MOST_LOOKS = 20
# Points of the density's grid: with these, C agrees with published tables to four digits.
_POINTS = 601


@lru_cache
def obrien_fleming(looks: int, alpha: float = 0.05) -> tuple[float, ...]:
    """Return the boundary of ``|z|`` at each look, for the two-sided error of all looks."""
    if not 1 <= looks <= MOST_LOOKS or not 0 < alpha < 1:
        raise ParameterError(
            f"looks must be 1 to {MOST_LOOKS} and alpha between 0 and 1, not {looks} and {alpha}"
        )
    least = float(norm.isf(alpha / 2)) * looks**0.5
    # Bonferroni's boundary is the upper end of the search.
    most = float(norm.isf(alpha / 2 / looks)) * looks**0.5
    bound = (
        least if looks == 1 else float(brentq(lambda b: crossing(b, looks) - alpha, least, most))
    )
    return tuple(bound / k**0.5 for k in range(1, looks + 1))


def crossing(bound: float, looks: int) -> float:
    """Return the chance that ``looks`` normal increments ever sum outside ``(-bound, bound)``."""
    grid, step = np.linspace(-bound, bound, _POINTS, retstep=True)
    weights = np.full(_POINTS, step)
    weights[[0, -1]] /= 2
    kernel = norm.pdf(grid[:, None] - grid[None, :])
    density = norm.pdf(grid)
    for _ in range(looks - 1):
        density = kernel @ (density * weights)
    return 1.0 - float(density @ weights)


@cache
def spent(p_value: float, look: int, looks: int) -> float:
    """Return the p-value of a result at one of several declared looks.

    It is the probability, with equal groups and no effect, that some look crosses the
    O'Brien-Fleming boundary through this result. So the minimum over the looks taken is a
    valid p-value.
    """
    if p_value >= 1 or looks == 1:
        return min(p_value, 1.0)
    bound = float(norm.isf(max(p_value, 1e-12) / 2)) * look**0.5
    return min(1.0, max(p_value, crossing(bound, looks)))
