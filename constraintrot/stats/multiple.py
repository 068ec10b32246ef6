"""Correction for multiple comparisons."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

import numpy as np

from constraintrot.stats.interval import Floats


def holm(p_values: Sequence[float]) -> list[float]:
    """P-values adjusted for the family-wise error rate (Holm 1979), in the same order."""
    if len(p_values) < 2:
        # multipletests runs the garbage collector at each call, which is slow.
        return list(p_values)
    # statsmodels has no type information, so the result is annotated here.
    multitest = import_module("statsmodels.stats.multitest")
    adjusted: Floats = multitest.multipletests(np.asarray(p_values), method="holm")[1]
    return [float(p) for p in adjusted]
