"""Safe reading of an untrusted file, and atomic replacement by one process at a time.

A file that is being written has one fixed name beside the target, so the leftover of a
killed process is overwritten by the next one; the lock keeps two processes from writing
to it at once. Neither name may be a link.
"""

import contextlib
import os
import stat
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from constraintrot.errors import ConstraintRotError

# Without O_NONBLOCK a named pipe would wait for a writer.
_LINKS: Final = os.O_RDONLY | sum(
    getattr(os, flag, 0) for flag in ("O_NONBLOCK", "O_CLOEXEC", "O_BINARY")
)
# The last part of the path may not be a symlink.
_FLAGS: Final = _LINKS | getattr(os, "O_NOFOLLOW", 0)
_NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | (_FLAGS & ~os.O_RDONLY)
# The lock is held for the time of one file's reading and writing.
_POLL_SECONDS: Final = 0.005
LONGEST_WAIT: Final = 30.0
"""Most seconds to wait for a lock."""


@contextmanager
def locked(path: str | Path, error: type[ConstraintRotError]) -> Generator[None]:
    """Keep other processes and threads from a file, by a lock file ``.NAME.lock`` beside it.

    Raises:
        ConstraintRotError: as ``error``; the lock cannot be made, or is held for
            longer than ``LONGEST_WAIT``.
    """
    target = Path(path)
    if not target.name or target.name == "..":
        raise error(f"{str(path)!r} names no file; give a folder and a name")
    with held(target.with_name(f".{target.name}.lock"), error):
        yield


@contextmanager
def held(lock_file: Path, error: type[ConstraintRotError]) -> Generator[None]:
    """Hold a lock file, which stays where it is.

    Raises:
        ConstraintRotError: as for ``locked``.
    """
    # Imported here: code that keeps everything in memory needs no lock.
    from filelock import FileLock, Timeout

    # Otherwise filelock would make the folder.
    if not lock_file.parent.is_dir():
        raise error(f"cannot write in {lock_file.parent}: there is no such folder; make it first")
    if os.path.islink(lock_file):
        raise error(f"{lock_file} is a link, which no lock is; remove it")
    # A new lock each time, so that threads, or a process and its fork, do not share one.
    lock = FileLock(lock_file, mode=0o600)
    try:
        lock.acquire(timeout=LONGEST_WAIT, poll_interval=_POLL_SECONDS)
    except Timeout:
        raise error(
            f"another process has held {lock_file} for {LONGEST_WAIT:.0f} seconds; "
            "see what holds it, and end that"
        ) from None
    except (OSError, ValueError, NotImplementedError) as failure:
        raise error(f"cannot lock {lock_file}: {failure}") from None
    try:
        yield
    finally:
        lock.release()


def write(path: Path, content: str | bytes, error: type[ConstraintRotError]) -> None:
    """Write a file that a user named, whole or not at all; if it fails, the old file stays.

    A link is followed, and a device or pipe is written to as it is.

    Raises:
        ConstraintRotError: as ``error``; the file cannot be written.
    """
    data = content.encode("utf-8", "backslashreplace") if isinstance(content, str) else content
    try:
        target = Path(os.path.realpath(path))
        if target.exists() and not target.is_file():
            target.write_bytes(data)
            return
    except (OSError, ValueError) as failure:
        raise error(f"cannot write {path}: {failure}") from failure
    replace(target, data, error, mode=None)


def replace(
    path: Path, data: bytes, error: type[ConstraintRotError], *, mode: int | None = 0o600
) -> None:
    """Write or replace a file, whole or not at all; the caller holds its lock.

    Args:
        path: the file itself.
        data: its content.
        error: the exception to raise.
        mode: its permissions; None for the default of new files.

    Raises:
        ConstraintRotError: as ``error``; the path is a link, or cannot be written. An
            older file then stays as it was.
    """
    if os.path.islink(path):
        raise error(f"cannot write {path}: it is a link; name the file itself, or remove it")
    fresh = path.with_name(f".{path.name}.new")
    try:
        # In the same folder: a rename across disks is not atomic.
        fresh.unlink(missing_ok=True)
        fill(os.open(fresh, _NEW, 0o666 if mode is None else 0o600), data, mode)
        os.replace(fresh, path)
    except (OSError, ValueError) as failure:
        with contextlib.suppress(OSError, ValueError):
            fresh.unlink(missing_ok=True)
        raise error(f"cannot write {path}: {failure}") from failure
    sync_folder(path.parent)


def fill(handle: int, data: bytes, mode: int | None) -> None:
    """Write a new file through to the disk, give it its mode, and close it."""
    with os.fdopen(handle, "wb") as file:
        # Sets permissions that the umask took away.
        if mode is not None and hasattr(os, "fchmod"):
            os.fchmod(handle, mode)
        file.write(data)
        file.flush()
        os.fsync(handle)


def sync_folder(folder: Path) -> None:
    """Sync a folder to the disk, so that a crash of the machine cannot lose a new name."""
    # Not every system can sync a folder.
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def contents(
    path: str | Path, largest: int, error: type[ConstraintRotError], *, links: bool = False
) -> bytes:
    """Return the bytes of a regular file; check its size before reading.

    Args:
        path: the file itself.
        largest: limit of its size, in bytes.
        error: the exception to raise.
        links: whether the path may be a symlink.

    Raises:
        ConstraintRotError: as ``error``; the file is not regular, too large, or not readable.
    """
    if not links and os.path.islink(path):
        raise error("it is a link, which is not followed; name the file itself")
    try:
        handle = os.open(path, _LINKS if links else _FLAGS)
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
    """Return ``size`` bytes, and one more if there is one."""
    parts: list[bytes] = []
    left = size + 1
    while left and (part := os.read(handle, left)):
        parts.append(part)
        left -= len(part)
    return b"".join(parts)
