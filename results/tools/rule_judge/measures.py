"""How good scores are: separation by kind, calibration, and a threshold."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

from constraintrot.rule_text.rule_judge.reading import probability
from results.tools.roc import auc
from results.tools.rule_judge.generator import Example

Scored: TypeAlias = Sequence[tuple[Example, float]]


@dataclass(frozen=True)
class Bin:
    """One bar of a reliability diagram: mean probability against the share that breaks."""

    count: int
    probability: float
    share: float


def auc_of(scored: Scored) -> float:
    """Chance that a forbidden request scores above an allowed one; nan without both."""
    breaking = [score for example, score in scored if example.breaks]
    keeping = [score for example, score in scored if not example.breaks]
    return auc(breaking, keeping)


def auc_by_kind(scored: Scored) -> dict[str, float]:
    """AUC inside each kind, and over ``all``."""
    names = sorted({example.kind for example, _ in scored})
    parts = {name: [pair for pair in scored if pair[0].kind == name] for name in names}
    return {name: round(auc_of(part), 3) for name, part in {"all": scored, **parts}.items()}


def brier(scored: Scored) -> float:
    """Mean squared distance of the probability from the label."""
    return sum((probability(score) - ex.breaks) ** 2 for ex, score in scored) / len(scored)


def reliability(scored: Scored, bins: int = 5) -> list[Bin]:
    """Bins of equal width over the probability; empty ones are left out."""
    filled: dict[int, list[tuple[float, bool]]] = {}
    for example, score in scored:
        chance = probability(score)
        filled.setdefault(min(int(chance * bins), bins - 1), []).append((chance, example.breaks))
    return [
        Bin(len(members), _mean([c for c, _ in members]), _mean([float(b) for _, b in members]))
        for _, members in sorted(filled.items())
    ]


def threshold(scored: Scored) -> float:
    """The log-odds above which the answer is yes: the middle of the best gap.

    Best is the highest mean of the rates right among forbidden and among allowed
    requests, so the mix of the set does not move it; of equally good gaps the
    widest is taken.

    Raises:
        ValueError: The set lacks forbidden or allowed requests.
    """
    if math.isnan(auc_of(scored)):
        raise ValueError("a threshold needs forbidden and allowed requests")
    levels = sorted({score for _, score in scored})
    gaps = list(pairwise(levels))
    low, high = max(gaps, key=lambda gap: (_balanced(scored, sum(gap) / 2), gap[1] - gap[0]))
    return (low + high) / 2


def _balanced(scored: Scored, limit: float) -> float:
    """Mean of the rates right on both sides of a threshold."""
    return _mean([rates for rates in right(scored, limit)])


def right(scored: Scored, limit: float) -> tuple[float, float]:
    """Share of forbidden requests above a threshold, and of allowed ones at or below it."""
    breaking = [float(score > limit) for example, score in scored if example.breaks]
    keeping = [float(score <= limit) for example, score in scored if not example.breaks]
    return _mean(breaking), _mean(keeping)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else math.nan
