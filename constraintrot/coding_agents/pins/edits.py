"""The changes that an installation makes in a user's files: planned, made, undone.

The record of an installation has a mapping for each file: its ``path``, the ``kind`` of
change, the ``part`` by which ours is recognised, what was ``created`` in the file, the
``folders`` made for it, and the digests ``before`` and ``after``.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeAlias

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

Files: TypeAlias = Sequence[dict[str, Any]]
"""A record's entries, one per file."""


@dataclass
class Edit:
    """The planned change of one file.

    Attributes:
        now: the file before the change.
        base: its bytes without our part; None for no file.
        wanted: its bytes with our part; None to remove our part.
        noted: the file's entry in the record.
        notes: remarks for the user.
    """

    now: FileState
    base: bytes | None
    wanted: bytes | None
    noted: dict[str, Any]
    notes: list[str]

    @classmethod
    def planned(cls, folder: Path, target: Target, files: Files) -> Edit:
        """Plan the edit of a target's file."""
        now = read_file(target.path)
        noted = next((one for one in files if one["path"] == str(target.path)), None)
        try:
            base, notes = _base(folder, now, noted)
            if noted is None:
                # A command of ours may be left from a pin whose folder was lost.
                base = targets.without(target.kind, now, target.part, ())
            state = FileState(now.path, now.real, base, now.mode)
            wanted, created = target.put_into(state)
        except PinInstallError as error:
            raise PinInstallError(f"{target.path}: {error}; nothing was changed") from None
        fresh = {
            "path": str(target.path),
            "kind": target.kind,
            "part": target.part,
            "created": created,
            "folders": noted["folders"] if noted else [],
            "before": digest(base),
            "after": digest(wanted),
        }
        return cls(now, base, wanted, fresh, notes)

    def prepared(self, folder: Path) -> dict[str, Any]:
        """Back up the file without our part, and return its entry for the record."""
        if self.base is not None:
            replace(folder / _backup(self.noted), self.base, PinInstallError)
        return self.noted

    def apply(self) -> None:
        """Write the file, or remove it if nothing but ours was in it."""
        data = self.base if self.wanted is None else self.wanted
        if data == self.now.data:
            return
        if self.noted["kind"] == "plugin" and self.notes:
            # A copy under a name that the agent does not run.
            replace(self.now.real.with_name(f"{self.now.real.name}.edited"), self.now.data or b"",
                    PinInstallError, mode=self.now.mode)  # fmt: skip
        if data is None:
            remove_file(self.now, [Path(one) for one in self.noted["folders"]])
        else:
            made = write_file(self.now, data)
            self.noted["folders"] = self.noted["folders"] or [str(one) for one in made]

    def undo(self) -> None:
        """Put the file back as it was before ``apply``."""
        if self.now.data is None:
            remove_file(self.now, [Path(one) for one in self.noted["folders"]])
        else:
            write_file(read_file(self.now.path), self.now.data)

    def diff(self) -> str:
        """Return the change to the file as a unified diff."""
        return diff(self.now.path, self.now.data, self.base if self.wanted is None else self.wanted)


def leftover(folder: Path, files: Files, planned: list[Edit]) -> list[Edit]:
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


def _base(
    folder: Path, now: FileState, noted: dict[str, Any] | None
) -> tuple[bytes | None, list[str]]:
    """Return a file's bytes without our part, and remarks for the user."""
    if noted is None or digest(now.data) == noted["before"]:
        return now.data, []
    if digest(now.data) == noted["after"]:
        if noted["before"] is None:
            return None, []
        before = (folder / _backup(noted)).read_bytes()
        if digest(before) == noted["before"]:
            return before, []
    rest = targets.without(noted["kind"], now, noted["part"], noted["created"])
    if rest == now.data:
        return rest, [f"{now.path} was changed since, and holds nothing of ours any more"]
    if noted["kind"] == "plugin":
        return rest, [f"{now.path} was changed since: what it held is in {now.path.name}.edited"]
    return rest, [f"{now.path} was changed since: only our part of it is taken out"]


def _backup(noted: dict[str, Any]) -> str:
    name = sha256(os.fsencode(noted["path"])).hexdigest()[:8]
    return f"before-{name}"


def apply_all(edits: list[Edit]) -> None:
    done: list[Edit] = []
    try:
        for edit in edits:
            edit.apply()
            done.append(edit)
    except PinInstallError:
        for edit in reversed(done):
            edit.undo()
        raise
