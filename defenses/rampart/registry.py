"""The block registry: context assembly as a programmable step (RAMPART, section 2).

Two tiers of blocks. The pinned one is compiled first, always whole, past the gate
and before anything else has a share of the budget; the other holds what an agent
learns and loads. All methods may be called from any thread.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import UUID

from constraintrot import tokens
from constraintrot.defenses.rampart.block import Block, Counter, checked_int, name_key
from constraintrot.defenses.rampart.compile import assembly as compiling
from constraintrot.defenses.rampart.compile.assembly import (
    Chosen,
    Compiled,
    Moment,
    Plan,
    Verification,
)
from constraintrot.defenses.rampart.embedding.gating import Embedder, Gate
from constraintrot.defenses.rampart.errors import RegistryError, UnknownBlockError
from constraintrot.defenses.rampart.principal import Principal, identify
from constraintrot.defenses.rampart.state import fork_safety as live
from constraintrot.defenses.rampart.state import ledger
from constraintrot.defenses.rampart.state.eviction import Scorer, default_scorer
from constraintrot.defenses.rampart.state.mutations import Writable
from constraintrot.defenses.rampart.state.provenance import Provenance, lineage
from constraintrot.defenses.rampart.state.record_factory import from_seeds
from constraintrot.defenses.rampart.state.store import Store
from constraintrot.defenses.rampart.state.tier import Entry

if TYPE_CHECKING:
    from constraintrot.defenses.rampart.seeds import Seed
    from constraintrot.defenses.rampart.seeds import Source as SeedSource


class Registry(Writable):
    """An ordered set of addressable blocks, compiled into a prompt on demand.

    Args:
        owner: may write and pin, and grants others to.
        label: what reports call it.
        counter: of tokens; the default is exact for o200k and works offline.
        embedder: of texts; needed for ``find_relevant`` and the cosine gate only.
        gate: which unpinned blocks a query lets in; a ``CosineGate`` unless given.
        scorer: what a block is worth, for ``evict_lowest``.

    Raises:
        AuthorityError: the owner is no ``Principal``.
    """

    # Reading

    def blocks(self) -> tuple[Block, ...]:
        """All blocks in compile order, pins first."""
        return self._views(self._store.entries)

    def pins(self) -> tuple[Block, ...]:
        """The pinned tier in its order."""
        return self._views(self._store.pins.entries)

    def get(self, block_id: UUID) -> Block:
        """The block of an id.

        Raises:
            UnknownBlockError: there is none.
        """
        with self._store.lock:
            return self._store.view(self._store.record(block_id))

    def named(self, name: str) -> Block:
        """The block of a name.

        Raises:
            UnknownBlockError: there is none.
        """
        with self._store.lock:
            record = self._store.records.get(name_key(name))
            if record is None or record.entry.name != name:
                raise UnknownBlockError(f"no block named {name!r} in registry {self.label!r}")
            return self._store.view(record)

    def pinned_text(self) -> str:
        """The pinned tier as it begins every prompt; "" without pins.

        Byte for byte the same as long as the pins are, so a prefix cache keeps hitting.
        """
        with self._store.lock:
            return self._store.pinned()[1]

    def manifest(self) -> str:
        """SHA-256, hex, over the pins' names and digests in their order."""
        with self._store.lock:
            return self._store.pinned()[2]

    def verify(self, text: str | Iterable[str]) -> Verification:
        """Whether a context still holds every pin's content verbatim.

        Args:
            text: a context, or its messages; a pin stands whole in one of them.

        Raises:
            RegistryError: something in it is no text.
        """
        texts = [text] if isinstance(text, str) else list(text)
        if not all(isinstance(one, str) for one in texts):  # pyright: ignore[reportUnnecessaryIsInstance]  # callers may be untyped
            raise RegistryError("verify() takes a text or several, not message objects")
        with self._store.lock:
            pins, manifest, revision = self.pins(), self.manifest(), self.revision
        missing = tuple(pin for pin in pins if not any(pin.content in one for one in texts))
        return Verification(not missing, missing, manifest, revision)

    @property
    def log(self) -> tuple[ledger.Entry, ...]:
        """Every mutation so far, removals included."""
        with self._store.lock:
            return self._store.ledger.entries()

    def verify_log(self) -> bool:
        """Whether the log is as it was written."""
        with self._store.lock:
            return self._store.ledger.intact()

    def provenance(self) -> Provenance:
        """Where every block came from, removed ones included, and what the owner wrote elsewhere."""
        here = lineage(self.id, self.log)
        elsewhere = (_logged(store) for store in live.stores() if store is not self._store)
        lines = (line for where, log in elsewhere for line in lineage(where, log))
        return Provenance(here, tuple(line for line in lines if line.author == self.owner))

    # Compiling

    def compile(
        self, budget: int | None = None, *, query: str | None = None, gate: Gate | None = None
    ) -> Compiled:
        """Assemble the prompt: pins, then what the gate lets in and the budget holds.

        Constant time when nothing changed since the last call of the same budget.

        Args:
            budget: tokens of the prompt at most; None for any number.
            query: what the gate judges the unpinned blocks by; None lets all in.
            gate: in the place of the registry's, for this query.

        Raises:
            PinOverflowError: the pins alone are over the budget; nothing is counted.
            EmbeddingError: the cosine gate has no embedder, or a useless one.
            RegistryError: another argument is refused.
        """
        limit = None if budget is None else checked_int("budget", budget)
        with self._store.lock:
            if query is None and gate is None and self._last and self._last[0] == limit:
                same = self._last[1]
                if same.revision == self._store.revision:
                    self._store.accesses.repeated()
                    return replace(same)
        moment, chosen, gated = self._chosen(limit, query, gate)
        result = compiling.compiled(moment, chosen, gated)
        with self._store.lock:
            current = moment.revision == self._store.revision
            left = [*gated, *chosen.over]
            self._store.accesses.compiled(chosen.held, left, current=current)
            self._last = (limit, result) if query is None and current else None
        return replace(result)

    def dry_run(
        self, budget: int | None = None, *, query: str | None = None, gate: Gate | None = None
    ) -> Plan:
        """What ``compile`` would hold and leave out; changes and counts nothing.

        Raises:
            PinOverflowError: as ``compile``; and its other errors.
        """
        limit = None if budget is None else checked_int("budget", budget)
        return compiling.plan(*self._chosen(limit, query, gate))

    def find_relevant(
        self, query: str, k: int = 5, *, least: float = -1.0
    ) -> tuple[tuple[Block, float], ...]:
        """The blocks closest to a query, pins included, with their cosines, best first.

        Args:
            query: a text for the embedder.
            k: how many at most.
            least: cosine from which on a block is reported.

        Raises:
            EmbeddingError: no embedder, or a useless one.
        """
        return self._searcher.nearest(query, checked_int("k", k), least)

    # Coming and going

    def load(
        self,
        source: SeedSource,
        *,
        by: Principal,
        names: Sequence[str] | None = None,
        pin: Callable[[Seed], bool] | Collection[str] = (),
    ) -> tuple[Block, ...]:
        """Load seeds as blocks, all or none, in their order.

        Args:
            source: what ``seeds.read`` takes.
            by: the caller, who becomes their author.
            names: which seeds; None for all.
            pin: which of them go to the pinned tier, by name or by judging them.

        Raises:
            SeedError: the source cannot be read.
            AuthorityError: the caller may not write, or pin.
            DuplicateBlockError: a name is taken.
            RegistryError: a seed is refused, or a name to pin is not among them.
        """
        from constraintrot.defenses.rampart import seeds

        author = identify(by)
        found = seeds.read(source, names)
        return self._taken_in(from_seeds(self._counter, author, found, pin))

    def snapshot(self, path: str | Path, key: bytes) -> None:
        """Save all but secrets, ids and embeddings in one authenticated file.

        Args:
            path: of the file.
            key: of the MAC; whoever has it can forge a snapshot.

        Raises:
            SnapshotError: it cannot be written.
        """
        from constraintrot.defenses.rampart import snapshot
        from constraintrot.defenses.rampart.snapshot import snapshot_state as saving

        with self._store.lock:
            state = saving.state_of(self._store, self._grants, self._label)
        snapshot.write(path, state, key)

    @classmethod
    def restore(
        cls,
        path: str | Path,
        key: bytes,
        *,
        owner: Principal,
        counter: Counter = tokens.count,
        embedder: Embedder | None = None,
        gate: Gate | None = None,
        scorer: Scorer = default_scorer,
    ) -> Registry:
        """A registry from a snapshot: ids are fresh, tokens counted anew, embeddings made anew.

        Args:
            path: of the file.
            key: that it was written with.
            owner: the same principal as then.
            counter: as at construction; so are the others.
            embedder: of texts.
            gate: for queries.
            scorer: for evictions.

        Raises:
            SnapshotError: truncated, tampered with, or of another kind.
            AuthorityError: of another owner.
        """
        from constraintrot.defenses.rampart import snapshot
        from constraintrot.defenses.rampart.snapshot import snapshot_state as saving

        state = snapshot.read(path, key)
        made = cls(
            owner, label=saving.label_of(state), counter=counter,
            embedder=embedder, gate=gate, scorer=scorer,
        )  # fmt: skip
        saving.fill(made._store, made._grants, state, counter)
        return made

    def _views(self, entries: Callable[[], list[Entry]]) -> tuple[Block, ...]:
        with self._store.lock:
            return tuple(self._store.view(self._store.records[e.key]) for e in entries())

    def _chosen(
        self, budget: int | None, query: str | None, gate: Gate | None
    ) -> tuple[Moment, Chosen, list[Entry]]:
        if query is None:
            if gate is not None:
                raise RegistryError("a gate judges by a query; give compile() one")
            with self._store.lock:
                moment = self._store.moment()
            admitted, gated = moment.rest, list[Entry]()
        else:
            moment, passed = self._searcher.gated(query, gate)
            verdicts = list(zip(moment.rest, passed, strict=True))
            admitted = [entry for entry, ok in verdicts if ok]
            gated = [entry for entry, ok in verdicts if not ok]
        adds_up = self._counter is tokens.count
        chosen = compiling.choose(moment, admitted, budget, self._counter, adds_up=adds_up)
        return moment, chosen, gated


def _logged(store: Store) -> tuple[UUID, tuple[ledger.Entry, ...]]:
    with store.lock:
        return store.id, store.ledger.entries()
