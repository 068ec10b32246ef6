"""Stores for a channel's state: in memory, or in a folder that processes share."""

import os
import secrets
import stat
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, TypeAlias

from pydantic import ValidationError

from constraintrot.defenses.operator.errors import StateError
from constraintrot.defenses.operator.files import private_bytes
from constraintrot.defenses.operator.state import State
from constraintrot.defenses.rampart import SnapshotError, snapshot
from constraintrot.files import held, replace

_VERSION: Final = 2
_KEY_BYTES: Final = 32


class Memory:
    """A state that ends with the process."""

    def __init__(self) -> None:
        self._state: State | None = None

    @contextmanager
    def locked(self) -> Generator[None]:
        """Do nothing, because the channel has a lock."""
        yield

    def read(self) -> State | None:
        return self._state

    def write(self, state: State) -> None:
        self._state = state


class Folder:
    """A state in a folder of mode 0700: one authenticated file, replaced whole.

    An agent and ``constraintrot operator apply`` can share it; a lock file keeps them apart, on
    every platform. Its key reveals a changed file, not an old one: a running channel refuses
    a state older than its own, and a starting one a state older than its ``least_revision``.

    Args:
        path: the folder; created if it is missing.
        owner: deployment and session of the state; a state of others is refused.

    Raises:
        StateError: the folder cannot be made or used.
    """

    def __init__(self, path: str | Path, owner: tuple[str, str]) -> None:
        self._path, self._owner = Path(path), list(owner)
        try:
            self._path.mkdir(mode=0o700, exist_ok=True)
            status = self._path.lstat()
        except OSError as error:
            raise StateError(f"cannot use the folder {path}: {error}") from None
        if not stat.S_ISDIR(status.st_mode):
            raise StateError(f"{path} is a link or no folder; name the folder itself")
        if os.name == "posix" and status.st_uid != os.geteuid():
            raise StateError(f"the folder {path} belongs to another user; name one of your own")
        if os.name == "posix" and status.st_mode & 0o077:
            raise StateError(f"the folder {path} is open to others; run chmod 700 {path}")
        with self.locked():
            self._key = self._made_key()

    @contextmanager
    def locked(self) -> Generator[None]:
        """Wait for other processes."""
        with held(self._path / "lock", StateError):
            yield

    def read(self) -> State | None:
        """Return the state, or None if none was ever written."""
        path = self._path / "state"
        if not os.path.lexists(path):
            return None
        try:
            kept = snapshot.read(path, self._key)
            if kept.get("version") != _VERSION or kept.get("owner") != self._owner:
                raise StateError(
                    f"{path} is of {kept.get('owner')}, version {kept.get('version')}; wanted"
                    f" is {self._owner}, version {_VERSION}: give that one's folder, or a new one"
                )
            return State.model_validate_json(str(kept["state"]))
        except (SnapshotError, ValidationError, KeyError) as error:
            raise StateError(f"cannot read the operator's state: {error}") from None

    def write(self, state: State) -> None:
        """Keep a state, whole or not at all."""
        kept = {"version": _VERSION, "owner": self._owner, "state": state.model_dump_json()}
        try:
            snapshot.write(self._path / "state", kept, self._key)
        except SnapshotError as error:
            raise StateError(f"cannot write the operator's state: {error}") from None

    def _made_key(self) -> bytes:
        path = self._path / "state.key"
        sealed = os.path.lexists(self._path / "state")
        if not os.path.lexists(path):
            if sealed:
                raise StateError(
                    f"{path} is missing, so the state beside it cannot be trusted; put the key"
                    f" back, or move {self._path} away to begin with what is declared"
                )
        else:
            key = private_bytes(path, _KEY_BYTES, StateError)
            if len(key) == _KEY_BYTES:
                return key
            # A process killed at its very first start has sealed nothing with it yet.
            if sealed:
                raise StateError(
                    f"{path} has {len(key)} bytes of {_KEY_BYTES}, so the state beside it cannot be"
                    f" trusted; put the key back from a backup, or move {self._path} away to begin"
                    " with what is declared"
                )
        replace(path, fresh := secrets.token_bytes(_KEY_BYTES), StateError)
        return fresh


Store: TypeAlias = Memory | Folder
