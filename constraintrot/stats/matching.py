"""Matching of the rows of several frames that are equal in some columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import pandas as pd

Positions = npt.NDArray[np.intp]
# Largest product of the numbers of distinct values that is safe in 64 bits.
_LARGEST = 1 << 62
# Largest number, as a multiple of the rows, up to which numbers are ranked by a table.
_SPARSE = 16


@dataclass(frozen=True)
class Matching:
    """The distinct rows of several frames, in the lexicographic order of the key columns.

    Attributes:
        positions: by frame, the position of each distinct row in it, the last one if it is
            repeated; -1 if the frame lacks the row.
        again: by frame, the number of rows that repeat an earlier one.
    """

    positions: list[Positions]
    again: list[int]


def match(parts: Sequence[pd.DataFrame], keys: Sequence[str]) -> Matching:
    """Match the rows of frames; missing values are equal to each other and sort last."""
    ids = numbered(parts, keys)
    positions: list[Positions] = []
    again: list[int] = []
    for own in np.split(ids, np.cumsum([len(part) for part in parts])[:-1]):
        found = np.full(int(ids.max()) + 1, -1)
        found[own] = np.arange(len(own))
        positions.append(found)
        again.append(len(own) - int((found >= 0).sum()))
    return Matching(positions, again)


def numbered(parts: Sequence[pd.DataFrame], keys: Sequence[str]) -> Positions:
    """Number the rows of all frames, in the lexicographic order of the key columns.

    Equal rows have equal numbers, from 0 without gaps; missing values are equal to each other and
    sort last. Takes time linear in the rows if the keys have few distinct values.
    """
    rows = sum(len(part) for part in parts)
    ids, distinct = np.zeros(rows, np.intp), 1
    for key in keys:
        ranks, count = _ranks([part[key] for part in parts])
        # Most settings are the same in all episodes.
        if count < 2:
            continue
        if distinct * count > _LARGEST:
            ids, distinct = dense(ids)
        ids = ids * count + ranks
        distinct *= count
    return dense(ids)[0]


def dense(numbers: Positions) -> tuple[Positions, int]:
    """Return the ranks of non-negative numbers among the distinct ones, and the number of these."""
    largest = int(numbers.max(initial=-1)) + 1
    if largest > _SPARSE * len(numbers) + 1:
        found, ranks = np.unique(numbers, return_inverse=True)
        return ranks, len(found)
    present = np.zeros(largest, bool)
    present[numbers] = True
    places = np.cumsum(present) - 1
    return places[numbers], int(present.sum())


def taken(values: npt.NDArray[np.float64], positions: Positions) -> npt.NDArray[np.float64]:
    """Values at positions; nan at a position of -1."""
    return np.where(positions < 0, np.nan, values[positions])


def _ranks(columns: Sequence[pd.Series[Any]]) -> tuple[Positions, int]:
    """Return the rank of each value among the distinct ones, and a bound of the number of ranks."""
    import pandas as pd

    kinds = [column.dtype for column in columns]
    coded = [kind.categories for kind in kinds if isinstance(kind, pd.CategoricalDtype)]
    # Types with the same categories in another order compare equal, but their codes differ.
    if len(coded) == len(kinds) and all(coded[0].equals(one) for one in coded):
        # Codes take few bytes; millions of episodes would be millions of objects.
        categories = coded[0]
        order = _factorized(categories.to_numpy(object))[0]
        ranks = np.append(order, len(categories))
        return np.concatenate([ranks[one.cat.codes.to_numpy()] for one in columns]), len(ranks)
    if all(kind == kinds[0] for kind in kinds) and pd.api.types.is_numeric_dtype(kinds[0]):
        return _factorized(pd.concat(columns, ignore_index=True))
    return _factorized(np.concatenate([one.to_numpy(object) for one in columns]))


def _factorized(values: npt.NDArray[Any] | pd.Series[Any]) -> tuple[Positions, int]:
    import pandas as pd

    codes, distinct = pd.factorize(values, sort=True)
    gaps = codes < 0
    return np.where(gaps, len(distinct), codes).astype(np.intp), len(distinct) + int(gaps.any())


def united(first: Positions, second: Positions, known: npt.NDArray[np.bool_]) -> Positions:
    """Return by row the smallest number of the first column in its group.

    A group is what no value of either column crosses. Values are numbered 0, 1, 2 ...
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    count = int(first.max(initial=-1)) + 1
    size = count + int(second.max(initial=-1)) + 1
    edges = (np.ones(int(known.sum())), (first[known], count + second[known]))
    groups, found = connected_components(coo_array(edges, shape=(size, size)), directed=False)
    least = np.full(groups, count, np.intp)
    np.minimum.at(least, found[:count], np.arange(count))
    return np.asarray(least[found[first]], np.intp)
