"""Limits that no filling of unknown outcomes exceeds, where episodes are clustered.

The effective number of episodes and the arms' correlation are estimated from the outcomes. So
the limit with every unknown outcome counted against a claim need not be the weakest: one that
is counted for it can make replicates disagree less, and the interval wider. Here each of these
estimates is bounded over all fillings. With one episode a cluster nothing of this is estimated.

All functions take arrays of shape (..., clusters): the outcomes 1 per cluster with every unknown
one as 0 (``low``) and as 1 (``high``), and the episodes per cluster (``sizes``).
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
    """Return the highest upper limit of a rate, shape (...)."""
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


def _least_correlation(a: Range, b: Range, sizes: Floats) -> Floats:
    """Return a lower bound of the correlation of the clusters' residuals, shape (...)."""
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
