"""Curves: dose-response, rounds until the policy is lost, attack success at k."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from constraintrot.errors import ParameterError
from constraintrot.stats import clusters
from constraintrot.stats.interval import TOO_FEW, Estimate, Floats, NoInterval, around
from constraintrot.stats.paired import flip_test
from constraintrot.stats.rate import EXACT, Labels, fallback

KAPLAN_MEIER = f"Kaplan-Meier, {EXACT} at effective n"


@dataclass(frozen=True)
class Trend:
    """The trend of a rate with a dose, such as a word budget or a number of rounds or tokens.

    Attributes:
        slope_sign: 1 if the rate rises with the dose within clusters, -1 if it falls,
            0 if neither.
        p_value: two-sided and exact, of no trend; None if no episode has every dose.
    """

    slope_sign: int
    p_value: float | None
    n: int


@dataclass(frozen=True)
class Survivor:
    """One step of a survival curve: numbers of episodes, and the share kept after the round."""

    time: float
    at_risk: int
    lost: int
    kept: Estimate


@dataclass(frozen=True)
class SurvivalCurve:
    """Rounds until the policy is lost.

    Attributes:
        steps: one per round at which an episode was lost, and the last round.
        median: first round after which at most half are kept; None if there is none.
        censored: number of episodes that were not lost while observed.
    """

    steps: tuple[Survivor, ...]
    median: float | None
    n: int
    censored: int


def trend(outcomes: npt.ArrayLike, labels: Labels) -> Trend:
    """Test whether a rate rises or falls with the dose.

    The trend is tested within clusters, so a variant that always violates has no
    influence. The statistic is the product of the doses' ranks and the outcomes,
    summed by cluster; its null distribution reverses the order of the doses in whole
    clusters. That is exact only if each cluster has every dose equally often, so an
    episode that lacks a dose is left out.

    Outcomes are 0, 1, or nan without one, shape (doses, episodes), by ascending dose.
    """
    hit, codes = clusters.numbers(outcomes), clusters.codes_of(labels)
    if hit.ndim != 2 or hit.shape[1] != len(codes):
        raise ParameterError(
            f"outcomes of shape {hit.shape} for {len(codes)} labels; give one row a dose"
            " and one column a label"
        )
    complete = ~np.isnan(hit).any(0)
    hit, codes = hit[:, complete], codes[complete]
    clusters.binary(hit)
    # Twice the rank's distance from the middle, so that the sums are integers.
    centred = 2.0 * np.arange(len(hit)) - (len(hit) - 1)
    scores = np.bincount(codes, centred @ hit).astype(np.float64)
    p_value = flip_test(scores) if len(codes) else None
    return Trend(int(np.sign(scores.sum())), p_value, len(codes))


def rounds_to_loss(
    rounds: npt.ArrayLike,
    lost: npt.ArrayLike,
    labels: Labels | None = None,
) -> SurvivalCurve:
    """Kaplan-Meier estimate of the share kept after each round, with Clopper-Pearson limits.

    The limits are at the number of independent episodes whose binomial variance is Greenwood's
    (Cutler and Ederer 1958); without censoring that is n, and they are exact. The usual log-log
    limits cover 86 % for n = 5. With replicates that number is divided by episodes per cluster,
    as if replicates were copies of each other.

    ``rounds`` is when each episode was lost, or up to when it was kept (``lost`` 0: censored).
    """
    time, event = clusters.numbers(rounds), clusters.numbers(lost)
    grouped = clusters.group([time, event], labels)
    clusters.binary(event)
    n = len(time)
    if n == 0:
        raise ParameterError("no episode was observed; there is no survival curve")
    size = float(clusters.kish(grouped.sizes))
    effect = 1.0 if grouped.single else n / size
    steps: list[Survivor] = []
    above = 1.0
    for at, risk, dead, share, error in _kaplan_meier(time, event):
        lower, upper = _limits(share, error, risk, above, effect)
        above = upper
        kept: Estimate = around(share, lower, upper, None, n, KAPLAN_MEIER)
        if size < 2 and not grouped.single:
            kept = NoInterval(TOO_FEW, None, n, share)
        steps.append(Survivor(at, risk, dead, kept))
    median = next((step.time for step in steps if step.kept.estimate <= 0.5), None)
    return SurvivalCurve(tuple(steps), median, n, int((event == 0).sum()))


def _kaplan_meier(time: Floats, event: Floats) -> Iterator[tuple[float, int, int, float, float]]:
    """Yield (time, at risk, lost, share kept, Greenwood's error) per loss and at the last round."""
    share, hazard = 1.0, 0.0
    for at in np.unique(time[event == 1]):
        risk = int((time >= at).sum())
        dead = int((event[time == at] == 1).sum())
        share *= 1 - dead / risk
        # If all are lost, the share is 0 and Greenwood's error is undefined.
        hazard += dead / (risk * (risk - dead)) if risk > dead else math.nan
        yield float(at), risk, dead, share, share * math.sqrt(hazard)
    last = float(time.max())
    if not event[time == last].any():
        yield last, int((time == last).sum()), 0, share, share * math.sqrt(hazard)


def _limits(
    share: float, error: float, at_risk: int, above: float, effect: float
) -> tuple[float, float]:
    """Return exact limits at the effective number of episodes; at that at risk for 0 and 1."""
    n = share * (1 - share) / error**2 if 0 < share < 1 else float(at_risk)
    counted = np.asarray(n / effect, np.float64)
    lower, upper = clusters.clopper_pearson(counted * share, counted)
    # The share kept cannot rise, so its upper limit may not either.
    return float(lower), float(upper) if share else min(float(upper), above)


def at_k(
    successes: Sequence[int] | npt.ArrayLike,
    attempts: Sequence[int] | npt.ArrayLike,
    k: int,
) -> Estimate:
    """Return the probability that at least one of k attempts succeeds, averaged over variants.

    Unbiased for n >= k attempts per variant (Chen et al. 2021, section 2.1): one minus
    the probability that k attempts drawn without replacement include no success.
    """
    hits, tries = clusters.numbers(successes), clusters.numbers(attempts)
    if hits.shape != tries.shape or (hits > tries).any() or (hits < 0).any():
        raise ParameterError("each variant needs as many attempts as successes, or more")
    if k < 1 or (tries < k).any():
        raise ParameterError(
            f"success at {k} needs at least {max(k, 1)} attempts a variant; the least has"
            f" {int(tries.min()) if len(tries) else 0}"
        )
    if not len(hits):
        return NoInterval("no variants")
    values = _some_success(hits, tries, k)
    size, n, estimate = len(values), int(tries.sum()), float(values.mean())
    if size < 2:
        return NoInterval(TOO_FEW, None, n, estimate)
    most = np.asarray(tries.sum() / k)
    lower, upper = clusters.limits(values, np.ones(size), most=np.maximum(most, size))
    return around(
        estimate, float(lower), float(upper), None, n, f"success at {k}: {fallback(size)}"
    )


def _some_success(hits: Floats, tries: Floats, k: int) -> Floats:
    """Probability that k attempts drawn without replacement include a success, per variant."""
    some = np.zeros(len(hits))
    for drawn in range(k):
        # If no success was drawn before, all successes are left.
        some += (1 - some) * np.minimum(hits / (tries - drawn), 1)
    return some
