"""The block registry: context assembly as a programmable step (RAMPART, section 2).

It has two tiers of blocks. The pinned one is compiled first, always whole, without the gate
and before other blocks have a share of the budget; the other holds the blocks that an agent
learns and loads. All methods may be called from any thread.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any
from uuid import UUID

from constraintrot import tokens
from constraintrot.defenses.rampart import snapshot
from constraintrot.defenses.rampart.block import Block, Counter, checked_int, checked_name
from constraintrot.defenses.rampart.compile import (
    Compiled,
    Compiler,
    Plan,
    Verification,
    verification,
)
from constraintrot.defenses.rampart.embedding.search import Gate, Searcher
from constraintrot.defenses.rampart.principal import Principal, identify
from constraintrot.defenses.rampart.state.accounting import Scorer, default_scorer
from constraintrot.defenses.rampart.state.authority import Grants
from constraintrot.defenses.rampart.state.ledger import Entry, Provenance
from constraintrot.defenses.rampart.state.mutations import Mutations
from constraintrot.defenses.rampart.state.store import Store, written_elsewhere
from constraintrot.models.embedding.embedder import Embedder


class Registry(Mutations):
    """An ordered set of addressable blocks, compiled into a prompt on demand.

    Methods that change a registry take ``by``, the caller's ``Principal``, and are logged.
    They raise ``AuthorityError`` if the caller may not, ``UnknownBlockError`` for a missing
    block, ``DuplicateBlockError`` for a taken name, and ``RegistryError`` for any other
    refused argument; then nothing has changed. Unusable seeds and snapshots raise
    ``SeedError`` and ``SnapshotError``.

    A registry is never copied: a copy of what holds it, deep ones included, holds the same.

    Args:
        owner: may write and pin, and grants these rights to others.
        label: the registry's name in reports.
        counter: counter of tokens; the default is exact for o200k and works offline.
        embedder: embedder of texts; needed only for ``find_relevant`` and the cosine gate.
        gate: selects the unpinned blocks for a query; a ``CosineGate`` unless given.
        scorer: the worth of a block, for ``evict_lowest``.

    Attributes:
        id: fresh for every registry, restored ones included.
        label: the registry's name in reports.
        owner: the id of the principal that made it.
        revision: number of mutations so far.
        log: the mutations so far, removals included; of very many moves only some.
    """

    def __init__(
        self, owner: Principal, *, label: str = "registry", counter: Counter = tokens.count,
        embedder: Embedder | None = None, gate: Gate | None = None,
        scorer: Scorer = default_scorer,
    ) -> None:  # fmt: skip
        grants = Grants(identify(owner))
        super().__init__(Store(checked_name(label)), grants, counter, scorer)
        self._searcher = Searcher(self._store, embedder, gate)
        self._compiler = Compiler(self._store, self._searcher, counter)
        self._store.ledger.append("create", self._grants.owner, detail={"label": label})

    def __repr__(self) -> str:
        pins, rest = len(self._store.pins), len(self._store.rest)
        return f"Registry({self.label!r}, {pins} pins, {rest} other blocks, id={self.id})"

    def __copy__(self) -> Registry:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Registry:
        return self

    @property
    def id(self) -> UUID:
        return self._store.id

    @property
    def label(self) -> str:
        return self._store.label

    @property
    def owner(self) -> UUID:
        return self._grants.owner

    @property
    def revision(self) -> int:
        return self._store.revision

    @property
    def log(self) -> tuple[Entry, ...]:
        with self._store.lock:
            return self._store.ledger.entries()

    def blocks(self) -> tuple[Block, ...]:
        """All blocks in compile order, pins first."""
        with self._store.lock:
            return self._store.views(self._store.entries())

    def pins(self) -> tuple[Block, ...]:
        """The pinned tier in its order."""
        with self._store.lock:
            return self._store.views(self._store.pins.entries())

    def get(self, block_id: UUID) -> Block:
        """Return the block with an id."""
        with self._store.lock:
            return self._store.view(self._store.record(block_id))

    def named(self, name: str) -> Block:
        """Return the block with a name."""
        with self._store.lock:
            return self._store.view(self._store.named(name))

    def pinned_text(self) -> str:
        """The pinned tier as it begins every prompt; "" without pins.

        The same bytes as long as the pins are the same, so a prefix cache keeps hitting.
        """
        with self._store.lock:
            return self._store.pinned()[1]

    def manifest(self) -> str:
        """SHA-256, hex, over the pins' names and digests in their order."""
        with self._store.lock:
            return self._store.pinned()[2]

    def verify(self, text: str | Iterable[str]) -> Verification:
        """Verify that a context holds every pin's frame, whole, in one message and not quoted."""
        return verification(self._store, text)

    def verify_log(self) -> bool:
        """Return whether the log is unchanged since its writing."""
        with self._store.lock:
            return self._store.ledger.intact()

    def provenance(self) -> Provenance:
        """Return the origin of all blocks ever, and of the owner's blocks in other registries."""
        elsewhere = written_elsewhere(self._store, self.owner)
        return Provenance(self._store.lines(), elsewhere)

    def compile(
        self, budget: int | None = None, *, query: str | None = None, gate: Gate | None = None
    ) -> Compiled:
        """Assemble the prompt: the pins, then the blocks that the gate and the budget admit.

        Without a query, a repeated call takes constant time if nothing changed in between.

        Args:
            budget: the largest number of tokens; None for any number.
            query: the text by which the gate judges the unpinned blocks; None admits all.
            gate: a gate for this query, in place of the registry's.

        Raises:
            PinOverflowError: the pins alone are over the budget; nothing is counted.
            EmbeddingError: the cosine gate has no usable embedder.
        """
        return self._compiler.compile(budget, query, gate)

    def dry_run(
        self, budget: int | None = None, *, query: str | None = None, gate: Gate | None = None
    ) -> Plan:
        """Return the plan of a ``compile``, or raise its error, and count nothing."""
        return self._compiler.dry_run(budget, query, gate)

    def find_relevant(
        self, query: str, k: int = 5, *, least: float = -1.0
    ) -> tuple[tuple[Block, float], ...]:
        """Return the k blocks closest to a query, pins included, with cosines, best first.

        Blocks whose cosine is below ``least`` are left out.

        Raises:
            EmbeddingError: there is no usable embedder.
        """
        return self._searcher.nearest(query, checked_int("k", k), least)

    def snapshot(self, path: str | Path, key: bytes, *, overwrite: bool = False) -> None:
        """Save all but secrets, ids and embeddings in one file; its key can forge others.

        A file that is not an earlier state of this registry is refused unless ``overwrite``:
        another process may have pinned something meanwhile.
        """
        snapshot.save(path, key, self._store, self._grants, overwrite=overwrite)

    @classmethod
    def restore(
        cls, path: str | Path, key: bytes, *, owner: Principal, least_revision: int = 0,
        counter: Counter = tokens.count, embedder: Embedder | None = None,
        gate: Gate | None = None, scorer: Scorer = default_scorer,
    ) -> Registry:  # fmt: skip
        """Return a registry from a snapshot, with new ids, token counts and embeddings.

        The key and the owner are those of then; the other arguments are as at construction. An
        older file also has a valid seal: give the ``revision`` saved last as ``least_revision``.
        """
        state = snapshot.load(path, key, checked_int("least_revision", least_revision))
        label = state["label"]
        made = cls(owner, label=label, counter=counter, embedder=embedder, gate=gate, scorer=scorer)
        snapshot.fill(made._store, made._grants, state, counter)
        return made
