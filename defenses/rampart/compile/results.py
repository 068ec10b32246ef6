"""What a compile and a dry run give."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, TypeAlias
from uuid import UUID

from constraintrot.defenses.rampart.state.records import Entry

Reason: TypeAlias = Literal["gate", "budget"]


@dataclass(frozen=True, slots=True)
class Excluded:
    """A block that a compile left out, and why.

    Attributes:
        id: of the block.
        name: of the block.
        reason: ``gate``: not relevant to the query; ``budget``: did not fit.
        tokens: of its frame.
    """

    id: UUID
    name: str
    reason: Reason
    tokens: int


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What a compile would hold.

    Attributes:
        names: in compile order, pins first.
        ids: in the same order.
        digests: of the contents, in the same order.
        tokens: of the prompt, by the registry's counter.
        manifest: SHA-256 over the pins' names and digests.
        revision: of the registry at that moment.
    """

    names: tuple[str, ...]
    ids: tuple[UUID, ...]
    digests: tuple[str, ...]
    tokens: int
    manifest: str
    revision: int
    _gated: Sequence[Entry] = field(repr=False)
    _over: Sequence[Entry] = field(repr=False)

    @cached_property
    def excluded(self) -> tuple[Excluded, ...]:
        """What was left out: by the gate, then by the budget, each in registry order."""
        reasons: tuple[tuple[Reason, Sequence[Entry]], ...] = (
            ("gate", self._gated),
            ("budget", self._over),
        )
        return tuple(Excluded(e.id, e.name, why, e.tokens) for why, left in reasons for e in left)


@dataclass(frozen=True, kw_only=True)
class Compiled(Plan):
    """A compiled prompt and what it is made of.

    Attributes:
        prompt: the frames one after another.
    """

    prompt: str
