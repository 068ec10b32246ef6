"""One change of a user's file: shown, made whole or not at all, and undone."""

import difflib
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from constraintrot.errors import ConstraintRotError
from constraintrot.files import contents, replace


class PinInstallError(ConstraintRotError, RuntimeError):
    """Settings, rules or a state folder cannot be used; nothing was changed."""


class OlderListError(PinInstallError):
    """A signed list is older than one that was accepted before on this machine.

    ``newest`` is the owner and the revision of the list that was accepted before.
    """

    def __init__(self, message: str, newest: tuple[str, int]) -> None:
        super().__init__(message)
        self._newest = newest

    def holds(self, signed: Mapping[str, Any] | None) -> bool:
        """Return whether the compiled list is the newest one, so that it stays in force."""
        return signed is not None and (signed["owner"], signed["revision"]) == self._newest


_LARGEST = 16 * 1024 * 1024
_NEW_FILE = 0o644
_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class FileState:
    """The state of a file."""

    path: Path  # as the agent names it
    real: Path  # the file itself, if the path is a link
    data: bytes | None  # its bytes; None if there is no file
    mode: int

    @property
    def text(self) -> str:
        """The text, without a byte order mark."""
        try:
            return (self.data or b"").decode("utf-8").removeprefix("\ufeff")
        except UnicodeDecodeError as error:
            raise PinInstallError(f"{self.path} is not UTF-8, at byte {error.start}") from None

    @property
    def marked(self) -> bool:
        return (self.data or b"").startswith(_MARK)

    def encoded(self, text: str) -> bytes:
        """Return a text as bytes, with this file's byte order mark if it has one."""
        return (_MARK if self.marked else b"") + text.encode("utf-8")


def read_file(path: Path) -> FileState:
    """Read a file of the user's, following links."""
    real = Path(os.path.realpath(path))
    if not os.path.lexists(real):
        if os.path.lexists(path):
            raise PinInstallError(f"{path} is a link to {real}, which is not there")
        return FileState(path, real, None, _NEW_FILE)
    try:
        data = contents(real, _LARGEST, PinInstallError)
        mode = stat.S_IMODE(real.stat().st_mode)
    except (PinInstallError, OSError) as error:
        raise PinInstallError(f"{path}: {error}") from None
    return FileState(path, real, data, mode)


def check_writable(state: FileState) -> None:
    """Check that a file can be changed."""
    if state.data is not None and not (state.mode & 0o222 and os.access(state.real, os.W_OK)):
        raise PinInstallError(f"{state.path} is read-only; make it writable, or name another scope")
    folder = next(parent for parent in state.real.parents if parent.exists())
    if not folder.is_dir() or not os.access(folder, os.W_OK | os.X_OK):
        raise PinInstallError(f"{folder} may not be written in")


def make_folder(folder: Path, mode: int = 0o777) -> None:
    """Make a folder and its missing parents."""
    try:
        folder.mkdir(mode=mode, parents=True, exist_ok=True)
    except OSError as error:
        raise PinInstallError(f"cannot make {folder}: {error}") from None


def write_file(state: FileState, data: bytes) -> None:
    """Replace a file whole, keeping its mode, and make its folders.

    A file that was changed since it was read is refused.
    """
    make_folder(state.real.parent)
    if read_file(state.path).data != state.data:
        raise PinInstallError(f"{state.path} was changed meanwhile; try again")
    owner = state.real.stat() if state.data is not None else None
    replace(state.real, data, PinInstallError, mode=state.mode)
    if owner is not None and hasattr(os, "chown") and os.geteuid() == 0:
        os.chown(state.real, owner.st_uid, owner.st_gid)


def remove_file(state: FileState, folders: list[Path]) -> None:
    """Remove a file that we made, and those of the folders that are then empty."""
    state.real.unlink(missing_ok=True)
    for folder in reversed(folders):
        try:
            folder.rmdir()
        except OSError:
            return  # The user has put something there.


def diff(path: Path, before: bytes | None, after: bytes | None) -> str:
    """Return the change as a unified diff with control characters escaped."""
    name = str(path)
    lines = difflib.unified_diff(
        _lines(before),
        _lines(after),
        "/dev/null" if before is None else name,
        "/dev/null" if after is None else name,
        lineterm="",
    )
    return "\n".join(lines)


def digest(data: bytes | None) -> str | None:
    """Return the SHA-256, hex; None for no file."""
    return None if data is None else sha256(data).hexdigest()


def _lines(data: bytes | None) -> list[str]:
    text = (data or b"").decode("utf-8", "replace")
    return [
        "".join(char if char.isprintable() or char == "\t" else ascii(char)[1:-1] for char in line)
        for line in text.splitlines()
    ]
