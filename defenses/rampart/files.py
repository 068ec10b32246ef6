"""Reading a file that may be anything."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Final

from constraintrot.defenses.rampart.errors import RampartError

# No symlink in the last place; and without O_NONBLOCK a named pipe would wait for a writer.
_FLAGS: Final = os.O_RDONLY | sum(
    getattr(os, flag, 0) for flag in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY")
)


def contents(path: str | Path, largest: int, error: type[RampartError]) -> bytes:
    """The bytes of a regular file, its size checked before it is read.

    Args:
        path: the file itself, not a symlink to it.
        largest: bytes that it may have.
        error: what to raise.

    Raises:
        RampartError: it cannot be read, is no regular file, or is too large.
    """
    try:
        handle = os.open(path, _FLAGS)
    except (OSError, ValueError) as failure:
        raise error(f"it cannot be read: {failure}") from failure
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise error("it is no regular file")
        if status.st_size > largest:
            raise error(f"it is too large: {status.st_size:,} bytes of at most {largest:,}")
        data = _all(handle, status.st_size)
    except OSError as failure:
        raise error(f"it cannot be read: {failure}") from failure
    finally:
        os.close(handle)
    if len(data) != status.st_size:
        raise error("it changed while it was read")
    return data


def _all(handle: int, size: int) -> bytes:
    """The bytes that were announced, and one more if there is one."""
    parts: list[bytes] = []
    left = size + 1
    while left and (part := os.read(handle, left)):
        parts.append(part)
        left -= len(part)
    return b"".join(parts)
