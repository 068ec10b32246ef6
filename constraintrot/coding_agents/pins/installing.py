"""Putting a pin into an agent's settings, taking it out again, and exporting its rules.

A pin's files are in one folder below the user's data: the hook, the compiled rules, the
key of the receipts, a backup of the settings, and ``install.json``, the record of the
changes. The settings get only a command that starts the hook.
"""

import os
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

from constraintrot.coding_agents.pins import hook, owners, targets
from constraintrot.coding_agents.pins.compiled import (
    HEADING,
    Source,
    compile_rules,
    read_compiled,
    registry_of,
    source_of,
    write_compiled,
)
from constraintrot.coding_agents.pins.edits import Edit, apply_all, leftover, unrecorded
from constraintrot.coding_agents.pins.file_edit import (
    PinInstallError,
    check_writable,
    make_folder,
)
from constraintrot.coding_agents.pins.owners import IN_REPOSITORY, repository_at
from constraintrot.coding_agents.pins.record import (
    RECORD,
    Pin,
    Record,
    pins_folder,
    read_record,
    records,
    write_record,
)
from constraintrot.defenses.operator import OperatorError, PinList, SigningKey
from constraintrot.defenses.operator.pin_list import LARGEST, looks_signed, read_list
from constraintrot.errors import ConstraintRotError
from constraintrot.files import LONGEST_WAIT, held, replace

_KEY_BYTES: Final = 32


@dataclass(frozen=True)
class Change:
    """The changes that a command made, or would make."""

    diffs: list[str]  # one for each changed file of the user's; empty if none changes
    notes: list[str]  # what the user should know, a sentence each
    folder: Path

    @classmethod
    def of(cls, edits: list[Edit], folder: Path) -> Self:
        diffs = [shown for edit in edits if (shown := edit.diff())]
        return cls(diffs, [note for edit in edits for note in edit.notes], folder)


def install(
    pin: Pin,
    source: Source | None,
    *,
    summarizer: bool = False,
    dry_run: bool = False,
    heading: str = HEADING,
) -> Change:
    """Put a pin into an agent's settings, or bring an installed pin up to date.

    Without a ``source`` the rules are those of the earlier installation. After an error nothing was
    changed.
    """
    if dry_run:
        return _install(pin, source, summarizer, heading, write=False)
    with _locked(pin.home):
        known = (pin.folder / RECORD).exists()
        try:
            return _install(pin, source, summarizer, heading, write=True)
        except (ConstraintRotError, OSError):
            if not known:
                shutil.rmtree(pin.folder, ignore_errors=True)
            raise


def uninstall(pin: Pin, *, dry_run: bool = False) -> Change:
    """Take a pin out of an agent's settings, and restore them to the byte.

    If the user changed them meanwhile, only our part is removed.
    """
    if dry_run:
        return _uninstall(pin, write=False)
    with _locked(pin.home):
        return _uninstall(pin, write=True)


def _install(
    pin: Pin, source: Source | None, summarizer: bool, heading: str, *, write: bool
) -> Change:
    folder = pin.folder
    known = read_record(folder)
    if source is None and known is None:
        raise PinInstallError("name the rules with --rules FILE or --seeds DIR")
    source = source or source_of(read_compiled(folder))
    record = known or Record(pin.agent.name, pin.scope, str(pin.project))
    if write:
        for made in (folder, folder / "sessions"):
            make_folder(made, 0o700)
        if not (folder / "key").exists():
            replace(folder / "key", secrets.token_bytes(_KEY_BYTES), PinInstallError)
    key = (folder / "key").read_bytes() if write else bytes(_KEY_BYTES)
    compiled = compile_rules(folder, source, key, pin.agent.longest, heading, pin.named, note=write)
    edits = [
        Edit.planned(folder, target, record.files)
        for target in targets.of(pin.agent, pin.settings, folder, compiled, summarizer)
    ]
    edits += leftover(folder, record.files, edits)
    for edit in edits:
        check_writable(edit.now)
        if pin.scope == "project" and not edit.now.real.is_relative_to(pin.project.resolve()):
            # A repository may contain links, which would put its rules elsewhere.
            raise PinInstallError(
                f"{edit.now.path} is a link out of the project, to {edit.now.real}; remove it"
            )
    own = pin.agent.settings("user", pin.project, pin.home)
    if pin.scope == "project" and os.path.realpath(pin.settings) == os.path.realpath(own):
        raise PinInstallError(f"{own} is of your own settings: pin with --user")
    if write:
        _write_state(folder, compiled)
        record.summarizer = summarizer
        # Recorded before the settings change, so that a kill leaves no unrecorded change.
        record.files = [edit.prepared(folder) for edit in edits if edit.wanted is not None]
        write_record(folder, record)
        apply_all(edits)
    return Change.of(edits, folder)


