"""The changes that an installation makes in a user's files: planned, made, undone.

The record of an installation has a mapping for each file: its ``path``, the ``kind`` of
change, the ``part`` by which ours is recognised, what was ``created`` in the file, the
``folders`` made for it, and its digests: ``before`` without our part, ``after`` with it, and
``since``, what the last installation found (after a kill it may still be there).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from constraintrot.coding_agents.pins import targets
from constraintrot.coding_agents.pins.file_edit import (
    FileState,
    PinInstallError,
    diff,
    digest,
    read_file,
    remove_file,
    write_file,
)
from constraintrot.coding_agents.pins.targets import Target
from constraintrot.files import replace

_UNKNOWN: Final = "unknown"


@dataclass
class Edit:
    """The planned change of one file."""

    now: FileState  # the file before the change
    base: bytes | None  # its bytes without our part; None for no file
    wanted: bytes | None  # its bytes with our part; None to remove our part
    noted: dict[str, Any]  # the file's entry in the record
    notes: list[str]  # remarks for the user

    @classmethod
    def planned(cls, folder: Path, target: Target, files: Sequence[dict[str, Any]]) -> Edit:
        now = read_file(target.path)
        noted = next((one for one in files if one["path"] == str(target.path)), unrecorded(target))
        try:
            base, notes = _base(folder, now, noted)
            state = FileState(now.path, now.real, base, now.mode)
            wanted, created = target.put_into(state)
        except PinInstallError as error:
            raise PinInstallError(f"{target.path}: {error}; nothing was changed") from None
        fresh = {
            **unrecorded(target),
            "created": created,
            "folders": noted["folders"]
            or [str(one) for one in reversed(now.real.parents) if not one.exists()],
            "before": digest(base),
            "after": digest(wanted),
            "since": digest(base if now.data == wanted else now.data),
        }
        return cls(now, base, wanted, fresh, notes)

    def prepared(self, folder: Path) -> dict[str, Any]:
        """Back up the file without our part, and return its entry for the record."""
        if self.base is not None:
            replace(folder / _backup(self.noted), self.base, PinInstallError)
        return self.noted

    @property
    def data(self) -> bytes | None:
        """The bytes after the change; None for no file."""
        return self.base if self.wanted is None else self.wanted

    def apply(self) -> None:
        """Write the file, or remove it if nothing but ours was in it."""
        if self.data == self.now.data:
            return
        if self.noted["kind"] == "plugin" and self.notes:
            # A copy under a name that the agent does not run.
            replace(_aside(self.now), self.now.data or b"", PinInstallError, mode=self.now.mode)
        self._write(self.now, self.data)

    def undo(self) -> None:
        """Put the file back as it was before ``apply``, unless it was changed meanwhile."""
        written = read_file(self.now.path)
        if written.data == self.data != self.now.data:
            self._write(written, self.now.data)

    def _write(self, state: FileState, data: bytes | None) -> None:
        if data is None:
            remove_file(state, [Path(one) for one in self.noted["folders"]])
        else:
            write_file(state, data)

    def diff(self) -> str:
        return diff(self.now.path, self.now.data, self.data)


def unrecorded(target: Target) -> dict[str, Any]:
    """Return the entry of a file without a record, which may hold a part of ours.

    The record was lost, or the file was moved here with our part in it.
    """
    kept = {"path": str(target.path), "kind": target.kind, "part": target.part}
    return {**kept, "created": [], "folders": [], "before": _UNKNOWN, "after": _UNKNOWN}


def leftover(folder: Path, files: Sequence[dict[str, Any]], planned: list[Edit]) -> list[Edit]:
    """Return edits that remove our part from recorded files that are not planned any more."""
    kept = {edit.noted["path"] for edit in planned}
    edits = []
    for noted in files:
        if noted["path"] in kept:
            continue
        now = read_file(Path(noted["path"]))
        try:
            base, notes = _base(folder, now, noted)
        except PinInstallError as error:
            raise PinInstallError(f"{now.path}: {error}; nothing was changed") from None
        edits.append(Edit(now, base, None, noted, notes))
    return edits


def _base(folder: Path, now: FileState, noted: dict[str, Any]) -> tuple[bytes | None, list[str]]:
    """Return a file's bytes without our part, and remarks for the user."""
    if digest(now.data) == noted["before"]:
        return now.data, []
    if digest(now.data) in (noted["after"], noted.get("since", noted["after"])):
        if noted["before"] is None:
            return None, []
        before = (folder / _backup(noted)).read_bytes()
        if digest(before) == noted["before"]:
            return before, []
    rest = targets.without(noted["kind"], now, noted["part"], noted["created"])
    if rest == now.data:
        if noted["before"] == _UNKNOWN:
            return rest, []
        return rest, [f"{now.path} was changed since, and holds nothing of ours any more"]
    if noted["kind"] == "plugin":
        return rest, [f"{now.path} was changed since: what it held is in {_aside(now).name}"]
    return rest, [f"{now.path} was changed since: only our part of it is taken out"]


def _backup(noted: dict[str, Any]) -> str:
    name = sha256(os.fsencode(noted["path"])).hexdigest()[:8]
    return f"before-{name}"


def _aside(now: FileState) -> Path:
    """Return a free name for a plugin that the user edited."""
    path = now.real
    while os.path.lexists(path):
        path = path.with_name(f"{path.name}.edited")
    return path


def apply_all(edits: list[Edit]) -> None:
    done: list[Edit] = []
    try:
        for edit in edits:
            done.append(edit)
            edit.apply()
    except (PinInstallError, OSError):
        for edit in reversed(done):
            with suppress(PinInstallError, OSError):
                edit.undo()
        raise
