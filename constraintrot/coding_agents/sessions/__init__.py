"""Session files of any format, recognised by their content, not by their names."""

import os
import sqlite3
import stat
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from glob import iglob
from itertools import islice
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from constraintrot.coding_agents.sessions import (
    atif,
    claude,
    codex,
    copilot,
    gemini,
    inspect_messages,
    langsmith_runs,
    message_lists,
    opencode,
    otlp,
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
from constraintrot.coding_agents.sessions.json_lines import parsed, parsed_value, records
from constraintrot.coding_agents.sessions.scout import of_service as of_service
from constraintrot.coding_agents.sessions.scout import service as service
from constraintrot.extras import installed

FORMATS: tuple[Format, ...] = tuple(
    one.FORMAT for one in (claude, codex, opencode, gemini, qwen, pi, copilot, atif)
)
# Recorded model calls. Each module has a TITLE, `sniff` (of a record), `units` (the calls with
# their lines) and `read` (of a call).
CALLS: tuple[Any, ...] = (langsmith_runs, otlp, message_lists)
# Records that are checked before a file counts as foreign.
_LOOKED_AT = 40
# A file that is one JSON value cannot be streamed.
LARGEST_VALUE = 256 * 1024 * 1024
_SUFFIXES = (".jsonl", ".json", ".db", ".eval")
# What Inspect writes beside the logs of an eval set.
_OF_INSPECT = ("logs.json", "eval-set.json")
_SQLITE = b"SQLite format 3\x00"


def on_this_machine(home: Path | None = None) -> list[Path]:
    """Return the session files of the agents on this machine, the newest first."""
    base = Path.home() if home is None else home
    places = [place.replace("~", str(base), 1) for one in FORMATS for place in one.places]
    found = {Path(path) for place in places for path in iglob(place)}
    return sorted(found, key=_newest, reverse=True)


def sessions(path: Path) -> Iterator[Session | Refused]:
    """Yield the sessions of a file, or of all files of a folder.

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
            if name.endswith(_SUFFIXES) and name not in _OF_INSPECT:
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
        yield from _inspect(path, size)
    elif b"\0" in head:
        yield Refused(path, "it is binary, and neither SQLite nor an Inspect log")
    else:
        yield from _text(path, size, head)


def _inspect(path: Path, size: int) -> Iterator[Session | Refused]:
    try:
        for name, events in inspect_messages.samples(path):
            yield Session(path, name, "inspect", "Inspect log", size, (), events)
    except ValidationError:
        yield Refused(path, "it is no Inspect log of a form that this Inspect reads")
    except Exception as error:
        yield Refused(path, f"it cannot be read: {type(error).__name__}: {error}")


def _text(path: Path, size: int, head: bytes) -> Iterator[Session | Refused]:
    try:
        with path.open("rb") as stream:
            form = _recognised(record for _, record in records(stream, Losses()))
        if form is not None:
            yield _session(path, size, form, partial(_streamed, path, form))
            return
        whole = _values(path, size, head)
        form = _recognised(iter(whole))
        if form is not None:
            yield _session(path, size, form, partial(_whole, path, form))
            return
        found = list(_recorded_calls(path, size, whole))
    except OSError as error:
        yield Refused(path, error.strerror or str(error))
        return
    known = ", ".join([*(one.title for one in FORMATS), *(one.TITLE for one in CALLS)])
    yield from found or [Refused(path, f"no session that this reads ({known}, Inspect logs)")]


def _recorded_calls(path: Path, size: int, whole: Sequence[Record]) -> Iterator[Session | Refused]:
    """Yield the sessions of a file of model calls, which is one JSON value or lines of JSON."""
    lost = Losses()
    with path.open("rb") as stream:
        told = enumerate(whole, 1) if whole else records(stream, lost)
        first = list(islice(told, _LOOKED_AT))
        readers = (one for one in CALLS if any(one.sniff(record) for _, record in first))
        reader = next(readers, None)
        if reader is not None and size > LARGEST_VALUE:
            yield Refused(path, f"{reader.TITLE} are read up to {LARGEST_VALUE:,} bytes")
        elif reader is not None and not installed("inspect_ai"):
            need = "inspect_ai: pip install 'constraintrot[inspect]'"
            yield Refused(path, f"{reader.TITLE} are read with {need}")
        elif reader is not None:
            from constraintrot.coding_agents.sessions import model_calls

            yield from model_calls.sessions(path, size, reader, [*first, *told], lost)


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


def _values(path: Path, size: int, head: bytes) -> list[Record]:
    """Return the objects of a file that is one JSON object or list, maybe over many lines."""
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
    if start not in (b"{", b"[") or size > LARGEST_VALUE:
        return []
    found = parsed_value(path.read_bytes())
    return [one for one in (found if isinstance(found, list) else [found]) if isinstance(one, dict)]


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
