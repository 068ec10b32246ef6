"""Embeddings of a registry's blocks: one normalised float32 matrix that is kept.

Scoring a query is one matrix-vector product. Imported once an embedder is used.
"""

import math
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from constraintrot.defenses.rampart.state.record_factory import Moment
from constraintrot.errors import EmbeddingError
from constraintrot.models.embedding.embedder import Embedder

Matrix: TypeAlias = NDArray[np.float32]
# Up to this many scores are sorted whole; a few walks through more of them are faster.
_FEW = 64
# Up to this many of the highest are looked for one after another.
_FEW_WANTED = 16


class Index:
    """Unit vectors by block key, in the rows of one matrix.

    A block is expected from its writing on and has a row once it is embedded; the last row
    takes the place of a removed one.
    """

    def __init__(self) -> None:
        self._matrix: Matrix = np.empty((0, 0), np.float32)
        self._row: dict[str, int] = {}
        self._keys: list[str] = []
        self._expected: dict[str, None] = {}
        self._order: tuple[int, NDArray[np.intp]] | None = None

    def expect(self, key: str) -> None:
        """Note that a new or changed block is to be embedded."""
        self._expected[key] = None

    @property
    def complete(self) -> bool:
        return not self._expected

    def expected(self) -> list[str]:
        return list(self._expected)

    def drop(self, key: str) -> None:
        self._expected.pop(key, None)
        row = self._row.pop(key, None)
        if row is None:
            return
        last = self._keys.pop()
        if last != key:
            self._matrix[row] = self._matrix[len(self._keys)]
            self._keys[row] = last
            self._row[last] = row

    def put(self, key: str, vector: Matrix) -> None:
        """Keep the unit vector of an expected block."""
        if key not in self._expected:
            return  # Another thread embedded it meanwhile.
        count, capacity = len(self._keys), len(self._matrix)
        if count and vector.size != self._matrix.shape[1]:
            raise EmbeddingError(
                f"the embedder gives vectors of {vector.size} numbers, and gave "
                f"{self._matrix.shape[1]} before; use one model for a registry"
            )
        if count == capacity or not count:
            grown = np.zeros((max(16, 2 * count), vector.size), np.float32)
            if count:
                grown[:count] = self._matrix
            self._matrix = grown
        self._matrix[count] = vector
        self._keys.append(key)
        self._row[key] = count
        del self._expected[key]
        self._order = None

    def vector(self, key: str) -> Matrix | None:
        """Return a read-only copy of a block's vector, or None before it is embedded."""
        row = self._row.get(key)
        if row is None:
            return None
        # From bytes, which nobody can make writeable again: views of a block share it.
        return np.frombuffer(self._matrix[row].tobytes(), np.float32)

    def scores(self, query: Matrix, moment: Moment) -> Matrix:
        """Return the query's cosines with all blocks of a moment, nan for those without a vector.

        Args:
            query: a unit vector, shape (d,).
            moment: the present moment of the index's store.

        Returns:
            Shape (pins + others,).
        """
        count = len(self._keys)
        if count and query.size != self._matrix.shape[1]:
            raise EmbeddingError(
                f"the query's vector has {query.size} numbers, the blocks' {self._matrix.shape[1]}"
            )
        if self._order is None or self._order[0] != moment.revision:
            entries = (*moment.pins, *moment.rest)
            rows = [self._row.get(entry.key, count) for entry in entries]
            self._order = (moment.revision, np.array(rows, np.intp))
        scores: Matrix
        if count and not self._expected:
            scores = self._matrix[:count].dot(query)
        else:
            scores = np.full(count + 1, np.nan, np.float32)
            if count:
                np.dot(self._matrix[:count], query, out=scores[:count])
        ordered: Matrix = scores[self._order[1]]
        return ordered


def embedded_query(embedder: Embedder, query: str) -> Matrix:
    """Return the unit vector of one text, shape (d,); a vector of zeros stays one."""
    given = np.asarray(embedder([query]), dtype=np.float32)
    if given.ndim == 2 and len(given) == 1:
        # One product gives the length and shows that all of it is finite.
        row = given[0]
        square = float(row.dot(row))
        if 0 < square < math.inf:
            near: Matrix = row / math.sqrt(square)
            return near
    unit: Matrix = _units(given, 1)[0]
    return unit


def embedded(embedder: Embedder, texts: Sequence[str]) -> Matrix:
    """Return the unit vectors of texts; a vector of zeros stays one, and is near to nothing.

    Returns:
        Shape (n, d), float32.
    """
    return _units(np.asarray(embedder(texts), dtype=np.float32), len(texts))


def _units(given: Matrix, count: int) -> Matrix:
    if given.ndim != 2 or len(given) != count or not given.shape[1]:
        raise EmbeddingError(
            f"for {count} texts the embedder gives an array of shape {given.shape}; "
            f"({count}, d) is needed"
        )
    if not np.isfinite(given).all():
        raise EmbeddingError("the embedder gives vectors that hold nan or infinity")
    norms = np.linalg.norm(given, axis=1, keepdims=True)
    unit: Matrix = np.divide(given, norms, out=np.zeros_like(given), where=norms > 0)
    return unit


def best(scores: Matrix, k: int, least: float) -> list[tuple[int, float]]:
    """Return positions and values of the k highest scores from ``least`` on, ties in order.

    It may change the scores in place.
    """
    if len(scores) <= _FEW:
        # A nan is sorted last and is not at least ``least``.
        top = (-scores).argsort(kind="stable")[:k]
        ranked = zip(top.tolist(), scores.take(top).tolist(), strict=True)
        return [(one, score) for one, score in ranked if score >= least]
    if k <= _FEW_WANTED:
        return _one_after_another(scores, k, least)
    scores = np.nan_to_num(scores, nan=-np.inf)
    at = np.arange(len(scores))
    if k < len(scores):
        at = np.flatnonzero(scores >= np.partition(scores, -k)[-k])
    highest = at[np.argsort(-scores[at], kind="stable")][:k]
    return [(one, scores.item(one)) for one in highest.tolist() if scores[one] >= least]


def _one_after_another(scores: Matrix, k: int, least: float) -> list[tuple[int, float]]:
    found: list[tuple[int, float]] = []
    for _ in range(k):
        one = int(scores.argmax())
        score = scores.item(one)
        if math.isnan(score):
            # A nan counts as the largest, so it is met before anything is found.
            return _one_after_another(np.nan_to_num(scores, nan=-np.inf), k, least)
        if score < least or score == -math.inf:
            break
        found.append((one, score))
        scores[one] = -math.inf
    return found
