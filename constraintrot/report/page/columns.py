"""Columns of a frame whose few distinct values are computed once each, not once a row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import pandas as pd


def each(values: pd.Series[Any], function: Callable[[Any], object]) -> npt.NDArray[np.object_]:
    """A function's results by row, an array of objects; a gap is None and is not computed."""
    import pandas as pd

    codes, distinct = pd.factorize(values)
    kinds = list(distinct)
    if any(isinstance(one, bool) for one in kinds):
        # True and 1 are equal, and would be one value.
        found = [None if one is None or one != one else function(one) for one in values]
        return _objects(found)
    return _objects([*map(function, kinds), None])[codes]


def where(values: pd.Series[Any], test: Callable[[Any], bool]) -> npt.NDArray[np.bool_]:
    """Whether each row's value passes a test; a gap is None."""
    import pandas as pd

    codes, distinct = pd.factorize(values)
    return np.asarray([*map(test, distinct), test(None)], bool)[codes]


def texts(frame: pd.DataFrame, names: Sequence[str]) -> list[tuple[str, ...]]:
    """The values of some columns as texts, a tuple a row; a gap is ``None``."""
    columns = [each(frame[name], str) for name in names]
    return list(zip(*([str(one) for one in column] for column in columns), strict=True))


def _objects(values: list[object]) -> npt.NDArray[np.object_]:
    array = np.empty(len(values), object)
    array[:] = values
    return array
