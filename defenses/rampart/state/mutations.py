"""What changes a registry's blocks: each call is atomic and logged, and its caller proven."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from constraintrot.defenses.rampart.block import Block, Source, checked_int
from constraintrot.defenses.rampart.errors import AuthorityError, DuplicateBlockError, RegistryError
from constraintrot.defenses.rampart.keeping import Kept
from constraintrot.defenses.rampart.principal import Principal, identify
from constraintrot.defenses.rampart.state.eviction import Scorer, lowest
from constraintrot.defenses.rampart.state.record_factory import counted, drafted


class Writable(Kept):
    """The half of ``Registry`` that changes it."""

    def pin(
        self,
        content: str,
        *,
        by: Principal,
        name: str | None = None,
        source: Source = "orchestrator",
        tags: Iterable[str] = (),
        run: str | None = None,
        at: int | None = None,
    ) -> Block:
        """Write a block of the pinned tier: non-removable, and in every compile.

        Args:
            content: not empty.
            by: the caller, who becomes its author.
            name: unique; ``pin-1`` and so on unless given.
            source: what the caller states about where it comes from.
            tags: free words.
            run: that a rollback takes it back with.
            at: position within the tier; last unless given.

        Raises:
            AuthorityError: neither owner nor granted to pin.
            DuplicateBlockError: the name is taken.
            RegistryError: another argument is refused.
        """
        fields = {"source": source, "tags": tags, "run": run, "pinned": True, "removable": False}
        return self._written(identify(by), name, content, at, fields)

    def write(
        self,
        content: str,
        *,
        by: Principal,
        name: str | None = None,
        priority: int = 50,
        source: Source = "agent",
        removable: bool = True,
        run: str | None = None,
        tags: Iterable[str] = (),
        at: int | None = None,
    ) -> Block:
        """Write a block of the unpinned tier, in one's own registry or in another's.

        Args:
            content: any text.
            by: the caller, who becomes its author.
            name: unique; ``agent-1`` and so on, after the source, unless given.
            priority: 0 to 100.
            source: what the caller states about where it comes from.
            removable: False keeps everybody but the author, with force, from removing it.
            run: that a rollback takes it back with.
            tags: free words.
            at: position within the tier; last unless given.

        Raises:
            AuthorityError: neither owner nor granted to write.
            DuplicateBlockError: the name is taken.
            RegistryError: another argument is refused.
        """
        fields = {
            "source": source, "tags": tags, "run": run,
            "pinned": False, "removable": removable, "priority": priority,
        }  # fmt: skip
        return self._written(identify(by), name, content, at, fields)

    def write_all(
        self,
        contents: Mapping[str, str],
        *,
        by: Principal,
        priority: int = 50,
        source: Source = "agent",
        removable: bool = True,
        run: str | None = None,
        tags: Collection[str] = (),
    ) -> tuple[Block, ...]:
        """Write several blocks at the end of the unpinned tier, all of them or none.

        Args:
            contents: by name, in order.
            by: the caller, who becomes their author.
            priority: of each; and so are the other arguments of ``write``.
            source: as ``write``.
            removable: as ``write``.
            run: as ``write``.
            tags: as ``write``.

        Raises:
            AuthorityError, DuplicateBlockError, RegistryError: as ``write``.
        """
        author = identify(by)
        fields: dict[str, Any] = {
            "source": source, "tags": tags, "run": run,
            "pinned": False, "removable": removable, "priority": priority,
        }  # fmt: skip
        return self._taken_in(
            [
                drafted(self._counter, author, name, text, **fields)
                for name, text in contents.items()
            ]
        )

    def amend(self, block_id: UUID, content: str, *, by: Principal) -> Block:
        """Change a block's content; its id, name and place stay.

        Raises:
            AuthorityError: not its author, or one whose grant was revoked.
            UnknownBlockError: no such block.
            RegistryError: the content is refused.
        """
        author = identify(by)
        with self._store.lock:
            record = self._store.record(block_id)
            self._grants.check_amend(author, record)
            name, pinned = record.entry.name, record.pinned
        # Name and tier never change, so counting need not hold the lock.
        entry, plain = counted(self._counter, name, content, pinned=pinned, block_id=block_id)
        with self._store.lock:
            record = self._store.record(block_id)
            self._grants.check_amend(author, record)
            self._store.rewrite(record, plain, entry)
            self._log("amend", author, record)
            return self._store.view(record)

    def promote(
        self, block_ids: UUID | Sequence[UUID], position: int = 0, *, by: Principal
    ) -> None:
        """Move blocks of one tier, as a group that keeps the order given.

        Args:
            block_ids: one, or several in the order that they are to have.
            position: of the first of them, within their tier; beyond the end is last.
            by: for pins the owner or their author; else whoever may write.

        Raises:
            AuthorityError: the caller may not move one of them.
            UnknownBlockError: no such block.
            RegistryError: no block, one twice, or blocks of both tiers.
        """
        who, place = identify(by), checked_int("position", position)
        ids = [block_ids] if isinstance(block_ids, UUID) else list(block_ids)
        if not ids or len(set(ids)) < len(ids):
            raise RegistryError("a group to promote is one block or more, each of them once")
        with self._store.lock:
            records = [self._store.record(block_id) for block_id in ids]
            if len({record.pinned for record in records}) > 1:
                raise RegistryError("a group to promote is of one tier; promote the pins apart")
            for record in records:
                self._grants.check_move(who, record)
            self._store.move(records, place)
            names = [record.entry.name for record in records]
            self._log("promote", who, detail={"names": names, "position": place})

    def evict(self, block_id: UUID, *, by: Principal, force: bool = False) -> Block:
        """Remove a block: one's own, or a removable one where one may write.

        Args:
            block_id: of the block.
            by: the caller.
            force: what an author says to remove a non-removable block, a pin included.

        Raises:
            AuthorityError: non-removable, and not the author with force; or a stranger.
            UnknownBlockError: no such block.
        """
        who = identify(by)
        with self._store.lock:
            record = self._store.record(block_id)
            self._grants.check_remove(who, record, force=force)
            return self._removed([record], who, "evict")[0]

    def evict_lowest(
        self, count: int = 1, *, by: Principal, scorer: Scorer | None = None
    ) -> tuple[Block, ...]:
        """Remove the caller's own removable blocks that are worth the least.

        Blocks of others, non-removable ones and pins are never candidates, and a
        block that the scorer gives ``math.inf`` stays (section 2.5).

        Args:
            count: how many at most.
            by: the caller.
            scorer: in the place of the registry's.

        Raises:
            RegistryError: the scorer gives no number.
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
            found = [self._store.find(view.id) for view in ranked]
            return self._removed([r for r in found if r is not None][:most], who, "evict")

    def rollback(self, run: str, *, by: Principal, force: bool = False) -> tuple[Block, ...]:
        """Take back all blocks of a run, or none of them.

        Args:
            run: as given at their writing; one without blocks is no error.
            by: their author.
            force: to take back non-removable ones too, pins included.

        Raises:
            AuthorityError: one is of another author, or non-removable without force.
        """
        who = identify(by)
        with self._store.lock:
            entries = self._store.entries() if isinstance(run, str) else []  # pyright: ignore[reportUnnecessaryIsInstance]  # None is the run of all others
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

    def _written(
        self,
        author: UUID,
        name: str | None,
        content: str,
        at: int | None,
        fields: Mapping[str, Any],
    ) -> Block:
        place = None if at is None else checked_int("at", at)
        while True:
            with self._store.lock:
                self._grants.check(author, pin=fields["pinned"])
                stem = "pin" if fields["pinned"] else fields["source"]
                free = self._free_name(stem) if name is None else name
            record = drafted(self._counter, author, free, content, **fields)
            try:
                return self._taken_in([record], place)[0]
            except DuplicateBlockError:
                if name is not None:
                    raise
