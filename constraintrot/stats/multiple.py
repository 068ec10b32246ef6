"""Several comparisons at once."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

import numpy as np

from constraintrot.stats.interval import Floats


def holm(p_values: Sequence[float]) -> list[float]:
    """P-values adjusted so that any one below alpha is so over the whole family (Holm 1979)."""
    if len(p_values) < 2:
        # multipletests collects garbage at each call, which takes longer than all else here.
        return list(p_values)
    # statsmodels ships no type information; what is used of it is annotated here.
    multitest = import_module("statsmodels.stats.multitest")
    adjusted: Floats = multitest.multipletests(np.asarray(p_values), method="holm")[1]
    return [float(p) for p in adjusted]
