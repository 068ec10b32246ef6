"""The methods that change a registry: each is atomic and logged, and its caller is proven."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from uuid import UUID

from constraintrot.defenses.rampart import seeds
from constraintrot.defenses.rampart.block import (
    Block,
    Counter,
    Source,
    checked_int,
    checked_name,
    checked_run,
    checked_source,
    look_key,
    name_key,
)
from constraintrot.defenses.rampart.errors import (
    AuthorityError,
    DuplicateBlockError,
    RegistryError,
    UnknownBlockError,
)
from constraintrot.defenses.rampart.principal import Principal, identify
from constraintrot.defenses.rampart.state.accounting import Scorer, lowest
from constraintrot.defenses.rampart.state.authority import Grants, principal_id
from constraintrot.defenses.rampart.state.ledger import Action
from constraintrot.defenses.rampart.state.record_factory import (
    Author,
    Fields,
    Record,
    from_seeds,
    new_entry,
    new_record,
)
from constraintrot.defenses.rampart.state.store import Store


class Mutations:
    """The part of ``Registry`` that changes its state, and the only one."""

    def __init__(self, store: Store, grants: Grants, counter: Counter, scorer: Scorer) -> None:
        self._store = store
        self._grants = grants
        self._counter = counter
        self._scorer = scorer

    def grant(self, who: Principal | UUID, *, by: Principal, pin: bool = False) -> None:
        """Grant a principal to write or also to pin, by the owner; the last grant counts."""
        owner, other = identify(by), principal_id(who)
        with self._store.lock:
            self._grants.check_owner(owner)
            self._grants.give(other, pin=bool(pin))
            self._store.changed()
            self._store.ledger.append("grant", owner, detail={"who": other.hex, "pin": bool(pin)})

    def revoke(self, who: Principal | UUID, *, by: Principal) -> None:
        """Take a grant back, by the owner. Blocks stay, and their author may still remove them."""
        owner, other = identify(by), principal_id(who)
        with self._store.lock:
            self._grants.check_owner(owner)
            if self._grants.pinning.pop(other, None) is None:
                raise RegistryError(f"principal {other} has no grant that could be revoked")
            self._store.changed()
            self._store.ledger.append("revoke", owner, detail={"who": other.hex})

    def pin(
        self, content: str, *, by: Principal, name: str | None = None,
        source: Source = "orchestrator", tags: Iterable[str] = (), run: str | None = None,
        at: int | None = None,
    ) -> Block:  # fmt: skip
        """Write a block of the pinned tier: non-removable, and in every compile.

        The content is not blank, ``by`` is the owner or granted to pin, and the name is
        ``pin-1`` and so on unless given; the other arguments are as for ``write``.
        """
        fields = Fields(priority=50, source=source, removable=False, run=run, tags=tags)
        return self._write(name, content, by, at, fields, pinned=True)

    def write(
        self, content: str, *, by: Principal, name: str | None = None, priority: int = 50,
        source: Source = "agent", removable: bool = True, run: str | None = None,
        tags: Iterable[str] = (), at: int | None = None,
    ) -> Block:  # fmt: skip
        """Write a block of the unpinned tier, in one's own registry or in another's.

        Args:
            content: any text.
            by: the caller, who becomes its author; the owner, or granted to write.
            name: unique; ``agent-1`` and so on, after the source, unless given.
            priority: 0 to 100.
            source: its origin as the caller states it.
            removable: False allows only the author, with force, to remove it.
            run: the run of which a rollback takes it back.
            tags: free words.
            at: position within the tier; last unless given.
        """
        fields = Fields(priority=priority, source=source, removable=removable, run=run, tags=tags)
        return self._write(name, content, by, at, fields)

    def _write(
        self,
        name: str | None,
        content: str,
        by: Principal,
        at: int | None,
        fields: Fields,
        *,
        pinned: bool = False,
    ) -> Block:
        author, place = identify(by), None if at is None else checked_int("at", at)
        while True:
            with self._store.lock:
                self._grants.check(author, pin=pinned)
                stem = "pin" if pinned else checked_source(fields["source"])
                free = self._free_name(stem) if name is None else name
                shown = Author(author, self._grants.author(author))
            record = new_record(self._counter, shown, free, content, pinned=pinned, **fields)
            try:
                return self._add([record], place)[0]
            except DuplicateBlockError:
                if name is not None:
                    raise

    def write_all(
        self, contents: Mapping[str, str], *, by: Principal, priority: int = 50,
        source: Source = "agent", removable: bool = True, run: str | None = None,
        tags: Collection[str] = (),
    ) -> tuple[Block, ...]:  # fmt: skip
        """Write several blocks, by name, at the end of the unpinned tier, all or none."""
        fields = Fields(priority=priority, source=source, removable=removable, run=run, tags=tags)
        author = self._writer(identify(by))
        return self._add(
            [
                new_record(self._counter, author, name, text, pinned=False, **fields)
                for name, text in contents.items()
            ]
        )

    def load(
        self, source: seeds.Source, *, by: Principal, names: Sequence[str] | None = None,
        pin: Callable[[seeds.Seed], bool] | Collection[str] = (),
    ) -> tuple[Block, ...]:  # fmt: skip
        """Load seeds as blocks, all or none, in their order.

        Args:
            source: as for ``seeds.read``.
            by: the caller, who becomes their author.
            names: the seeds to load; None for all.
            pin: the names of those for the pinned tier, or a function that decides.
        """
        author = self._writer(identify(by))
        return self._add(from_seeds(self._counter, author, seeds.read(source, names), pin))

    def _add(self, records: Sequence[Record], at: int | None = None) -> tuple[Block, ...]:
        """Insert new records, all or none, as their authors."""
        _refuse_alike([record.entry.name for record in records])
        with self._store.lock:
            for record in records:
                self._grants.check(record.author, pin=record.pinned)
                self._store.free(record)
            mark, done = self._store.ledger.mark(), list[Record]()
            try:
                for record in records:
                    self._store.insert(record, at)
                    done.append(record)
                    self._log("pin" if record.pinned else "write", record.author, record)
                return tuple(self._store.view(record) for record in records)
            except BaseException:
                # Out of memory, or interrupted: undo a half-done write.
                for record in done:
                    self._store.remove(record)
                self._store.ledger.back(mark)
                raise

    def amend(self, block_id: UUID, content: str, *, by: Principal) -> Block:
        """Change a block's content, by its author; its id, name and place stay."""
        author = identify(by)
        with self._store.lock:
            record = self._store.record(block_id)
            self._grants.check_amend(author, record)
            name, pinned, shown = record.entry.name, record.pinned, self._grants.author(author)
            block_id = record.entry.id
        # Tier and author never change, so counting needs no lock.
        entry, plain = new_entry(
            self._counter, name, content, pinned=pinned, author=shown, block_id=block_id
        )
        with self._store.lock:
            record = self._store.record(block_id)
            self._grants.check_amend(author, record)
            if record.entry.name != name:
                raise RegistryError(f"block {name!r} was renamed meanwhile; amend it once more")
            self._store.replace(record, entry, plain)
            self._log("amend", author, record)
            return self._store.view(record)

    def promote(
        self, block_ids: UUID | Sequence[UUID], position: int = 0, *, by: Principal
    ) -> None:
        """Move blocks of one tier, as a group in the order given.

        The first goes to the position within the tier; beyond the end is last. The owner or
        their author may move pins, and anybody who may write moves other blocks.
        """
        who, place = identify(by), checked_int("position", position)
        if isinstance(block_ids, UUID):
            # An agent does this at every turn.
            with self._store.lock:
                record = self._store.record(block_ids)
                self._grants.check_move(who, record)
                self._store.move_one(record, place)
                self._log_move(who, (record.entry.name,), place)
            return
        ids = list(block_ids)
        if not ids or len(set(ids)) < len(ids):
            raise RegistryError("a group to promote is one block or more, each of them once")
        with self._store.lock:
            records = [self._store.record(block_id) for block_id in ids]
            if len({record.pinned for record in records}) > 1:
                raise RegistryError("a group to promote is of one tier; promote the pins apart")
            for record in records:
                self._grants.check_move(who, record)
            self._store.move(records, place)
            self._log_move(who, tuple(record.entry.name for record in records), place)

    def reclaim(self, name: str, *, by: Principal) -> tuple[Block, ...]:
        """Take a name back, by the owner, from the blocks that have it or one that looks like it.

        Those blocks stay under derived names. To keep a hostile writer from taking the name
        again, revoke its grant first.

        Returns:
            The blocks that were renamed.
        """
        owner, wanted = identify(by), checked_name(name)
        with self._store.lock:
            self._grants.check_owner(owner)
            taken = self._store.takers(wanted)
            before = [(record.entry, record.content) for record in taken]
            # At most one has the name and another looks like it.
            fresh = [self._free_name(stem) for stem in ("renamed", "alike")[: len(taken)]]
            shown = [self._grants.author(record.author) for record in taken]
        if not taken:
            raise UnknownBlockError(f"no block has the name {wanted!r}, or one that looks like it")
        # The user's counter runs without the lock.
        entries = [
            new_entry(
                self._counter, other, content,
                pinned=record.pinned, author=author, block_id=entry.id,
            )[0]
            for record, (entry, content), other, author in zip(
                taken, before, fresh, shown, strict=True
            )
        ]  # fmt: skip
        with self._store.lock:
            self._grants.check_owner(owner)
            now = [(record.entry, record.content) for record in self._store.takers(wanted)]
            if now != before or any(self._store.takers(name) for name in fresh):
                raise RegistryError(f"the blocks named {wanted!r} changed meanwhile; try again")
            for record, entry in zip(taken, entries, strict=True):
                was = record.entry.name
                self._store.replace(record, entry, record.content)
                self._log("rename", owner, record, {"was": was})
            return tuple(self._store.view(record) for record in taken)

    def evict(self, block_id: UUID, *, by: Principal, force: bool = False) -> Block:
        """Remove a block of one's own, or a removable one if one may write.

        Only its author, with ``force``, can remove a non-removable one, such as a pin.
        """
        who = identify(by)
        with self._store.lock:
            record = self._store.record(block_id)
            self._grants.check_remove(who, record, force=force)
            return self._removed([record], who, "evict")[0]

    def evict_lowest(
        self, count: int = 1, *, by: Principal, scorer: Scorer | None = None
    ) -> tuple[Block, ...]:
        """Remove the caller's removable blocks that are worth the least.

        Blocks of others, non-removable ones and pins are never candidates, and a block with
        the score ``math.inf`` stays (section 2.5).
        """
        who, most = identify(by), checked_int("count", count)
        with self._store.lock:
            entries = self._store.rest.entries()
            records = [self._store.records[entry.key] for entry in entries]
            mine = [record for record in records if record.author == who and record.removable]
            views = [self._store.view(record) for record in mine]
        ranked = lowest(views, scorer or self._scorer)
        with self._store.lock:
            # Another thread may have removed some meanwhile, and a name may have been reused.
            present = [self._store.find(view.id) for view in ranked]
            return self._removed([r for r in present if r is not None][:most], who, "evict")

    def rollback(self, run: str, *, by: Principal, force: bool = False) -> tuple[Block, ...]:
        """Take back all blocks of a run, by their only author, or none of them.

        With ``force`` this takes non-removable ones too. A run without blocks is not an error.
        """
        who, run = identify(by), checked_run(run) or ""
        with self._store.lock:
            entries = self._store.entries()
            records = [self._store.records[entry.key] for entry in entries]
            chosen = [record for record in records if record.run == run]
            for record in chosen:
                if record.author != who:
                    raise AuthorityError(
                        f"block {record.entry.name!r} of run {run!r} was written by "
                        f"{record.author}; a run is rolled back by its only author"
                    )
                self._grants.check_remove(who, record, force=force)
            return self._removed(chosen, who, "rollback")

    def _removed(self, records: Sequence[Record], who: UUID, action: Action) -> tuple[Block, ...]:
        views = tuple(self._store.view(record) for record in records)
        for record in records:
            self._store.remove(record)
            self._log(action, who, record)
        return views

    def _writer(self, who: UUID) -> Author:
        with self._store.lock:
            self._grants.check(who)
            return Author(who, self._grants.author(who))

    def _free_name(self, stem: str) -> str:
        number = self._store.written + 1
        while self._store.takers(f"{stem}-{number}"):
            number += 1
        return f"{stem}-{number}"

    def _log_move(self, who: UUID, names: tuple[str, ...], position: int) -> None:
        self._store.ledger.append("promote", who, detail={"names": names, "position": position})

    def _log(
        self, action: Action, by: UUID, record: Record, detail: Mapping[str, object] | None = None
    ) -> None:
        if action in ("pin", "write"):
            detail = {"source": record.source, "run": record.run, "removable": record.removable}
            detail |= {"priority": record.priority, "tags": record.tags}
        entry = record.entry
        self._store.ledger.append(action, by, entry.name, entry.digest, detail)


def _refuse_alike(names: Sequence[str]) -> None:
    """Refuse names if two of them are the same or look alike."""
    if len(names) < 2:
        return
    for key in (name_key, look_key):
        seen: dict[str, str] = {}
        for name in names:
            if (other := seen.setdefault(key(name), name)) is not name:
                raise DuplicateBlockError(
                    f"two of the blocks are named {name!r}"
                    if other == name
                    else f"two of the blocks are named {other!r} and {name!r}, which look alike"
                )
