"""Limits that no filling of unknown outcomes exceeds, where episodes are clustered.

The effective number of episodes and the arms' correlation are estimated from the outcomes. So
the limit with every unknown outcome counted against a claim need not be the weakest: one that
is counted for it can make replicates disagree less, and the interval wider. Here each of these
estimates is bounded over all fillings. With one episode a cluster only the correlation is
estimated, and ``pair_upper`` tries all fillings.

The arrays have shape (..., clusters): the outcomes 1 per cluster with every unknown one as 0
(``low``) and as 1 (``high``), and the episodes per cluster (``sizes``).
"""

from typing import NamedTuple

import numpy as np

from constraintrot.stats import clusters, newcombe
from constraintrot.stats.interval import CONFIDENCE, Floats


class Range(NamedTuple):
    """The outcomes 1 per cluster of an arm: at least ``low``, at most ``high``."""

    low: Floats
    high: Floats


def rate_upper(of: Range, sizes: Floats, confidence: float = CONFIDENCE) -> Floats:
    n = clusters.least_effective_n(*of, sizes, confidence, alone=True)
    return clusters.clopper_pearson(of.high.sum(-1) / sizes.sum(-1) * n, n, confidence)[1]


def difference_upper(a: Range, b: Range, sizes: Floats, confidence: float = CONFIDENCE) -> Floats:
    """Return the highest upper limit of the paired difference b - a, shape (...).

    Square-and-add's limit rises with b and its upper limit, and falls with a, its lower limit
    and the correlation, but for one case: with a positive correlation the distance of one limit
    alone may be more than both together.
    """
    n = sizes.sum(-1)
    n_a, n_b = (clusters.least_effective_n(*one, sizes, confidence) for one in (a, b))
    lowest, highest = a.low.sum(-1) / n, b.high.sum(-1) / n
    down = lowest - clusters.clopper_pearson(lowest * n_a, n_a, confidence)[0]
    up = clusters.clopper_pearson(highest * n_b, n_b, confidence)[1] - highest
    correlation = newcombe.lowered(_least_correlation(a, b, sizes), sizes)
    both = np.sqrt(np.maximum(up**2 - 2 * correlation * up * down + down**2, 0))
    reach = np.maximum(both, np.maximum(up, down))
    return np.asarray(np.minimum(highest - lowest + reach, 1))


def pair_upper(a: Range, b: Range, confidence: float = CONFIDENCE) -> float:
    """Return the highest upper limit of the difference b - a of independent pairs.

    Given both rates, the limit is highest if the fewest pairs have outcome 1 in both arms. It is
    at most b's upper limit less a's lower one, so few rates need to be tried.
    """
    n = np.asarray(float(len(a.low)))
    open_a, open_b = a.high > a.low, b.high > b.low
    ones_a = a.low.sum() + np.arange(open_a.sum() + 1)
    ones_b = b.high.sum() - np.arange(open_b.sum() + 1)
    both_open = (open_a & open_b).sum()
    # Outcomes 1 can go to pairs that have 0 in the other arm, then to pairs open in both.
    left_a = np.maximum(ones_a - a.low.sum() - (open_a & (b.high == 0)).sum(), 0)
    left_b = np.maximum(ones_b - b.low.sum() - (open_b & (a.high == 0)).sum(), 0)
    of_a, of_b = (
        np.stack([ones / n, *clusters.clopper_pearson(ones, n, confidence)])
        for ones in (ones_a, ones_b)
    )

    def highest(first_a: int, first_b: int) -> float:
        x, y = ones_a[:first_a, None], ones_b[:first_b]
        left = left_a[:first_a, None] + left_b[:first_b]
        both = (a.low * b.low).sum() + np.maximum(left - both_open, 0)
        correlation = newcombe.phi(both, x - both, y - both, n - x - y + both)
        mean_a, low_a, high_a = of_a[:, :first_a, None]
        mean_b, low_b, high_b = of_b[:, None, :first_b]
        arms = (mean_a, low_a, high_a), (mean_b, low_b, high_b)
        return float(newcombe.square_and_add(*arms, correlation)[1].max())

    extreme = highest(1, 1)
    (_, least_a, _), (_, _, most_b) = of_a, of_b
    further_a, further_b = most_b[0] - least_a >= extreme, most_b - least_a[0] >= extreme
    return max(extreme, highest(max(int(further_a.sum()), 1), max(int(further_b.sum()), 1)))


def _least_correlation(a: Range, b: Range, sizes: Floats) -> Floats:
    residuals = [clusters.residual_range(*one, sizes) for one in (a, b)]
    corners = [x * y for x in residuals[0] for y in residuals[1]]
    product = np.minimum.reduce(corners).sum(-1)
    most, least = np.ones(product.shape), np.ones(product.shape)
    for low, high in residuals:
        most = most * np.maximum(low**2, high**2).sum(-1)
        same_sign = np.minimum(low**2, high**2)
        least = least * np.where(low * high > 0, same_sign, 0.0).sum(-1)
    under = np.sqrt(np.where(product > 0, most, least))
    otherwise = np.where(product < 0, -1.0, 0.0)
    return np.maximum(np.where(under > 0, clusters.quotient(product, under), otherwise), -1)
