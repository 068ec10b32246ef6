"""Agreement of two or more raters beyond chance: Cohen's kappa and Krippendorff's alpha."""

import math
from collections.abc import Callable, Hashable, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import special

from constraintrot.errors import ParameterError
from constraintrot.stats import bootstrap, clusters
from constraintrot.stats.interval import CONFIDENCE, TOO_FEW, Estimate, Floats, NoInterval, around
from constraintrot.stats.rate import Labels

UNDEFINED = "all ratings are the same, so agreement beyond chance is not defined"
METHOD = "observed disagreement over that of chance, MOVER of Clopper-Pearson and jackknife"

Chance: TypeAlias = Callable[[Floats], Floats]
"""Maps sums of the columns, shape (..., columns), to the disagreement expected by chance."""


def cohen_kappa(
    first: Sequence[Hashable],
    second: Sequence[Hashable],
    labels: Labels | None = None,
) -> Estimate:
    """Cohen's (1960) kappa of two raters, with the limits of ``agreement_limits``.

    A unit with a missing category (None, nan) is not counted.
    """
    ratings = _coded([first, second])
    known = np.asarray((ratings >= 0).all(0), bool)
    ratings = ratings[:, known]
    size = int(ratings.max(initial=0)) + 1
    cells = np.eye(size * size)[ratings[0] * size + ratings[1]]
    apart = (ratings[0] != ratings[1]).astype(np.float64)
    return _estimate(apart, np.ones(len(apart)), cells, kappa_chance, _kept(labels, known))


def krippendorff_alpha(
    ratings: Sequence[Sequence[Hashable]],
    labels: Labels | None = None,
) -> Estimate:
    """Krippendorff's (2011) alpha of nominal ratings, with the limits of ``agreement_limits``.

    The ratings have shape (raters, units), None or nan where one is missing. Units with fewer than
    two are not counted.
    """
    coded = _coded(ratings)
    size = int(coded.max(initial=0)) + 1
    counts = np.stack([(coded == value).sum(0) for value in range(size)], axis=1).astype(np.float64)
    paired = counts.sum(1) > 1
    counts = counts[paired]
    rated = counts.sum(1)
    agreeing = (counts * (counts - 1)).sum(1) / (rated - 1)
    # Each unit is weighted by its number of ratings; the mean weight is one episode.
    weights = rated / rated.mean() if len(rated) else rated
    apart = (1 - agreeing / rated) * weights
    return _estimate(apart, weights, counts, alpha_chance, _kept(labels, paired))


def kappa_chance(sums: Floats) -> Floats:
    """Disagreement by chance of two raters, from a table of both, shape (..., size * size)."""
    size = math.isqrt(sums.shape[-1])
    table = sums.reshape(*sums.shape[:-1], size, size)
    n = table.sum((-2, -1))
    return np.asarray(1 - (table.sum(-1) * table.sum(-2)).sum(-1) / n**2)


def alpha_chance(sums: Floats) -> Floats:
    """Disagreement by chance of two ratings, from each category's number, shape (..., size)."""
    n = sums.sum(-1)
    return np.asarray(1 - (sums * (sums - 1)).sum(-1) / (n * (n - 1)))


def agreement_limits(
    apart: Floats, weights: Floats, columns: Floats, chance: Chance
) -> tuple[Floats, Floats]:
    """Return 95 % limits of 1 - observed disagreement / disagreement by chance.

    The observed disagreement is a clustered rate, so it has Clopper-Pearson's limits at the
    effective sample size; that of chance is a smooth function of sums and has jackknife limits
    with t quantiles. MOVER-R (Newcombe 2016, as if the two were independent) combines them. A
    percentile bootstrap covers too little if few disagree, and has no width if nobody does.

    ``apart`` and ``weights`` are disagreement and episodes by cluster; ``columns``, of shape
    (..., clusters, columns), has the columns whose sums ``chance`` takes.
    """
    total = weights.sum(-1)
    above = (apart.sum(-1) / total, *clusters.limits(apart, weights, CONFIDENCE, alone=True))
    expected = chance(columns.sum(-2))
    without = bootstrap.jackknife(columns, chance)
    count = weights.shape[-1]
    centred = without - without.mean(-1, keepdims=True)
    spread = np.sqrt((count - 1) / count * (centred**2).sum(-1))
    reach = special.stdtrit(clusters.kish(weights) - 1, (1 + CONFIDENCE) / 2) * spread
    least, most = _ratio_limits(above, (expected, expected - reach, expected + reach))
    return np.maximum(1 - most, -1.0), np.minimum(1 - least, 1.0)


def _ratio_limits(
    above: tuple[Floats, Floats, Floats], below: tuple[Floats, Floats, Floats]
) -> tuple[Floats, Floats]:
    """Limits of a ratio from estimate, lower and upper limit of its two parts."""
    (over, low, high), (under, least, most) = above, below
    product = over * under
    largest, smallest = most * (2 * under - most), least * (2 * under - least)
    with np.errstate(divide="ignore", invalid="ignore"):
        root = np.sqrt(np.maximum(product**2 - low * (2 * over - low) * largest, 0))
        lower = np.where(largest > 0, (product - root) / largest, low / most)
        root = np.sqrt(np.maximum(product**2 - high * (2 * over - high) * smallest, 0))
        upper = np.where((least > 0) & (smallest > 0), (product + root) / smallest, np.inf)
    return np.maximum(lower, 0.0), upper


def _coded(ratings: Sequence[Sequence[Hashable]]) -> npt.NDArray[np.intp]:
    import pandas as pd

    if not len(ratings):
        raise ParameterError("there is no rater; give the ratings of each, in one order of units")
    if len({len(rater) for rater in ratings}) > 1:
        raise ParameterError("the raters differ in length; give None where one gave no rating")
    flat = pd.Series([value for rater in ratings for value in rater], dtype=object)
    return pd.factorize(flat, use_na_sentinel=True)[0].reshape(len(ratings), -1)


def _kept(labels: Labels | None, chosen: npt.NDArray[np.bool_]) -> Labels | None:
    return None if labels is None else clusters.codes_of(labels)[chosen]


def _estimate(
    apart: Floats,
    weights: Floats,
    columns: Floats,
    chance: Chance,
    labels: Labels | None,
) -> Estimate:
    n = len(apart)
    if n == 0:
        return NoInterval("no unit was rated twice")
    grouped = clusters.group([apart, weights, *columns.T], labels)
    by_cluster, sums = grouped.totals, grouped.totals[:, 2:]
    expected = float(chance(sums.sum(0)))
    # Up to rounding errors.
    if expected < 1e-12:
        return NoInterval(UNDEFINED, None, n)
    estimate = 1 - float(apart.sum() / weights.sum()) / expected
    if clusters.kish(grouped.sizes) < 2:
        return NoInterval(TOO_FEW, None, n, estimate)
    lower, upper = agreement_limits(by_cluster[:, 0], by_cluster[:, 1], sums, chance)
    return around(estimate, float(lower), float(upper), None, n, METHOD)
