"""Session files of any format: recognised by what is in them, not by their names."""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Callable, Iterator
from functools import partial
from glob import iglob
from pathlib import Path

from constraintrot.coding_agents.sessions import (
    atif,
    claude,
    codex,
    copilot,
    gemini,
    inspect_messages,
    opencode,
    pi,
    qwen,
)
from constraintrot.coding_agents.sessions.events import (
    Event,
    Format,
    Losses,
    Record,
    Refused,
    Session,
)
from constraintrot.coding_agents.sessions.json_lines import parsed, records
from constraintrot.coding_agents.sessions.scout import of_service as of_service
from constraintrot.coding_agents.sessions.scout import service as service

FORMATS: tuple[Format, ...] = tuple(
    one.FORMAT for one in (claude, codex, opencode, gemini, qwen, pi, copilot, atif)
)
# Records that are looked at before a file is called foreign.
_LOOKED_AT = 40
# A file that is one JSON value cannot be streamed.
LARGEST_VALUE = 256 * 1024 * 1024
_SUFFIXES = (".jsonl", ".json", ".db", ".eval")
_SQLITE = b"SQLite format 3\x00"


def on_this_machine(home: Path | None = None) -> list[Path]:
    """The session files of the agents on this machine, the newest first.

    Args:
        home: the home folder; by default the user's.
    """
    base = Path.home() if home is None else home
    places = [place.replace("~", str(base), 1) for one in FORMATS for place in one.places]
    found = {Path(path) for place in places for path in iglob(place)}
    return sorted(found, key=_newest, reverse=True)


def sessions(path: Path) -> Iterator[Session | Refused]:
    """The sessions of a file, or of all files of a folder.

    Links to folders are not followed; links to files are.
    """
    try:
        mode = path.stat().st_mode
    except OSError as error:
        yield Refused(path, error.strerror or str(error))
        return
    if stat.S_ISDIR(mode):
        yield from _of_folder(path)
    elif not stat.S_ISREG(mode):
        yield Refused(path, "it is neither a file nor a folder")
    else:
        yield from _of_file(path)


def _of_folder(path: Path) -> Iterator[Session | Refused]:
    closed: list[OSError] = []
    any_file = False
    for folder, below, names in os.walk(path, onerror=closed.append):
        below.sort()
        for name in sorted(names):
            if name.endswith(_SUFFIXES):
                any_file = True
                yield from sessions(Path(folder) / name)
    for error in closed:
        yield Refused(Path(error.filename or path), error.strerror or str(error))
    if not any_file and not closed:
        yield Refused(path, f"no file in this folder may be a session ({', '.join(_SUFFIXES)})")


def _of_file(path: Path) -> Iterator[Session | Refused]:
    try:
        size = path.stat().st_size
        with path.open("rb") as stream:
            head = stream.read(4096)
    except OSError as error:
        yield Refused(path, error.strerror or str(error))
        return
    if not head.strip():
        yield Refused(path, "it is empty")
    elif head.startswith(_SQLITE):
        yield from _database(path, size)
    elif inspect_messages.is_log(path, head):
        yield from _by_others(path, partial(_inspect, path, size))
    elif b"\0" in head:
        yield Refused(path, "it is binary, and neither SQLite nor an Inspect log")
    else:
        yield from _text(path, size, head)


def _inspect(path: Path, size: int) -> Iterator[Session | Refused]:
    for name, events in inspect_messages.samples(path):
        yield Session(path, name, "inspect", "Inspect log", size, (), events)


def _by_others(
    path: Path, read: Callable[[], Iterator[Session | Refused]]
) -> Iterator[Session | Refused]:
    """Yield the sessions that another package reads; its errors refuse the file."""
    try:
        yield from read()
    except Exception as error:
        yield Refused(path, f"it cannot be read: {type(error).__name__}: {error}")


def _text(path: Path, size: int, head: bytes) -> Iterator[Session | Refused]:
    try:
        with path.open("rb") as stream:
            form = _recognised(record for _, record in records(stream, Losses()))
    except OSError as error:
        yield Refused(path, error.strerror or str(error))
        return
    if form is not None:
        yield _session(path, size, form, partial(_streamed, path, form))
        return
    value = _value(path, size, head)
    form = None if value is None else _recognised(iter([value]))
    if value is not None and form is not None:
        yield _session(path, size, form, partial(_whole, path, form))
    else:
        known = ", ".join(one.title for one in FORMATS)
        yield Refused(path, f"no session that this reads ({known}, Inspect logs)")


def _recognised(found: Iterator[Record]) -> Format | None:
    for _, record in zip(range(_LOOKED_AT), found, strict=False):
        for form in FORMATS:
            if form.sniff(record):
                return form
    return None


def _session(
    path: Path, size: int, form: Format, events: Callable[[Losses], Iterator[Event]]
) -> Session:
    return Session(path, str(path), form.name, form.title, size, form.project_files, events)


def _streamed(path: Path, form: Format, losses: Losses) -> Iterator[Event]:
    with path.open("rb") as stream:
        yield from form.read(records(stream, losses, form.skip), losses)


def _whole(path: Path, form: Format, losses: Losses) -> Iterator[Event]:
    value = parsed(path.read_bytes())
    yield from form.read(iter([(1, value)] if value is not None else []), losses)


def _value(path: Path, size: int, head: bytes) -> Record | None:
    """A file that is one JSON object over many lines."""
    if not head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{") or size > LARGEST_VALUE:
        return None
    try:
        return parsed(path.read_bytes())
    except OSError:
        return None


def _database(path: Path, size: int) -> Iterator[Session | Refused]:
    try:
        found = opencode.sessions(path)
    except sqlite3.Error as error:
        yield Refused(path, f"it is no database of opencode, or is damaged: {error}")
        return
    for key, folder in found:
        yield Session(
            path, f"{path}#{key}", "opencode", opencode.FORMAT.title, size,
            opencode.FORMAT.project_files, partial(opencode.read_session, path, key, folder),
        )  # fmt: skip
    if not found:
        yield Refused(path, "the database holds no session")


def _newest(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0
