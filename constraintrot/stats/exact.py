"""Exact p-values of counts, in time linear in the counts, and their correction (Holm).

scipy.stats and statsmodels have these too, and take longer to import than most reports to
compute; the tests compare with them.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from constraintrot.stats.interval import Floats

# Relative rounding error below which two probabilities count as equal.
_EQUAL = 1e-10


def fair_binomial(n: int) -> Floats:
    """Probabilities of 0 to n heads in n tosses of a fair coin, shape (n + 1,)."""
    k = np.arange(n)
    return _from_ratios((n - k) / (k + 1), n // 2)


def fair_sign_test(fewer: int, n: int) -> float:
    """Two-sided p-value of at most ``fewer`` (<= n / 2) heads, or as many tails, in n tosses."""
    return min(1.0, 2 * float(fair_binomial(n)[: fewer + 1].sum()))


def fisher(table: Sequence[Sequence[int]]) -> float:
    """Two-sided p-value of Fisher's exact test, over all tables that are at most as likely."""
    (a, b), (c, d) = table
    row, column, n = a + b, a + c, a + b + c + d
    least, most = max(0, row + column - n), min(row, column)
    k = np.arange(least, most)
    ratios = (row - k) * (column - k) / ((k + 1) * (n - row - column + k + 1.0))
    likeliest = (row + 1) * (column + 1) // (n + 2) - least
    chances = _from_ratios(ratios, min(max(likeliest, 0), most - least))
    return min(1.0, float(chances[chances <= chances[a - least] * (1 + _EQUAL)].sum()))


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values adjusted for the family-wise error rate (Holm 1979), in the same order."""
    values = np.asarray(p_values, np.float64)
    order = np.argsort(values, kind="stable")
    # The least is multiplied by their number, the next by one less, and none may decrease.
    raised = np.maximum.accumulate(values[order] * np.arange(len(values), 0, -1))
    adjusted = np.empty(len(values))
    adjusted[order] = np.minimum(raised, 1)
    return [float(p) for p in adjusted]


def _from_ratios(ratios: npt.NDArray[np.float64], mode: int) -> Floats:
    """Probabilities from each one's ratio to the one before, shape (len(ratios) + 1,).

    Multiplied from the likeliest outwards, so that nothing overflows.
    """
    up = np.cumprod(ratios[mode:])
    down = np.cumprod(1 / ratios[:mode][::-1])[::-1]
    weights = np.concatenate([down, [1.0], up])
    return np.asarray(weights / weights.sum())


def p_digits(value: float) -> str:
    """Return a p-value with two digits, and with more where two would hide its side of .05."""
    digits = 2
    while float(f"{value:.{digits}g}") == 0.05 != value and digits < 6:
        digits += 1
    return f"{value:.{digits}g}"
