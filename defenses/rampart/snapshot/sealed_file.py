"""Snapshots: a registry's state in one authenticated file, written whole or not at all.

The file is a line of ASCII and a body of canonical JSON::

    RAMPART-SNAPSHOT <version> <key check> <bytes of the body> <HMAC-SHA256>

The MAC covers the rest of the line and the body. The key check is a MAC of a
constant, so that a wrong key and a changed file are told apart.
"""

import hmac
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final, cast

from constraintrot.defenses.rampart.errors import SnapshotError
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


def write(
    path: str | Path, state: Mapping[str, object], key: bytes, *, largest: int = LARGEST
) -> None:
    """Write a state as one file that only its owner can read; an old one is replaced.

    Args:
        path: the file itself, not a link to it, in an existing folder, where a lock file
            ``.NAME.lock`` stays.
        state: JSON values; tuples come back as lists.
        key: at least 16 secret bytes.
        largest: bytes that the file may have.

    Raises:
        SnapshotError: the key is too short, the state is not JSON or too large, the path is a
            link, or the disk refused. An older file at the path then stays as it is.
    """
    _check_key(key)
    with locked(path, SnapshotError):
        write_held(path, state, key, largest=largest)


def write_held(
    path: str | Path, state: Mapping[str, object], key: bytes, *, largest: int = LARGEST
) -> None:
    """``write`` for a caller that already holds the lock of the file."""
    _check_key(key)
    content = _sealed(state, key)
    if len(content) > largest:
        raise SnapshotError(f"the snapshot has {len(content):,} bytes; at most {largest:,} fit")
    replace(Path(path), content, SnapshotError)


def read(path: str | Path, key: bytes, *, largest: int = LARGEST) -> dict[str, object]:
    """Return the state of a snapshot after checking its seal.

    Args:
        path: the file itself, not a link to it.
        key: the key that it was written with.
        largest: bytes that the file may have.

    Raises:
        SnapshotError: the key is too short or another one, or the file is missing, a link, too
            large, not a snapshot, of another version, truncated or tampered with.
    """
    _check_key(key)
    try:
        content = contents(path, largest, SnapshotError)
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
