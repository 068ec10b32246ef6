"""What a registry keeps, whom it lets in, and the one way in and out for blocks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from uuid import UUID

from constraintrot import tokens
from constraintrot.defenses.rampart.block import Block, Counter, checked_name, name_key
from constraintrot.defenses.rampart.compile.assembly import Compiled
from constraintrot.defenses.rampart.embedding.gating import Embedder, Gate
from constraintrot.defenses.rampart.embedding.search import Searcher
from constraintrot.defenses.rampart.errors import DuplicateBlockError, RegistryError
from constraintrot.defenses.rampart.principal import Principal, identify
from constraintrot.defenses.rampart.state.authority import Grants, principal_id
from constraintrot.defenses.rampart.state.eviction import Scorer, default_scorer
from constraintrot.defenses.rampart.state.ledger import Action
from constraintrot.defenses.rampart.state.store import Store
from constraintrot.defenses.rampart.state.tier import Record


class Kept:
    """What a registry is made of, who may change it, and how that is done and logged."""

    def __init__(
        self,
        owner: Principal,
        *,
        label: str = "registry",
        counter: Counter = tokens.count,
        embedder: Embedder | None = None,
        gate: Gate | None = None,
        scorer: Scorer = default_scorer,
    ) -> None:
        self._grants = Grants(identify(owner))
        self._label = checked_name(label)
        self._counter = counter
        self._scorer = scorer
        self._store = Store()
        self._searcher = Searcher(self._store, embedder, gate)
        self._last: tuple[int | None, Compiled] | None = None
        self._store.ledger.append("create", self._grants.owner, detail={"label": label})

    def __repr__(self) -> str:
        pins, rest = len(self._store.pins), len(self._store.rest)
        return f"Registry({self._label!r}, {pins} pins, {rest} other blocks, id={self.id})"

    @property
    def id(self) -> UUID:
        """Fresh for every registry, restored ones included."""
        return self._store.id

    @property
    def label(self) -> str:
        """What reports call it."""
        return self._label

    @property
    def owner(self) -> UUID:
        """The id of the principal that it was made by."""
        return self._grants.owner

    @property
    def revision(self) -> int:
        """How many mutations there have been."""
        return self._store.revision

    def grant(self, who: Principal | UUID, *, by: Principal, pin: bool = False) -> None:
        """Let a principal write, or also pin; the last grant to it counts.

        Raises:
            AuthorityError: not the owner.
        """
        owner, other = identify(by), principal_id(who)
        with self._store.lock:
            self._grants.check_owner(owner)
            self._grants.pinning[other] = bool(pin)
            self._store.changed()
            self._log("grant", owner, detail={"who": other.hex, "pin": bool(pin)})

    def revoke(self, who: Principal | UUID, *, by: Principal) -> None:
        """Take a grant back. Blocks stay, and their author may still remove them.

        Raises:
            AuthorityError: not the owner.
            RegistryError: there is no such grant.
        """
        owner, other = identify(by), principal_id(who)
        with self._store.lock:
            self._grants.check_owner(owner)
            if self._grants.pinning.pop(other, None) is None:
                raise RegistryError(f"principal {other} has no grant that could be revoked")
            self._store.changed()
            self._log("revoke", owner, detail={"who": other.hex})

    def _taken_in(self, records: Sequence[Record], at: int | None = None) -> tuple[Block, ...]:
        """Insert new records, all or none."""
        keys = [record.entry.key for record in records]
        for before, record in enumerate(records):
            if record.entry.key in keys[:before]:
                raise DuplicateBlockError(f"two of the blocks are named {record.entry.name!r}")
        with self._store.lock:
            for record in records:
                self._grants.check(record.author, pin=record.pinned)
                self._store.free(record)
            for record in records:
                self._store.insert(record, at)
                self._log("pin" if record.pinned else "write", record.author, record)
            return tuple(self._store.view(record) for record in records)

    def _removed(self, records: Sequence[Record], who: UUID, action: Action) -> tuple[Block, ...]:
        views = tuple(self._store.view(record) for record in records)
        for record in records:
            self._store.remove(record)
            self._log(action, who, record)
        return views

    def _free_name(self, stem: object) -> str:
        number = self._store.written + 1
        while name_key(f"{stem}-{number}") in self._store.records:
            number += 1
        return f"{stem}-{number}"

    def _log(
        self,
        action: Action,
        by: UUID,
        record: Record | None = None,
        detail: Mapping[str, object] | None = None,
    ) -> None:
        store = self._store
        if record is None:
            store.ledger.append(action, by, detail=detail)
            return
        if action in ("pin", "write"):
            detail = {"source": record.source, "run": record.run, "removable": record.removable}
            detail |= {"priority": record.priority, "tags": record.tags}
        store.ledger.append(action, by, record.entry.name, record.entry.digest, detail)
