"""The cluster bootstrap, seeded, in time linear in the number of episodes.

Statistics are functions of column sums, so a resample is determined by how often
each cluster was drawn. Clusters with equal totals are drawn together. Outcomes are
0 or 1 and clusters are small, so there are often few kinds of clusters, and one
resample of a hundred thousand episodes draws only a few numbers.
"""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

# Not scipy.stats, which takes seconds to import: Inspect's live metrics import this module.
from scipy import special

from constraintrot.stats.interval import CONFIDENCE, Floats

Statistic: TypeAlias = Callable[[Floats], Floats]
"""Maps column sums, shape (..., columns), to the statistic, shape (...)."""

RESAMPLES = 10_000
# A binomial draw takes as long as this many draws of a cluster.
_BINOMIAL = 40
# Numbers in memory at once: small enough for the CPU's cache.
_CHUNK = 100_000


def resample(
    totals: Floats, statistic: Statistic, resamples: int = RESAMPLES, seed: int = 0
) -> Floats:
    """Return the statistic of each resample, shape (resamples,), by column sums of clusters."""
    kinds, counts = np.unique(totals, axis=0, return_counts=True)
    rng = np.random.default_rng(seed)
    few = len(kinds) * _BINOMIAL < len(totals)
    step = max(1, _CHUNK // (len(kinds) if few else len(totals)))
    chunks: list[Floats] = []
    for start in range(0, resamples, step):
        drawn = min(step, resamples - start)
        sums = _by_kind(kinds, counts, drawn, rng) if few else _one_by_one(totals, drawn, rng)
        chunks.append(statistic(sums))
    return np.concatenate(chunks)


def _by_kind(
    kinds: Floats, counts: npt.NDArray[np.intp], resamples: int, rng: np.random.Generator
) -> Floats:
    """Column sums of resamples, by drawing kinds of clusters."""
    clusters = int(counts.sum())
    drawn = rng.multinomial(clusters, counts / clusters, resamples)
    return np.asarray(drawn.astype(np.float64) @ kinds)


def _one_by_one(totals: Floats, resamples: int, rng: np.random.Generator) -> Floats:
    """Column sums of resamples, by drawing single clusters."""
    clusters = len(totals)
    drawn = rng.integers(0, clusters, (resamples, clusters), dtype=np.uint32)
    sums = np.empty((resamples, totals.shape[1]))
    for at, column in enumerate(totals.T):
        equal = (column == column[0]).all()
        sums[:, at] = clusters * column[0] if equal else column.take(drawn).sum(1)
    return sums


def jackknife(totals: Floats, statistic: Statistic) -> Floats:
    """Return the statistic without each cluster in turn, shape (..., clusters)."""
    return statistic(totals.sum(-2, keepdims=True) - totals)


def bca(
    resampled: Floats,
    estimate: Floats,
    without: Floats,
    confidence: float = CONFIDENCE,
    clusters: Floats | None = None,
) -> tuple[Floats, Floats]:
    """Bias-corrected and accelerated limits (Efron 1987).

    The first axis of ``resampled`` has the resamples, the last one of ``without`` the jackknife's
    clusters. With an effective number of ``clusters`` the tails are widened for few of them, as
    Hesterberg (2015) expands percentiles.
    """
    below: Floats = (resampled < estimate).mean(0) + (resampled <= estimate).mean(0)
    edge = 1 / (2 * len(resampled))
    bias: Floats = special.ndtri(np.clip(below / 2, edge, 1 - edge))
    away = without.mean(-1, keepdims=True) - without
    squares = (away**2).sum(-1)
    skew: Floats = np.zeros(np.shape(squares))
    np.divide((away**3).sum(-1), 6 * squares**1.5, out=skew, where=squares > 0)
    ordered = np.sort(resampled, axis=0)
    limits: list[Floats] = []
    for z in _tails(confidence, clusters):
        moved: Floats = bias + z
        score: Floats = bias + moved / (1 - skew * moved)
        limits.append(_quantile(ordered, special.ndtr(score)))
    return limits[0], limits[1]


def _tails(confidence: float, clusters: Floats | None) -> tuple[Floats, Floats]:
    tail = (1 + confidence) / 2
    if clusters is None:
        z = np.asarray(special.ndtri(tail))
    else:
        spare = np.maximum(clusters - 1, 0.5)
        z = np.sqrt(clusters / spare) * special.stdtrit(spare, tail)
    return -z, z


def _quantile(ordered: Floats, share: Floats) -> Floats:
    """Quantiles of sorted columns, each column at another share, by linear interpolation."""
    last = len(ordered) - 1
    place = np.clip(share, 0, 1) * last
    low = np.floor(place).astype(np.intp)
    high = np.minimum(low + 1, last)
    left = np.take_along_axis(ordered, low[None], 0)[0]
    right = np.take_along_axis(ordered, high[None], 0)[0]
    return np.asarray(left + (place - low) * (right - left))
