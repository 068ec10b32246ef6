"""A registry's state as JSON values, and back.

Block ids, token counts and embeddings are left out: ids are renewed, a snapshot must not
understate tokens, and the embedding model may be another one at the restore.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final
from uuid import UUID

from constraintrot.defenses.rampart.block import Counter
from constraintrot.defenses.rampart.errors import (
    AuthorityError,
    DuplicateBlockError,
    RampartError,
    SnapshotError,
)
from constraintrot.defenses.rampart.snapshot.sealed_file import read, write_held
from constraintrot.defenses.rampart.state import ledger
from constraintrot.defenses.rampart.state.accounting import Accesses
from constraintrot.defenses.rampart.state.authority import Grants
from constraintrot.defenses.rampart.state.ledger import Ledger
from constraintrot.defenses.rampart.state.record_factory import Author, Record, new_record
from constraintrot.defenses.rampart.state.store import Store
from constraintrot.files import locked

FORMAT: Final = 1


def save(path: str | Path, key: bytes, store: Store, grants: Grants, *, overwrite: bool) -> None:
    """Write a registry's state, unless the file has changes that the registry lacks.

    Raises:
        SnapshotError: it cannot be written, or the file is not an earlier state of the registry.
    """
    with locked(path, SnapshotError):
        if not overwrite and os.path.lexists(path):
            _check_earlier(path, key, store)
        with store.lock:
            state = state_of(store, grants)
        write_held(path, state, key)


def _check_earlier(path: str | Path, key: bytes, store: Store) -> None:
    """Check that the registry's log has the last change in a file."""
    try:
        log = [ledger.parsed(row) for row in load(path, key)["log"]]
    except (RampartError, LookupError, TypeError, ValueError, AttributeError) as error:
        raise SnapshotError(
            f"{path} is not overwritten: {error}; move it away, or give overwrite=True"
        ) from error
    # A restore that changed nothing since is no reason to refuse.
    last = next((entry for entry in reversed(log) if entry.action != "restore"), None)
    with store.lock:
        ours = store.ledger.entries()
    if last is None or last.index >= len(ours) or ours[last.index].hash != last.hash:
        raise SnapshotError(
            f"{path} is not overwritten: it holds changes that this registry does not have, so"
            " another process or another registry wrote it; restore it and make your changes"
            " again, or give overwrite=True to lose what it holds"
        )


def state_of(store: Store, grants: Grants) -> dict[str, object]:
    """Return all that a restore needs; the caller holds the store's lock."""
    return {
        "format": FORMAT,
        "label": store.label,
        "owner": grants.owner.hex,
        "grants": {who.hex: pin for who, pin in grants.pinning.items()},
        "revision": store.revision,
        "written": store.written,
        "compiles": store.accesses.compiles,
        "blocks": [_row(store, store.records[entry.key]) for entry in store.entries()],
        "log": [entry.row() for entry in store.ledger.entries()],
    }


def load(path: str | Path, key: bytes, least_revision: int = 0) -> dict[str, Any]:
    """Read a registry's state.

    Raises:
        SnapshotError: the file cannot be trusted, holds something else, or is too old.
    """
    state = read(path, key)
    if state.get("format") != FORMAT or not isinstance(state.get("label"), str):
        raise SnapshotError(f"the snapshot is not a registry's state of format {FORMAT}")
    revision = state.get("revision")
    if not isinstance(revision, int) or revision < least_revision:
        raise SnapshotError(
            f"{path} is of revision {revision}, and {least_revision} at least is expected: an"
            " older file was put in its place; find the newer one"
        )
    return state


def fill(store: Store, grants: Grants, state: Mapping[str, Any], counter: Counter) -> None:
    """Fill a new store and its grants, which must not be used after an error.

    Raises:
        AuthorityError: the snapshot is of another owner.
        SnapshotError: the state cannot be used.
    """
    _check_owner(state, grants.owner)
    try:
        entries = [ledger.parsed(row) for row in state["log"]]
        for entry in entries:
            if entry.action == "grant":
                grants.give(UUID(json.loads(entry.detail)["who"]), pin=False)
        records = [_record(row, grants, counter) for row in state["blocks"]]
        counts = [int(state[key]) for key in ("revision", "written", "compiles")]
        grants.pinning = {UUID(who): bool(pin) for who, pin in state["grants"].items()}
    except SnapshotError:
        raise
    except (RampartError, LookupError, TypeError, ValueError, AttributeError) as error:
        raise SnapshotError(f"the snapshot's state cannot be used: {error}") from error
    if not ledger.chained(entries):
        raise SnapshotError("the snapshot's log is no unbroken chain")
    _insert(store, records, counts)
    store.ledger = Ledger(entries)
    store.ledger.append("restore", grants.owner, detail={"blocks": len(records)})


def _check_owner(state: Mapping[str, Any], owner: UUID) -> None:
    try:
        kept = UUID(state["owner"])
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise SnapshotError(f"the snapshot names no owner: {error}") from error
    if kept != owner:
        raise AuthorityError(
            f"the snapshot belongs to principal {kept}; "
            "only its owner restores it, with the same secret"
        )


def _insert(store: Store, records: list[Record], counts: list[int]) -> None:
    with store.lock:
        for record in records:
            kept = (record.extra, record.born, record.last)
            try:
                store.free(record)
            except DuplicateBlockError as error:
                raise SnapshotError(f"the snapshot holds a name twice: {error}") from error
            store.insert(record, None)
            record.extra, record.born, record.last = kept
        store.revision, store.written, compiles = counts
        store.accesses = Accesses(store.records, compiles)


def _row(store: Store, record: Record) -> dict[str, object]:
    accesses, last, _ = store.accesses.of(record)
    return {
        "name": record.entry.name,
        "content": record.content,
        "priority": record.priority,
        "source": record.source,
        "author": record.author.hex,
        "removable": record.removable,
        "run": record.run,
        "created": record.created,
        "tags": list(record.tags),
        "pinned": record.pinned,
        "accesses": accesses,
        "born": record.born,
        "last": last,
    }


def _record(row: Mapping[str, Any], grants: Grants, counter: Counter) -> Record:
    pinned, removable, last = row["pinned"], row["removable"], row["last"]
    if not isinstance(pinned, bool) or (pinned and removable):
        raise SnapshotError(f"block {row['name']!r} of the snapshot is neither pinned nor not")
    author = UUID(row["author"])
    record = new_record(
        counter,
        Author(author, grants.author(author)),
        row["name"],
        row["content"],
        pinned=pinned,
        priority=row["priority"],
        source=row["source"],
        removable=removable,
        run=row["run"],
        tags=row["tags"],
    )
    record.created = float(row["created"])
    record.extra, record.born = int(row["accesses"]), int(row["born"])
    record.last = None if last is None else int(last)
    return record
