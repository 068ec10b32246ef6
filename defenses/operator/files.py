"""Files that hold secrets: made for their owner only, and refused if open to others."""

import os
import stat
from pathlib import Path
from typing import Final

from constraintrot import files
from constraintrot.defenses.operator.errors import OperatorError

# Follow no symlink in the last place, and do not wait for the writer of a named pipe.
_FLAGS: Final = os.O_RDONLY | sum(
    getattr(os, flag, 0) for flag in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY")
)


def private_bytes(path: Path, largest: int, error: type[OperatorError]) -> bytes:
    """Return the bytes of a file of ours that nobody else can read or write.

    Raises:
        OperatorError: as ``error``; the message never quotes the content.
    """
    try:
        handle = os.open(path, _FLAGS)
    except (OSError, ValueError) as failure:
        why = getattr(failure, "strerror", None) or failure
        raise error(f"cannot read {path}: {why}") from None
    try:
        _check_private(path, os.fstat(handle), error)
        # A regular file gives what it has at once.
        content = os.read(handle, largest + 1)
    finally:
        os.close(handle)
    if len(content) > largest:
        raise error(f"{path} is too large: at most {largest:,} bytes")
    return content


def _check_private(path: Path, status: os.stat_result, error: type[OperatorError]) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise error(f"{path} is no regular file")
    if os.name == "posix" and status.st_mode & 0o077:
        raise error(
            f"{path} is open to others (mode {stat.S_IMODE(status.st_mode):04o}); it may have"
            f" been read: make a new key, or run chmod 600 {path} if it was not"
        )
    if os.name == "posix" and status.st_uid != os.geteuid():
        raise error(f"{path} belongs to another user")


def create(path: Path, content: bytes, mode: int, error: type[OperatorError]) -> None:
    """Write a new file, which has its mode from the first moment on."""
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    except FileExistsError:
        raise error(f"{path} is there already; it is overwritten with --force only") from None
    except (OSError, ValueError) as failure:
        raise error(f"cannot write {path}: {failure}") from None
    try:
        files.fill(handle, content, mode)
    except OSError as failure:
        path.unlink(missing_ok=True)
        raise error(f"cannot write {path}: {failure}") from None


def replace(path: Path, content: bytes, mode: int, error: type[OperatorError]) -> None:
    """Write a file in the place of an older one, whole or not at all."""
    with files.locked(path, error):
        files.replace(path, content, error, mode=mode)
