"""A registry's records of its blocks, made from a caller's arguments, and entries for compiles.

A new record is checked, framed and counted, but not yet in a registry. Entries are immutable, so
a compile can go on from a copy while other threads change the registry.
"""

import time
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, NamedTuple, TypedDict, Unpack
from uuid import UUID, uuid4

from constraintrot.defenses.rampart import block
from constraintrot.defenses.rampart.block import Counter, Source
from constraintrot.defenses.rampart.errors import RegistryError
from constraintrot.defenses.rampart.framing import frame
from constraintrot.defenses.rampart.seeds import Seed


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


class Author(NamedTuple):
    """The id of a block's author, and the author's name in the block's frame."""

    id: UUID
    shown: str


class Fields(TypedDict):
    """The caller's fields of a new block besides its name and content; see ``Block``."""

    priority: int
    source: str
    removable: bool
    run: str | None
    tags: Iterable[str]


def new_record(
    counter: Counter,
    author: Author,
    name: str,
    content: str,
    *,
    pinned: bool,
    **fields: Unpack[Fields],
) -> Record:
    """Return a record with a fresh id."""
    if not isinstance(fields["removable"], bool):  # callers may be untyped
        raise RegistryError(f"removable is True or False; got {fields['removable']!r}")
    checked = block.checked_name(name)
    entry, plain = new_entry(counter, checked, content, pinned=pinned, author=author.shown)
    return Record(
        entry=entry,
        content=plain,
        priority=block.checked_int("priority", fields["priority"], most=100),
        source=block.checked_source(fields["source"]),
        author=author.id,
        removable=fields["removable"],
        run=block.checked_run(fields["run"]),
        created=time.time(),
        tags=block.checked_tags(fields["tags"]),
        pinned=pinned,
    )


def new_entry(
    counter: Counter,
    name: str,
    content: str,
    *,
    pinned: bool,
    author: str,
    block_id: UUID | None = None,
) -> tuple[Entry, str]:
    """Return a block's entry for compiles, and its content as a plain string.

    The name is checked already; the id is fresh unless given.
    """
    plain = block.checked_content(content, pinned=pinned)
    framed = frame(name, plain, tier="pin" if pinned else "note", author=author)
    tokens = block.checked_int("a token count", counter(framed))
    digest = sha256(plain.encode()).hexdigest()
    return Entry(framed, tokens, name, block_id or uuid4(), digest, block.name_key(name)), plain


def from_seeds(
    counter: Counter,
    author: Author,
    seeds: Sequence[Seed],
    pin: Callable[[Seed], bool] | Collection[str],
) -> list[Record]:
    """Return new records from seeds, of which some are pinned, by name or by a callable."""
    return [
        new_record(
            counter, author, seed.name, seed.content,
            pinned=pinned, removable=not pinned,
            priority=seed.priority, source="seed", run=None, tags=seed.tags,
        )
        for seed, pinned in zip(seeds, _pinned(seeds, pin), strict=True)
    ]  # fmt: skip


def _pinned(seeds: Sequence[Seed], pin: Callable[[Seed], bool] | Collection[str]) -> list[bool]:
    if callable(pin):
        return [bool(pin(seed)) for seed in seeds]
    if isinstance(pin, str):
        raise RegistryError(f"pin= takes several names, not the one string {pin!r}")
    if missing := sorted(set(pin) - {seed.name for seed in seeds}):
        raise RegistryError(f"pin= names seeds that are not loaded: {', '.join(missing)}")
    return [seed.name in pin for seed in seeds]
