"""Snapshots: a registry's state in one authenticated file, written whole or not at all.

The file is a line of ASCII and a body of canonical JSON::

    RAMPART-SNAPSHOT <version> <key check> <bytes of the body> <HMAC-SHA256>

The MAC covers the rest of the line and the body. The key check is a MAC of a
constant, so that a wrong key and a changed file are told apart.

Block ids, token counts and embeddings are left out: ids are renewed, a snapshot must not
understate tokens, and the embedding model may be another one at the restore.
"""

import hmac
import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, cast
from uuid import UUID

from constraintrot.defenses.rampart.block import Counter
from constraintrot.defenses.rampart.errors import (
    AuthorityError,
    DuplicateBlockError,
    RampartError,
    SnapshotError,
)
from constraintrot.defenses.rampart.state import ledger
from constraintrot.defenses.rampart.state.accounting import Accesses
from constraintrot.defenses.rampart.state.authority import Grants
from constraintrot.defenses.rampart.state.ledger import Ledger
from constraintrot.defenses.rampart.state.record_factory import Author, Record, new_record
from constraintrot.defenses.rampart.state.store import Store
from constraintrot.files import contents, locked, replace

VERSION: Final = 1
SHORTEST_KEY: Final = 16
"""The shortest key in bytes."""
LARGEST: Final = 512 * 1024 * 1024
"""The largest file in bytes."""

_MAGIC: Final = b"RAMPART-SNAPSHOT "
_LONGEST_LINE: Final = 256
_LINE: Final = re.compile(
    rb"(?P<signed>RAMPART-SNAPSHOT (?P<version>[1-9][0-9]{0,8}) "
    rb"(?P<check>[0-9a-f]{16}) (?P<size>[1-9][0-9]{0,14}) )(?P<mac>[0-9a-f]{64})\n"
)


def write(path: str | Path, state: Mapping[str, object], key: bytes) -> None:
    """Write a state as one file that only its owner can read; the caller holds its lock.

    Args:
        path: the file itself, not a link to it, in an existing folder.
        state: JSON values; tuples come back as lists.
        key: at least 16 secret bytes.
    """
    _check_key(key)
    content = _sealed(state, key)
    if len(content) > LARGEST:
        raise SnapshotError(f"the snapshot has {len(content):,} bytes; at most {LARGEST:,} fit")
    replace(Path(path), content, SnapshotError)


def read(path: str | Path, key: bytes) -> dict[str, object]:
    """Return the state of a snapshot after checking its seal."""
    _check_key(key)
    try:
        content = contents(path, LARGEST, SnapshotError)
    except SnapshotError as error:
        raise SnapshotError(f"the snapshot {path}: {error}") from error.__cause__
    if not content.startswith(_MAGIC[: len(content)]):
        raise SnapshotError(f"{path} is no snapshot: it does not begin with {_MAGIC.decode()!r}")
    line = _LINE.match(content)
    if line is None:
        # The line may be cut short or complete.
        cut = b"\n" not in content[:_LONGEST_LINE]
        raise SnapshotError(f"{path} is {'truncated' if cut else 'damaged'} in its first line")
    if (version := int(line["version"])) != VERSION:
        raise SnapshotError(
            f"{path} is a snapshot of version {version}; this program reads version {VERSION}"
        )
    if not hmac.compare_digest(line["check"], _key_check(key)):
        raise SnapshotError(f"{path} was written with another key, or its first line was changed")
    body = content[line.end() :]
    if len(body) < int(line["size"]):
        raise SnapshotError(
            f"{path} is truncated: it has {len(body):,} bytes of {int(line['size']):,}"
        )
    if not hmac.compare_digest(line["mac"], _mac(key, line["signed"], body)):
        raise SnapshotError(f"{path} was tampered with: its content is not what was written")
    # Parsed only after the MAC was checked.
    return cast("dict[str, object]", json.loads(body))


def _sealed(state: Mapping[str, object], key: bytes) -> bytes:
    try:
        body = json.dumps(
            dict(state), sort_keys=True, separators=(",", ":"), allow_nan=False
        ).encode("ascii")
    except (TypeError, ValueError, RecursionError) as error:
        raise SnapshotError(f"the state is not plain JSON: {error}") from error
    signed = b"%s%d %s %d " % (_MAGIC, VERSION, _key_check(key), len(body))
    return signed + _mac(key, signed, body) + b"\n" + body


def _mac(key: bytes, signed: bytes, body: bytes) -> bytes:
    mac = hmac.new(key, b"rampart snapshot\n", "sha256")
    mac.update(signed)
    mac.update(body)
    return mac.hexdigest().encode("ascii")


def _key_check(key: bytes) -> bytes:
    return hmac.digest(key, b"rampart key\n", "sha256").hex()[:16].encode("ascii")


def _check_key(key: object) -> None:
    if not isinstance(key, bytes) or len(key) < SHORTEST_KEY:
        raise SnapshotError(
            f"a snapshot key is at least {SHORTEST_KEY} secret bytes; "
            "secrets.token_bytes(32) makes one"
        )


FORMAT: Final = 1


def save(path: str | Path, key: bytes, store: Store, grants: Grants, *, overwrite: bool) -> None:
    """Write a registry's state, unless the file has changes that the registry lacks."""
    with locked(path, SnapshotError):
        if not overwrite and os.path.lexists(path):
            _check_earlier(path, key, store)
        with store.lock:
            state = state_of(store, grants)
        write(path, state, key)


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
    """Read a registry's state."""
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
    """Fill a new store and its grants, which must not be used after an error."""
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
