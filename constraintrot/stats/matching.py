"""Matching of rows that are equal in some columns, of frames that hold each such row once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import pandas as pd

Positions = npt.NDArray[np.intp]


@dataclass(frozen=True)
class Matching:
    """The distinct rows of several frames, in the lexicographic order of the key columns.

    Attributes:
        positions: by frame, the position of each distinct row in it; -1 where it has none.
            If a frame has a row several times, that of its last.
        again: by frame, how many of its rows are there before.
    """

    positions: list[Positions]
    again: list[int]


def match(parts: Sequence[pd.DataFrame], keys: Sequence[str]) -> Matching:
    """Match the rows of frames; gaps are equal to each other, and last.

    Args:
        parts: the frames.
        keys: columns that they all have.
    """
    block = np.concatenate([part[list(keys)].to_numpy(object) for part in parts])
    ids = np.zeros(len(block), np.intp)
    # Most settings are the same in all episodes; those that are not take long.
    for at in np.flatnonzero([(column != column[0]).any() for column in block.T]):
        ids = np.unique(_ranks(block[:, at]) + ids * (len(block) + 1), return_inverse=True)[1]
    positions: list[Positions] = []
    again: list[int] = []
    for own in np.split(ids, np.cumsum([len(part) for part in parts])[:-1]):
        found = np.full(int(ids.max()) + 1, -1)
        found[own] = np.arange(len(own))
        positions.append(found)
        again.append(len(own) - int((found >= 0).sum()))
    return Matching(positions, again)


def taken(values: npt.NDArray[np.float64], positions: Positions) -> npt.NDArray[np.float64]:
    """The values at positions; nan where there is none."""
    return np.where(positions < 0, np.nan, values[positions])


def _ranks(column: npt.NDArray[Any]) -> Positions:
    """The rank of each value among the distinct ones."""
    import pandas as pd

    codes, distinct = pd.factorize(column, sort=True)
    return np.where(codes < 0, len(distinct), codes).astype(np.intp)
