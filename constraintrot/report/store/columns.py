"""Columns of many frames at once, in a few bytes an episode.

A sweep's facts have few distinct values, so a column is kept as these values and a value's
number for each episode: 10 million episodes with 25 facts are 250 MB and not 10 GB.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from io import BytesIO
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from constraintrot.errors import ConstraintRotError
from constraintrot.report.store.commits import Commit, Store

# Bytes of frames in memory at once: many frames, so that an object store is asked seldom.
_BATCH = 32_000_000
_SIZES = (np.uint8, np.uint16, np.uint32)


@dataclass
class Coded:
    """A column of few distinct values.

    Attributes:
        codes: the number of each row's value.
        values: the distinct values; a gap is None.
    """

    codes: npt.NDArray[Any]
    values: list[object]

    def mapped(self, function: Callable[[Any], object]) -> Coded:
        """Return the column of a function's results; equal results become one value."""
        results = [function(value) for value in self.values]
        distinct = list(dict.fromkeys(results))
        number = {value: at for at, value in enumerate(distinct)}
        if len(distinct) == len(results):
            return Coded(self.codes, distinct)
        table = np.asarray([number[one] for one in results], self.codes.dtype)
        return Coded(table[self.codes], distinct)

    def series(self) -> pd.Series[Any]:
        """Return a column without gaps as a pandas categorical."""
        kind = pd.CategoricalDtype(pd.Index(self.values, dtype=object))
        n = len(self.values)
        signed = np.int8 if n < 127 else np.int16 if n < 32_000 else np.int32
        return pd.Series(pd.Categorical.from_codes(self.codes.astype(signed), dtype=kind))


@dataclass
class Columns:
    """Columns of the frames of a store.

    Attributes:
        texts: columns of few distinct values, by name.
        numbers: numeric columns, by name; nan for a gap.
        ids: columns of many distinct texts as 64-bit digests, by name; 0 for a gap.
        rows: number of episodes.
    """

    texts: dict[str, Coded]
    numbers: dict[str, npt.NDArray[np.float32]]
    ids: dict[str, npt.NDArray[np.int64]]
    rows: int


class _Growing:
    """A coded column that is filled frame by frame, in the smallest type that holds its codes."""

    def __init__(self, rows: int) -> None:
        self.codes: npt.NDArray[Any] = np.zeros(rows, _SIZES[0])
        self._number: dict[object, int] = {}

    def put(self, at: int, column: Any, rows: int) -> None:
        """Add a column of one frame, a pyarrow array; None if the frame lacks it."""
        for chunk in [] if column is None else column.chunks:
            coded = chunk if hasattr(chunk, "dictionary") else chunk.dictionary_encode()
            values: list[object] = coded.dictionary.to_pylist()
            if coded.null_count:
                values.append(None)
            table = self._table(values)
            end = at + len(coded)
            if len(values) == 1:
                self.codes[at:end] = table[0]
            elif len(coded):
                indices = coded.indices
                if coded.null_count:
                    indices = indices.fill_null(len(values) - 1)
                self.codes[at:end] = table[indices.to_numpy()]
            at, rows = end, rows - len(coded)
        if rows:
            self.codes[at : at + rows] = self._table([None])[0]

    def _table(self, values: Sequence[object]) -> npt.NDArray[np.int64]:
        table = [self._number.setdefault(value, len(self._number)) for value in values]
        for size in _SIZES:
            if len(self._number) - 1 <= np.iinfo(size).max:
                if np.dtype(size).itemsize > self.codes.dtype.itemsize:
                    self.codes = self.codes.astype(size)
                break
        return np.asarray(table, np.int64)

    def coded(self) -> Coded:
        return Coded(self.codes, list(self._number))


def read(
    store: Store,
    commits: Sequence[Commit],
    texts: Sequence[str],
    numbers: Sequence[str],
    ids: Sequence[str] = (),
) -> Columns:
    """Read some columns of the frames of commits, in their order.

    ``texts`` have few distinct values; of ``ids``, which have many, only equality matters.
    """
    rows = sum(one.rows for one in commits)
    coded = {name: _Growing(rows) for name in texts}
    floats = {name: np.full(rows, np.nan, np.float32) for name in numbers}
    digests = {name: np.zeros(rows, np.int64) for name in ids}
    at = 0
    for commit, table in _tables(store, commits, [*texts, *numbers, *ids], {*texts, *ids}):
        held = set(table.column_names)
        if table.num_rows != commit.rows:
            raise ConstraintRotError(
                f"{store.path(commit)} has {table.num_rows} episodes, and {commit.rows} were"
                f" committed; commit the cell {commit.cell} again"
            )
        for name, growing in coded.items():
            growing.put(at, table.column(name) if name in held else None, commit.rows)
        for name in [name for name in numbers if name in held]:
            floats[name][at : at + commit.rows] = table.column(name).to_numpy()
        for name in [name for name in ids if name in held]:
            digests[name][at : at + commit.rows] = _digests(table.column(name))
        at += commit.rows
    return Columns({name: one.coded() for name, one in coded.items()}, floats, digests, rows)


def _digests(column: Any) -> npt.NDArray[np.int64]:
    parts: list[npt.NDArray[np.int64]] = []
    for chunk in column.chunks:
        coded = chunk if hasattr(chunk, "dictionary") else chunk.dictionary_encode()
        values = np.asarray([*coded.dictionary.to_pylist(), None], object)[:-1]
        table = np.append(pd.util.hash_array(values, categorize=False).view(np.int64), 0)
        parts.append(table[coded.indices.fill_null(len(values)).to_numpy()])
    return np.concatenate(parts) if parts else np.zeros(0, np.int64)


def _tables(
    store: Store, commits: Sequence[Commit], names: Sequence[str], coded: set[str]
) -> Iterator[tuple[Commit, Any]]:
    # pyarrow has no type information.
    parquet: Any = import_module("pyarrow.parquet")
    for batch in _batches(commits):
        content = store.read(batch)
        for commit in batch:
            try:
                file = parquet.ParquetFile(
                    BytesIO(content.pop(commit.token)), read_dictionary=sorted(coded)
                )
                held = set(file.schema_arrow.names)
                # Threads would cost more than they save on frames of a thousand episodes.
                columns = [name for name in names if name in held]
                yield commit, file.read(columns=columns, use_threads=False)
            except (OSError, ValueError) as error:
                raise ConstraintRotError(
                    f"{store.path(commit)} is no readable frame ({error}); commit the cell"
                    f" {commit.cell} again"
                ) from error


def _batches(commits: Sequence[Commit]) -> Iterator[list[Commit]]:
    batch: list[Commit] = []
    size = 0
    for one in commits:
        if batch and size + one.size > _BATCH:
            yield batch
            batch, size = [], 0
        batch.append(one)
        size += one.size
    if batch:
        yield batch
