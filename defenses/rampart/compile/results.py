"""The results of a compile and of a dry run."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, TypeAlias, TypeVar
from uuid import UUID

from constraintrot.defenses.rampart.state.record_factory import Entry

P = TypeVar("P", bound="Plan")
Reason: TypeAlias = Literal["gate", "budget"]


@dataclass(frozen=True, slots=True)
class Excluded:
    """A block that a compile left out, and why.

    Attributes:
        id: the block's id.
        name: the block's name.
        reason: ``gate``: not relevant to the query; ``budget``: did not fit.
        tokens: tokens of its frame.
    """

    id: UUID
    name: str
    reason: Reason
    tokens: int


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The blocks that a compile would hold and leave out.

    Attributes:
        tokens: tokens of the prompt, by the registry's counter.
        manifest: SHA-256 over the pins' names and digests.
        revision: the registry's revision at that moment.
    """

    tokens: int
    manifest: str
    revision: int
    _held: Sequence[Entry] = field(repr=False)
    _gated: Sequence[Entry] = field(repr=False)
    _over: Sequence[Entry] = field(repr=False)

    # These are made on demand, because most compiles are only for the prompt.
    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the held blocks in compile order, pins first."""
        return tuple([entry.name for entry in self._held])

    @cached_property
    def ids(self) -> tuple[UUID, ...]:
        """Their ids, in the same order."""
        return tuple([entry.id for entry in self._held])

    @cached_property
    def digests(self) -> tuple[str, ...]:
        """Digests of their contents, in the same order."""
        return tuple([entry.digest for entry in self._held])

    @cached_property
    def excluded(self) -> tuple[Excluded, ...]:
        """The blocks left out by the gate, then those by the budget, each in registry order."""
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


def made(kind: type[P], facts: dict[str, Any]) -> P:
    """Return a plan of checked facts; a frozen dataclass's own constructor is ten times slower."""
    plan = object.__new__(kind)
    object.__setattr__(plan, "__dict__", facts.copy())
    return plan
