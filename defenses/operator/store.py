"""Where a channel keeps its state: in memory, or in a folder that processes share."""

from __future__ import annotations

import os
import secrets
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Protocol

from pydantic import ValidationError

from constraintrot.defenses.operator.errors import StateError
from constraintrot.defenses.operator.files import create, private_bytes
from constraintrot.defenses.operator.state import State
from constraintrot.defenses.rampart import SnapshotError, snapshot

_VERSION: Final = 1
_KEY_BYTES: Final = 32
# A lock is held for the time of one small file's writing.
_POLL_SECONDS: Final = 0.005


class Store(Protocol):
    """What a channel reads its state from and writes it to."""

    @contextmanager
    def locked(self) -> Generator[None]:
        """Nobody else reads or writes meanwhile."""
        ...

    def read(self) -> State | None:
        """The state; None where none was ever written."""
        ...

    def write(self, state: State) -> None:
        """Keep a state, at once or not at all."""
        ...


class Memory:
    """A state that ends with the process."""

    def __init__(self) -> None:
        self._state: State | None = None

    @contextmanager
    def locked(self) -> Generator[None]:
        """Needs no lock: the channel has one."""
        yield

    def read(self) -> State | None:
        """The state, where there is one."""
        return self._state

    def write(self, state: State) -> None:
        """Keep a state."""
        self._state = state


class Folder:
    """A state in a folder of mode 0700: one authenticated file, replaced whole.

    An agent and ``constraintrot operator apply`` can share it; a lock file keeps
    them apart, on every platform. Its key keeps a changed file from being read, not an old one:
    whoever may write in the folder can put an older state back.

    Args:
        path: of the folder; made where it is missing.
        owner: what the state belongs to; a state of something else is refused.

    Raises:
        StateError: the folder cannot be made or used.
    """

    def __init__(self, path: str | Path, owner: tuple[str, str]) -> None:
        self._path, self._owner = Path(path), list(owner)
        try:
            self._path.mkdir(mode=0o700, exist_ok=True)
            opened = os.name == "posix" and self._path.stat().st_mode & 0o077
        except OSError as error:
            raise StateError(f"cannot use the folder {path}: {error}") from None
        if opened:
            raise StateError(f"the folder {path} is open to others; run chmod 700 {path}")
        with self.locked():
            self._key = self._made_key()

    @contextmanager
    def locked(self) -> Generator[None]:
        """Wait for other processes.

        Raises:
            StateError: the lock file cannot be used.
        """
        # Not at the top: a channel in memory needs none of it.
        from filelock import FileLock

        # A new one each time: two threads, or a process and its fork, share none.
        lock = FileLock(self._path / "lock", mode=0o600)
        try:
            lock.acquire(poll_interval=_POLL_SECONDS)
        except (OSError, NotImplementedError) as error:
            raise StateError(f"cannot lock {self._path}: {error}") from None
        try:
            yield
        finally:
            lock.release()

    def read(self) -> State | None:
        """The state, where one was written.

        Raises:
            StateError: the file is not what was written, or of something else.
        """
        path = self._path / "state"
        if not path.exists():
            return None
        try:
            kept = snapshot.read(path, self._key)
            if kept.get("version") != _VERSION or kept.get("owner") != self._owner:
                raise StateError(
                    f"{path} is of {kept.get('owner')}, version {kept.get('version')}; wanted"
                    f" is {self._owner}, version {_VERSION}"
                )
            return State.model_validate_json(str(kept["state"]))
        except (SnapshotError, ValidationError, KeyError) as error:
            raise StateError(f"cannot read the operator's state: {error}") from None

    def write(self, state: State) -> None:
        """Keep a state.

        Raises:
            StateError: the disk refused; the older state is then as it was.
        """
        kept = {"version": _VERSION, "owner": self._owner, "state": state.model_dump_json()}
        try:
            snapshot.write(self._path / "state", kept, self._key)
        except SnapshotError as error:
            raise StateError(f"cannot write the operator's state: {error}") from None

    def _made_key(self) -> bytes:
        path = self._path / "state.key"
        if not path.exists():
            if (self._path / "state").exists():
                raise StateError(f"{path} is missing, so the state beside it cannot be trusted")
            create(path, secrets.token_bytes(_KEY_BYTES), 0o600, StateError)
        return private_bytes(path, _KEY_BYTES, StateError)
