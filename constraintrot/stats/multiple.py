"""Correction for multiple comparisons."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def holm(p_values: Sequence[float]) -> list[float]:
    """P-values adjusted for the family-wise error rate (Holm 1979), in the same order."""
    values = np.asarray(p_values, np.float64)
    order = np.argsort(values, kind="stable")
    # The least is multiplied by their number, the next by one less; none falls below one before.
    raised = np.maximum.accumulate(values[order] * np.arange(len(values), 0, -1))
    adjusted = np.empty(len(values))
    adjusted[order] = np.minimum(raised, 1)
    return [float(p) for p in adjusted]
