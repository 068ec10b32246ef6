"""A record from a caller's arguments: checked, framed and counted, not yet in a registry."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TYPE_CHECKING
from uuid import UUID

from constraintrot.defenses.rampart import block
from constraintrot.defenses.rampart.block import Counter
from constraintrot.defenses.rampart.errors import RegistryError
from constraintrot.defenses.rampart.framing import frame
from constraintrot.defenses.rampart.state.store import entry_of
from constraintrot.defenses.rampart.state.tier import Entry, Record

if TYPE_CHECKING:
    from constraintrot.defenses.rampart.seeds import Seed


def drafted(
    counter: Counter,
    author: UUID,
    name: str,
    content: str,
    *,
    pinned: bool,
    removable: bool,
    priority: int = 50,
    source: str = "agent",
    run: str | None = None,
    tags: Iterable[str] = (),
) -> Record:
    """A new record with an id of its own.

    Raises:
        RegistryError: an argument is of a wrong kind or out of range.
    """
    if not isinstance(removable, bool):  # pyright: ignore[reportUnnecessaryIsInstance]  # callers may be untyped
        raise RegistryError(f"removable is True or False; got {removable!r}")
    entry, plain = counted(counter, block.checked_name(name), content, pinned=pinned)
    return Record(
        entry=entry,
        content=plain,
        priority=block.checked_int("priority", priority, most=100),
        source=block.checked_source(source),
        author=author,
        removable=removable,
        run=block.checked_run(run),
        created=time.time(),
        tags=block.checked_tags(tags),
        pinned=pinned,
    )


def counted(
    counter: Counter, name: str, content: str, *, pinned: bool, block_id: UUID | None = None
) -> tuple[Entry, str]:
    """What a compile reads of a block, and its content as a plain string.

    Raises:
        RegistryError: the content is refused, or the counter gives no count.
    """
    plain = block.checked_content(content, pinned=pinned)
    tokens = block.checked_int("a token count", counter(frame(name, plain)))
    return entry_of(name, plain, tokens, block_id), plain


def from_seeds(
    counter: Counter,
    author: UUID,
    seeds: Sequence[Seed],
    pin: Callable[[Seed], bool] | Collection[str],
) -> list[Record]:
    """New records from seeds, some of them pinned: by name, or as a callable judges.

    Raises:
        RegistryError: a seed is refused, or a name to pin is not among them.
    """
    if callable(pin):
        chosen = [bool(pin(seed)) for seed in seeds]
    elif isinstance(pin, str):
        raise RegistryError(f"pin= takes several names, not the one string {pin!r}")
    else:
        chosen = [seed.name in pin for seed in seeds]
        if len(set(pin)) != sum(chosen):
            missing = sorted(set(pin) - {seed.name for seed in seeds})
            raise RegistryError(f"pin= names seeds that are not loaded: {', '.join(missing)}")
    return [
        drafted(
            counter, author, seed.name, seed.content,
            pinned=pinned, removable=not pinned,
            priority=seed.priority, source="seed", tags=seed.tags,
        )
        for seed, pinned in zip(seeds, chosen, strict=True)
    ]  # fmt: skip
