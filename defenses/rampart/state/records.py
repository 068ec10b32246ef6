"""The registry's records of its blocks, and the entries that a compile reads.

The entries are immutable, so that a compile can go on from a copy while
other threads change the registry.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from uuid import UUID

from constraintrot.defenses.rampart.block import Source


class Entry(NamedTuple):
    """The part of a block that a compile reads; ``key`` is its name in folded form."""

    frame: str
    tokens: int
    name: str
    id: UUID
    digest: str
    key: str


@dataclass(slots=True, eq=False)
class Record:
    """The registry's own record of a block; never handed out.

    ``extra`` to ``skipped`` belong to ``accounting.Accesses``; ``fields`` are those of a view
    that do not change while the entry is this one, never handed out themselves.
    """

    entry: Entry
    content: str
    priority: int
    source: Source
    author: UUID
    removable: bool
    run: str | None
    created: float
    tags: tuple[str, ...]
    pinned: bool
    extra: int = 0
    joined: int = 0
    born: int = 0
    last: int | None = None
    skipped: int = 0
    fields: tuple[Entry, dict[str, Any]] | None = None


class Moment(NamedTuple):
    """A registry at one moment, as a compile sees it."""

    pins: Sequence[Entry]
    pinned_text: str
    pinned_tokens: int
    manifest: str
    rest: Sequence[Entry]
    rest_tokens: int
    revision: int
