"""Outcomes by cluster, and confidence limits of a rate of clustered episodes.

A cluster is one variant of one family, whose replicates are not independent. All
functions take arrays of shape (..., clusters) and work along the last axis, so that
the coverage check runs the same code as the report.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

# Not scipy.stats, which takes seconds to import: Inspect's live metrics import this module.
from scipy import special

from constraintrot.errors import ParameterError
from constraintrot.stats.interval import CONFIDENCE, Floats
from constraintrot.stats.matching import dense

# With fewer clusters that have both outcomes, the estimated design effect is only partly
# trusted. Chosen by the coverage check: with 8 the worst cell covers .932, with 12 .937.
TRUSTED = 12


@dataclass(frozen=True)
class Clusters:
    """Totals by cluster: sums of each column, shape (clusters, columns), and episodes."""

    totals: Floats
    sizes: Floats

    @property
    def single(self) -> bool:
        """Whether episodes are independent: every cluster is one episode."""
        return bool((self.sizes == 1).all())

    def column(self, at: int) -> Floats:
        return self.totals[:, at]


def group(
    columns: Sequence[npt.ArrayLike], labels: Sequence[Hashable] | npt.NDArray[Any] | None
) -> Clusters:
    """Sum columns of finite numbers within clusters, in linear time."""
    values = [numbers(column) for column in columns]
    n = len(values[0])
    if any(value.shape != (n,) for value in values):
        raise ParameterError("outcomes of the arms differ in length; give one value an episode")
    if not all(np.isfinite(value).all() for value in values):
        raise ParameterError(
            "an outcome is missing; leave unscored episodes out, and see stats.bounds for them"
        )
    if labels is None:
        return Clusters(np.stack(values, axis=1), np.ones(n))
    codes = codes_of(labels)
    if len(codes) != n:
        raise ParameterError(f"{len(codes)} cluster labels for {n} episodes")
    count = int(codes.max(initial=-1)) + 1
    sums = [np.bincount(codes, value, count).astype(np.float64) for value in values]
    return Clusters(np.stack(sums, axis=1), np.bincount(codes, minlength=count).astype(np.float64))


def codes_of(labels: Sequence[Hashable] | npt.NDArray[Any]) -> npt.NDArray[np.intp]:
    """Hashable labels as codes 0, 1, 2 ..., shape (episodes,)."""
    if isinstance(labels, np.ndarray) and labels.ndim == 1 and labels.dtype.kind in "iu":
        smallest, largest = int(labels.min(initial=0)), int(labels.max(initial=0))
        if largest - min(smallest, 0) > np.iinfo(np.intp).max:
            return np.unique(labels, return_inverse=True)[1]
        return dense(labels.astype(np.intp) - min(smallest, 0))[0]
    import pandas as pd

    keys = pd.Series(list(labels), dtype=object)
    return pd.factorize(keys, use_na_sentinel=False)[0]


def numbers(values: npt.ArrayLike) -> Floats:
    try:
        return np.asarray(values, np.float64)
    except (TypeError, ValueError) as error:
        raise ParameterError(f"an outcome is no number: {error}; give 0 and 1") from error


def binary(*columns: Floats) -> None:
    if not all(np.isin(column, (0, 1)).all() for column in columns):
        raise ParameterError("an outcome is neither 0 nor 1; a rate counts yes and no only")


def kish(sizes: Floats) -> Floats:
    """Effective number of clusters (Kish 1965), shape (...); their number if all have one size."""
    return quotient(np.asarray(sizes.sum(-1) ** 2), np.asarray((sizes**2).sum(-1)))


def quotient(over: Floats, under: Floats, otherwise: float = 0.0) -> Floats:
    """``over / under``, and ``otherwise`` where ``under`` is not above 0."""
    result: Floats = np.full(np.shape(under), otherwise)
    np.divide(over, under, out=result, where=np.asarray(under) > 0)
    return result


def variance(residuals: Floats, sizes: Floats) -> Floats:
    """Variance of a pooled rate by linearisation over clusters (Cochran 1977, section 6).

    Residuals are hits minus the pooled rate times the size.
    """
    c = residuals.shape[-1]
    return np.asarray(c / max(c - 1, 1) * (residuals**2).sum(-1) / sizes.sum(-1) ** 2)


def informative(hits: Floats, sizes: Floats) -> Floats:
    """Effective number of clusters that have the rarer outcome, shape (...).

    Kish's number of all clusters times the share of the episodes in clusters with that outcome;
    for clusters of one size, the number of those clusters. Kish's number of those alone would
    count a hundred small clusters in full although the few large ones all agree.
    """
    return kish(sizes) * np.minimum(_part(sizes, hits > 0), _part(sizes, hits < sizes))


def _part(sizes: Floats, chosen: npt.NDArray[np.bool_]) -> Floats:
    return quotient(np.where(chosen, sizes, 0.0).sum(-1), np.asarray(sizes.sum(-1)))


def effective_n(
    hits: Floats,
    sizes: Floats,
    confidence: float = CONFIDENCE,
    most: Floats | None = None,
    *,
    alone: bool = False,
) -> Floats:
    """Return the effective sample size: the number of independent episodes of equal variance.

    Korn and Graubard (1998): the rate's binomial variance over its clustered
    variance, scaled by squared t quantiles because that variance is estimated from
    few clusters (here their Kish number). A design effect below one is taken as one.
    If few clusters (by Kish's number again) have both outcomes, the estimate is moved
    linearly towards the number of clusters, which is correct at an intra-cluster
    correlation of one. A cell with a single outcome gets that number.

    It is at most ``most``, by default the number of episodes. For an interval of this rate alone,
    not of a difference, the number of clusters is a lower bound.
    """
    n = sizes.sum(-1) if most is None else most
    pooled = hits.sum(-1) / sizes.sum(-1)
    spread = variance(hits - pooled[..., None] * sizes, sizes)
    binomial = pooled * (1 - pooled)
    trust = _trust(informative(hits, sizes), sizes)
    estimated = _estimated(quotient(binomial, spread, np.inf), n, sizes, confidence, alone)
    clusters = kish(sizes)
    return np.where(binomial > 0, clusters + trust * (estimated - clusters), clusters)


def least_effective_n(
    low: Floats, high: Floats, sizes: Floats, confidence: float = CONFIDENCE, *, alone: bool = False
) -> Floats:
    """Return a lower bound of ``effective_n`` over all hits from ``low`` to ``high``, shape (...)."""
    n = sizes.sum(-1)
    ends = low.sum(-1) / n, high.sum(-1) / n
    rarer = np.minimum(ends[0], 1 - ends[1])
    # The variance is bounded twice: by each cluster's range, and by replicates that all agree.
    residuals = np.maximum(*(one**2 for one in residual_range(low, high, sizes)))
    ranged = quotient(
        np.minimum(*(end * (1 - end) for end in ends)), variance(np.sqrt(residuals), sizes), np.inf
    )
    c = sizes.shape[-1]
    agreeing = (1 - rarer) * n**2 * max(c - 1, 1) / c
    agreeing = agreeing / ((1 - 2 * rarer) * sizes.max(-1) * n + rarer * (sizes**2).sum(-1))
    estimated = _estimated(np.maximum(ranged, agreeing), n, sizes, confidence, alone)
    clusters = kish(sizes)
    trusts = [
        _trust(clusters * np.minimum(_part(sizes, some), _part(sizes, others)), sizes)
        for some, others in ((low > 0, high < sizes), (high > 0, low < sizes))
    ]
    return np.asarray(np.minimum(*(clusters + one * (estimated - clusters) for one in trusts)))


def residual_range(low: Floats, high: Floats, sizes: Floats) -> tuple[Floats, Floats]:
    """Return the least and the largest residual of each cluster over all hits in a range."""
    ends = [(one.sum(-1) / sizes.sum(-1))[..., None] for one in (low, high)]
    return low - ends[1] * sizes, high - ends[0] * sizes


def _estimated(ratio: Floats, n: Floats, sizes: Floats, confidence: float, alone: bool) -> Floats:
    """The effective sample size from the ratio of the variances, as ``effective_n`` trusts it in full."""
    clusters = kish(sizes)
    estimated = np.minimum(ratio, n)
    tail = (1 + confidence) / 2
    few = special.stdtrit(np.maximum(n - 1, 1), tail)
    few = few / special.stdtrit(np.maximum(clusters - 1, 0.5), tail)
    estimated = np.minimum(estimated * few**2, n)
    if alone:
        # Even replicates that all agree are worth one episode per cluster. (For a difference this
        # bound covers too little, because the arms' correlation is estimated too.)
        estimated = np.maximum(estimated, np.minimum(clusters, n))
    return estimated


def _trust(informative: Floats, sizes: Floats) -> Floats:
    """How far the estimated design effect is trusted, from 0 to 1."""
    # A few large clusters among many small ones determine the estimate, and the small ones must
    # not vouch for it: they add to the number that has to be reached, and not to what is there.
    unequal = quotient(np.asarray((sizes > 0).sum(-1), np.float64), kish(sizes))
    enough = np.maximum(np.minimum(TRUSTED * unequal, sizes.shape[-1]) - 1, 1)
    return np.asarray(np.clip((informative - 1) / enough, 0, 1))


def limits(
    hits: Floats,
    sizes: Floats,
    confidence: float = CONFIDENCE,
    most: Floats | None = None,
    *,
    alone: bool = False,
) -> tuple[Floats, Floats]:
    """Clopper-Pearson limits at the effective sample size, each of shape (...)."""
    n = effective_n(hits, sizes, confidence, most, alone=alone)
    return clopper_pearson(hits.sum(-1) / sizes.sum(-1) * n, n, confidence)


def clopper_pearson(k: Floats, n: Floats, confidence: float = CONFIDENCE) -> tuple[Floats, Floats]:
    """Exact limits of k of n; both may be fractions, for an effective sample size."""
    k, n = np.asarray(k, np.float64), np.asarray(n, np.float64)
    tail = (1 - confidence) / 2
    # A beta distribution's parameters are above 0; at the edges the limit is 0 or 1.
    lower = np.where(k <= 0, 0.0, special.betaincinv(np.maximum(k, 1e-300), n - k + 1, tail))
    rest = np.maximum(n - k, 1e-300)
    upper = np.where(k >= n, 1.0, special.betaincinv(k + 1, rest, 1 - tail))
    return lower, upper
