"""Relevance of a store's blocks to a query; embeds what has no embedding yet.

The embedder and the gate are the user's and may take long, so they run without
the lock, on a copy of what was there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from constraintrot.defenses.rampart.block import Block
from constraintrot.defenses.rampart.embedding.gating import CosineGate, Gate
from constraintrot.defenses.rampart.errors import RegistryError
from constraintrot.defenses.rampart.state.records import Moment
from constraintrot.defenses.rampart.state.store import Store
from constraintrot.embedding.backends import require_numpy
from constraintrot.embedding.embedder import Embedder
from constraintrot.errors import EmbeddingError

if TYPE_CHECKING:
    from constraintrot.defenses.rampart.embedding.index import Index, Matrix


class Searcher:
    """The gate and the search of one registry.

    Raises:
        EmbeddingError: there is an embedder, and NumPy is not installed.
    """

    def __init__(self, store: Store, embedder: Embedder | None, gate: Gate | None) -> None:
        self._store = store
        self._embedder = embedder
        self._gate: Gate = CosineGate() if gate is None else gate
        self._index: Index | None = None
        if embedder is not None:
            require_numpy()
            from constraintrot.defenses.rampart.embedding.index import Index

            self._index = store.vectors = Index()

    def gated(self, query: str, gate: Gate | None) -> tuple[Moment, list[bool]]:
        """A moment of the store, and one verdict for each of its unpinned blocks.

        Raises:
            EmbeddingError: a cosine gate without a usable embedder.
            RegistryError: a gate that gives another number of verdicts.
        """
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
        """The k blocks closest to a query, best first.

        Raises:
            EmbeddingError: no usable embedder.
        """
        from constraintrot.defenses.rampart.embedding.index import best

        moment, scores = self._scored(query)
        entries = [*moment.pins, *moment.rest]
        chosen = [(entries[at].id, float(scores[at])) for at in best(scores, k, least)]
        with self._store.lock:
            nearest = [(self._store.find(block_id), score) for block_id, score in chosen]
            return tuple((self._store.view(r), score) for r, score in nearest if r is not None)

    def _scored(self, query: str) -> tuple[Moment, Matrix]:
        """A moment and the cosines of all its blocks; nan for what came in this very instant."""
        embedder, index = self._embedder, self._index
        if embedder is None or index is None:
            raise EmbeddingError(
                "relevance to a query needs embeddings; give the registry an embedder, "
                "or compile with a gate that needs none"
            )
        from constraintrot.defenses.rampart.embedding.index import embedded

        self._embed(embedder)
        # Some models embed a query otherwise than what it is to find.
        vector = embedded(getattr(embedder, "query", embedder), [query])[0]
        with self._store.lock:
            moment = self._store.moment()
            return moment, index.scores(vector, moment)

    def _embed(self, embedder: Embedder) -> None:
        """Embed the blocks that were written or amended since."""
        from constraintrot.defenses.rampart.embedding.index import embedded

        store, index = self._store, self._index
        assert index is not None
        with store.lock:
            records = [store.records[key] for key in index.expected()]
            wanted = [(record, record.entry, record.content) for record in records]
        if not wanted:
            return
        vectors = embedded(embedder, [content for _, _, content in wanted])
        with store.lock:
            for (record, entry, _), vector in zip(wanted, vectors, strict=True):
                # An amend or an eviction meanwhile makes the vector that of nothing.
                if record.entry is entry and store.records.get(entry.key) is record:
                    index.put(entry.key, vector)
