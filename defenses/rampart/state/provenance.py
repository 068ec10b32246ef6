"""The origin of every block, and the removal of those that are gone.

Section 2.5: the full lineage, each line with its source, author and run. It is read from the log, which also has
the removed blocks, and from the logs of this process's other registries for the blocks that the
owner wrote into those.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Literal, TypeAlias
from uuid import UUID

from constraintrot.defenses.rampart.block import Source, name_key
from constraintrot.defenses.rampart.state.ledger import Entry

State: TypeAlias = Literal["live", "evicted", "rolled back"]


@dataclass(frozen=True, slots=True)
class Line:
    """The life of one block.

    Attributes:
        registry: id of the block's registry.
        name: the block's name.
        digest: digest of its last content.
        source: its origin as its author stated it.
        author: the author, proven at its writing.
        run: the run that wrote it.
        pinned: whether in the pinned tier.
        created: seconds since the epoch.
        amended: number of changes of its content.
        state: live, or how it ended.
        ended_by: the principal that removed it.
    """

    registry: UUID
    name: str
    digest: str
    source: Source
    author: UUID
    run: str | None
    pinned: bool
    created: float
    amended: int = 0
    state: State = "live"
    ended_by: UUID | None = None


@dataclass(frozen=True, slots=True)
class Provenance:
    """The lineage of a registry's blocks.

    Attributes:
        here: blocks of the registry, removed ones included, in order of writing.
        elsewhere: blocks that its owner wrote into other registries of this process.
    """

    here: tuple[Line, ...]
    elsewhere: tuple[Line, ...]

    def rows(self) -> list[dict[str, object]]:
        """Return all lines as plain dicts, for a table."""
        return [asdict(line) for line in (*self.here, *self.elsewhere)]


def lineage(registry: UUID, log: Iterable[Entry]) -> tuple[Line, ...]:
    """Return the lives of all blocks in a log."""
    lines: list[Line] = []
    live: dict[str, int] = {}
    for entry in log:
        key = name_key(entry.name)
        if entry.action in ("write", "pin"):
            live[key] = len(lines)
            lines.append(_line(registry, entry))
        elif entry.action == "amend":
            at = live[key]
            lines[at] = replace(lines[at], digest=entry.digest, amended=lines[at].amended + 1)
        elif entry.action == "rename":
            at = live[key] = live.pop(name_key(json.loads(entry.detail)["was"]))
            lines[at] = replace(lines[at], name=entry.name)
        elif entry.action in ("evict", "rollback"):
            at = live.pop(key)
            state: State = "evicted" if entry.action == "evict" else "rolled back"
            lines[at] = replace(lines[at], state=state, ended_by=entry.by)
    return tuple(lines)


def _line(registry: UUID, entry: Entry) -> Line:
    facts: Mapping[str, object] = json.loads(entry.detail)
    return Line(
        registry=registry,
        name=entry.name,
        digest=entry.digest,
        source=facts["source"],  # type: ignore[arg-type]  # from our own log
        author=entry.by,
        run=facts["run"],  # type: ignore[arg-type]  # from our own log
        pinned=entry.action == "pin",
        created=entry.time,
    )
