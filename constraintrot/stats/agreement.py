"""Agreement of two or more raters beyond chance: Cohen's kappa and Krippendorff's alpha."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from constraintrot.errors import ParameterError
from constraintrot.stats import bootstrap, clusters
from constraintrot.stats.interval import CONFIDENCE, Estimate, Floats, NoInterval, around
from constraintrot.stats.rate import Labels

UNDEFINED = "all ratings are the same, so agreement beyond chance is not defined"
TOO_ALIKE = "too few units that differ for an interval"
TOO_FEW = "fewer than 50 clusters, where the bootstrap of an agreement covers too little"
# In simulation it covers 91 % at 30 and less below.
_LEAST_CLUSTERS = 50
# Share of resamples that may be undefined, because they have one category only.
_UNDEFINED_SHARE = 0.05

Disagreement: TypeAlias = Callable[[Floats], tuple[Floats, Floats]]
"""Maps column sums to the observed disagreement and the disagreement expected by chance."""


def cohen_kappa(
    first: Sequence[Hashable],
    second: Sequence[Hashable],
    labels: Labels | None = None,
    *,
    confidence: float = CONFIDENCE,
    resamples: int = bootstrap.RESAMPLES,
    seed: int = 0,
) -> Estimate:
    """Cohen's (1960) kappa of two raters, with a percentile bootstrap over clusters.

    Args:
        first: the first rater's category of each unit; None or nan where there is
            none. Such a unit is not counted.
        second: the second rater's categories of the same units.
        labels: cluster of each unit; None: every unit is its own cluster.
        confidence: nominal coverage.
        resamples: number of bootstrap resamples.
        seed: seed of the bootstrap.

    Raises:
        ParameterError: the raters differ in length.
    """
    ratings = _coded([first, second])
    known = np.asarray((ratings >= 0).all(0), bool)
    ratings = ratings[:, known]
    size = int(ratings.max(initial=0)) + 1

    def disagreement(sums: Floats) -> tuple[Floats, Floats]:
        table = sums.reshape(*sums.shape[:-1], size, size)
        n = table.sum((-2, -1))
        observed = np.trace(table, axis1=-2, axis2=-1) / n
        chance = (table.sum(-1) * table.sum(-2)).sum(-1) / n**2
        return 1 - observed, 1 - chance

    cells = np.eye(size * size)[ratings[0] * size + ratings[1]]
    return _interval(cells, disagreement, _kept(labels, known), confidence, resamples, seed)


def krippendorff_alpha(
    ratings: Sequence[Sequence[Hashable]],
    labels: Labels | None = None,
    *,
    confidence: float = CONFIDENCE,
    resamples: int = bootstrap.RESAMPLES,
    seed: int = 0,
) -> Estimate:
    """Krippendorff's (2011) alpha of nominal ratings, with a percentile bootstrap over clusters.

    Args:
        ratings: categories, shape (raters, units); None or nan where a rater gave
            none. Units with fewer than two ratings are not counted.
        labels: cluster of each unit; None: every unit is its own cluster.
        confidence: nominal coverage.
        resamples: number of bootstrap resamples.
        seed: seed of the bootstrap.

    Raises:
        ParameterError: the raters differ in length.
    """
    coded = _coded(ratings)
    size = int(coded.max(initial=0)) + 1
    counts = np.stack([(coded == value).sum(0) for value in range(size)], axis=1).astype(np.float64)
    paired = counts.sum(1) > 1
    counts = counts[paired]
    agreeing = (counts * (counts - 1)).sum(1) / (counts.sum(1) - 1)

    def disagreement(sums: Floats) -> tuple[Floats, Floats]:
        values, same = sums[..., :-1], sums[..., -1]
        n = values.sum(-1)
        chance = (values * (values - 1)).sum(-1) / (n * (n - 1))
        return 1 - same / n, 1 - chance

    columns = np.column_stack([counts, agreeing])
    return _interval(columns, disagreement, _kept(labels, paired), confidence, resamples, seed)


def _coded(ratings: Sequence[Sequence[Hashable]]) -> npt.NDArray[np.intp]:
    """Categories as 0, 1, 2 ..., shape (raters, units); -1 for a missing rating."""
    import pandas as pd

    if len({len(rater) for rater in ratings}) > 1:
        raise ParameterError("the raters differ in length; give None where one gave no rating")
    flat = pd.Series([value for rater in ratings for value in rater], dtype=object)
    return pd.factorize(flat, use_na_sentinel=True)[0].reshape(len(ratings), -1)


def _kept(labels: Labels | None, chosen: npt.NDArray[np.bool_]) -> Labels | None:
    return None if labels is None else clusters.codes_of(labels)[chosen]


def _interval(
    columns: Floats,
    disagreement: Disagreement,
    labels: Labels | None,
    confidence: float,
    resamples: int,
    seed: int,
) -> Estimate:
    n = len(columns)
    if n == 0:
        return NoInterval("no unit was rated twice")

    def beyond(sums: Floats) -> Floats:
        observed, chance = disagreement(sums)
        # An expected disagreement of 0, up to rounding errors.
        certain = np.where(chance > 1e-12, chance, 0)
        return 1 - clusters.quotient(observed, certain, np.nan)

    grouped = clusters.group(list(columns.T), labels)
    totals = grouped.totals
    estimate = float(beyond(totals.sum(0)))
    if np.isnan(estimate):
        return NoInterval(UNDEFINED, None, n)
    if clusters.kish(grouped.sizes) < _LEAST_CLUSTERS:
        return NoInterval(TOO_FEW, None, n, estimate)
    if estimate == 1:
        # No resample disagrees, so the limit is that of 0 disagreements in that many clusters.
        size = np.asarray(len(totals), np.float64)
        hidden = float(clusters.clopper_pearson(np.zeros(()), size, confidence)[1])
        lower = 1 - hidden / float(disagreement(totals.sum(0))[1])
        return around(1.0, lower, 1.0, None, n, "Clopper-Pearson of the disagreement, 0 seen")
    resampled = bootstrap.resample(totals, beyond, resamples, seed)
    if len(totals) < 2 or np.isnan(resampled).mean() > _UNDEFINED_SHARE:
        return NoInterval(TOO_ALIKE, None, n, estimate)
    lower, upper = bootstrap.percentile(resampled, confidence, len(totals))
    if lower == upper:
        return NoInterval(TOO_ALIKE, None, n, estimate)
    name = "cluster bootstrap, expanded percentiles"
    return around(estimate, lower, upper, None, n, name)