def _uninstall(pin: Pin, *, write: bool) -> Change:
    folder = pin.folder
    record = read_record(folder)
    edits = leftover(folder, record.files if record else _possible(pin), [])
    if record is None and not any(edit.diff() for edit in edits):
        raise PinInstallError(
            f"no pin for {pin.agent.title} is installed in {pin.settings};"
            " constraintrot pin status lists those that are"
        )
    for edit in edits:
        check_writable(edit.now)
    if write:
        apply_all(edits)
        shutil.rmtree(folder, ignore_errors=record is None)
    return Change.of(edits, folder)


def _possible(pin: Pin) -> list[dict[str, Any]]:
    """Return an entry for each file that may hold a part of ours, without a record of it."""
    summarizer = pin.agent.name == "codex"
    every = targets.of(pin.agent, pin.settings, pin.folder, {"text": ""}, summarizer)
    return [unrecorded(target) for target in every]


def source_named(path: Path) -> Source:
    """Return the source for a file of rules: a signed list, or any other file."""
    if not path.is_file():
        return Source("rules", path)
    with path.open("rb") as file:
        return Source("signed" if looks_signed(file.read(LARGEST)) else "rules", path)


def source_in(project: Path) -> Source | None:
    """Return the signed list of a project's repository, or None."""
    root = repository_at(project) or project
    file = root / IN_REPOSITORY
    return Source("repository", file) if os.path.lexists(file) else None


def _write_state(folder: Path, compiled: dict[str, Any]) -> None:
    program = Path(__file__).with_name("hook.py").read_bytes()
    replace(folder / "hook.py", program, PinInstallError)
    # A running hook may compile the same rules.
    with hook.held(str(folder / "compile.lock"), time.monotonic() + LONGEST_WAIT):
        write_compiled(folder, compiled)


@contextmanager
def _locked(home: Path | None) -> Iterator[None]:
    folder = pins_folder(home)
    make_folder(folder, 0o700)
    with held(folder / "lock", PinInstallError):
        yield


def export(
    source: Source, out: Path, key: SigningKey, repository: str | None, folder: Path
) -> tuple[PinList, bool]:
    """Write a source as a signed list, and trust it on this machine.

    An existing list gets its next revision; it stays as it is if the pins are the same.

    Returns:
        The list, and whether it was written.
    """
    registry, _ = registry_of(source, folder)
    name = repository.rpartition("/")[2] if repository else out.name.partition(".")[0]
    made = PinList.of(registry, key.public, name=name, repository=repository, revision=1)
    before = _before(out, made)
    seen = owners.seen_revision(out, made, folder)
    if before is not None and before.pins == made.pins and before.revision >= seen:
        made, changed = before, False
    else:
        last = max(seen, before.revision if before else 0)
        made = made.model_copy(update={"revision": last + 1})
        make_folder(out.parent)
        replace(out, made.signed(key).encode("ascii"), PinInstallError, mode=None)
        changed = True
    owners.trust(out, made, repository, folder)
    return made, changed


def installed_source(project: Path | None) -> Source:
    """Return the source of the pinned rules: a project's, or the user's."""
    found = {
        source_of(read_compiled(one.pin.folder))
        for one in records()
        if one.scope == ("project" if project else "user")
        and (project is None or Path(one.project) == project)
    }
    if len(found) != 1 or (source := found.pop()).kind == "repository":
        raise PinInstallError("name the rules to export with --rules FILE or --seeds DIR")
    return source


def _before(out: Path, made: PinList) -> PinList | None:
    if not out.exists():
        return None
    try:
        before = read_list(out)
    except OperatorError as error:
        raise PinInstallError(f"{error}; move it away, or name another file") from None
    mine = (made.owner, made.name, made.repository)
    if (before.owner, before.name, before.repository) != mine:
        raise PinInstallError(
            f"{out} is the list {before.name!r} of key {before.key.id}; move it away, or name"
            " another file"
        )
    return before
