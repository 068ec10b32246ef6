"""The separation of two groups by their scores."""

from __future__ import annotations

from collections.abc import Sequence


def auc(above: Sequence[float], below: Sequence[float]) -> float:
    """Area under the ROC curve: the chance that one of ``above`` is higher than one of ``below``.

    Ties count half; nan without either.
    """
    pairs = [(a > b) + (a == b) / 2 for a in above for b in below]
    return sum(pairs) / len(pairs) if pairs else float("nan")
