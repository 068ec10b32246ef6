"""What a session format is to the rest: how it is recognised, read, and where it lies."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from constraintrot.coding_agents.sessions.events import Event, Losses
from constraintrot.coding_agents.sessions.json_lines import Record


@dataclass(frozen=True)
class Format:
    """A format of lines of JSON.

    Attributes:
        name: short, as in the report.
        title: the agent.
        sniff: whether a record is of this format.
        read: the events of the numbered records; told what it cannot read.
        skip: marks of records that nobody reads, looked for before they are parsed.
        places: where its sessions lie, with ``*``.
        project_files: instruction files that the agent sends with each request, so that
            they are in every context though the session file does not hold them.
    """

    name: str
    title: str
    sniff: Callable[[Record], bool]
    read: Callable[[Iterable[tuple[int, Record]], Losses], Iterator[Event]]
    skip: tuple[bytes, ...] = ()
    places: tuple[str, ...] = ()
    project_files: tuple[str, ...] = ()


@dataclass(frozen=True)
class Session:
    """A session that can be read, any number of times.

    Attributes:
        path: the file, or what names the source.
        name: the path, with the session where a file holds several.
        format: name of the format.
        title: the agent.
        size: bytes of the file.
        project_files: instruction files that this agent sends with each request.
        events: opens it anew; counts what it cannot read.
    """

    path: Path
    name: str
    format: str
    title: str
    size: int
    project_files: tuple[str, ...]
    events: Callable[[Losses], Iterator[Event]]


@dataclass(frozen=True)
class Refused:
    """A file that is no session, or cannot be read, and why."""

    path: Path
    why: str
