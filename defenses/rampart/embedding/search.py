"""Relevance of a store's blocks to a query, and the gate that admits blocks by it.

A gate is any callable of the query and the blocks. The registry scores ``CosineGate``, the
default, on its kept matrix instead.

The user's embedder and gate may take long, so they run without the lock, on a copy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from constraintrot.defenses.rampart.block import Block
from constraintrot.defenses.rampart.errors import RegistryError
from constraintrot.defenses.rampart.state.record_factory import Moment
from constraintrot.defenses.rampart.state.store import Store
from constraintrot.errors import EmbeddingError
from constraintrot.models.embedding.embedder import Embedder, require_numpy

if TYPE_CHECKING:
    from constraintrot.defenses.rampart.embedding.index import Index, Matrix


@dataclass(frozen=True, slots=True)
class CosineGate:
    """Admits blocks with an embedding close to the query's.

    Attributes:
        least: the lowest cosine of an admitted block, -1 to 1.
        most: the largest number of blocks, the closest first; None for any number.
    """

    least: float = 0.25
    most: int | None = None

    def __post_init__(self) -> None:
        if not -1 <= self.least <= 1 or (self.most is not None and self.most < 0):
            raise RegistryError(
                f"a cosine gate takes least from -1 to 1 and most from 0; got {self}"
            )

    def admitted(self, scores: Sequence[float]) -> list[bool]:
        """Return one verdict for each block; a block without a score yet (nan) is admitted."""
        passed = [not score < self.least for score in scores]
        if self.most is not None and sum(passed) > self.most:
            # Stable, so that among equals the earlier block is admitted.
            ranked = sorted((at for at, ok in enumerate(passed) if ok), key=lambda at: -scores[at])
            kept = set(ranked[: self.most])
            passed = [at in kept for at in range(len(scores))]
        return passed


Gate: TypeAlias = Callable[[str, Sequence[Block]], Sequence[bool]] | CosineGate
"""From a query and the unpinned blocks to one verdict for each block."""


class Searcher:
    """The gate and the search of one registry."""

    def __init__(self, store: Store, embedder: Embedder | None, gate: Gate | None) -> None:
        self._store = store
        self._embedder = embedder
        self._gate: Gate = CosineGate() if gate is None else gate
        self._index: Index | None = None
        if embedder is not None:
            require_numpy()
            # A search must not import NumPy at every call.
            from constraintrot.defenses.rampart.embedding.index import (
                Index,
                best,
                embedded,
                embedded_query,
            )

            self._index = store.vectors = Index()
            self._best, self._embedded, self._embedded_query = best, embedded, embedded_query

    def gated(self, query: str, gate: Gate | None) -> tuple[Moment, list[bool]]:
        """Return a moment of the store, and one verdict for each of its unpinned blocks."""
        judge = self._gate if gate is None else gate
        if isinstance(judge, CosineGate):
            moment, scores = self._scored(query)
            return moment, judge.admitted(scores[len(moment.pins) :].tolist())
        if self._embedder is not None:
            self._embed(self._embedder)
        with self._store.lock:
            moment = self._store.moment()
            records = [self._store.records[entry.key] for entry in moment.rest]
            blocks = tuple(self._store.view(record) for record in records)
        verdicts = [bool(verdict) for verdict in judge(query, blocks)]
        if len(verdicts) != len(blocks):
            raise RegistryError(f"the gate gave {len(verdicts)} verdicts on {len(blocks)} blocks")
        return moment, verdicts

    def nearest(self, query: str, k: int, least: float) -> tuple[tuple[Block, float], ...]:
        moment, scores = self._scored(query)
        chosen = self._best(scores, k, least)
        pins, rest, store = moment.pins, moment.rest, self._store
        found: list[tuple[Block, float]] = []
        with store.lock:
            for at, score in chosen:
                entry = pins[at] if at < len(pins) else rest[at - len(pins)]
                record = store.records.get(entry.key)
                if record is None or record.entry is not entry:
                    # The block was changed, renamed or removed meanwhile.
                    record = store.find(entry.id)
                if record is not None:
                    found.append((store.view(record), score))
        return tuple(found)

    def _scored(self, query: str) -> tuple[Moment, Matrix]:
        """Return a moment and the cosines of all its blocks, nan for those written this instant."""
        embedder, index = self._embedder, self._index
        if embedder is None or index is None:
            raise EmbeddingError(
                "relevance to a query needs embeddings; give the registry an embedder, "
                "or compile with a gate that needs none"
            )
        self._embed(embedder)
        # Some models embed a query in another way than the texts to be found.
        vector = self._embedded_query(getattr(embedder, "query", embedder), query)
        with self._store.lock:
            moment = self._store.moment()
            return moment, index.scores(vector, moment)

    def _embed(self, embedder: Embedder) -> None:
        """Embed the blocks that were written or amended since the last time."""
        store, index = self._store, self._index
        assert index is not None
        if index.complete:
            return
        with store.lock:
            records = [store.records[key] for key in index.expected()]
            wanted = [(record, record.entry, record.content) for record in records]
        if not wanted:
            return  # Another thread embedded them meanwhile.
        vectors = self._embedded(embedder, [content for _, _, content in wanted])
        with store.lock:
            for (record, entry, _), vector in zip(wanted, vectors, strict=True):
                # The block may have been amended or evicted meanwhile.
                if record.entry is entry and store.records.get(entry.key) is record:
                    index.put(entry.key, vector)
