"""What an attack is: what it does to an episode, and how it may be delivered."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from constraintrot.episode.episode import Episode

Surface: TypeAlias = Literal["tool_output", "document", "memory_entry", "wiki"]
Position: TypeAlias = Literal["early", "middle", "recent"]
Knowledge: TypeAlias = Literal["black_box", "defense_aware"]

# Those of a conversation; only the channels of a wiki have a vault.
SURFACES: tuple[Surface, ...] = ("tool_output", "document", "memory_entry")
POSITIONS: tuple[Position, ...] = get_args(Position)
MIN_SIZE, MAX_SIZE = 50, 200_000


@dataclass(frozen=True)
class Settings:
    """How one attack is delivered.

    Attributes:
        channel: the ingested content that it comes in.
        position: where in the history; ``recent`` is its very end.
        size: o200k tokens to write, for an attack that has a size, else None.
    """

    channel: Surface
    position: Position
    size: int | None = None


Apply: TypeAlias = Callable[[Episode, Settings], Episode]


@dataclass(frozen=True)
class Attack:
    """An attack as it is registered.

    Attributes:
        apply: the episode after the attack; the one given stays as it is.
        surface: channels that it can come in, the default first.
        knowledge: ``black_box`` knows neither policy nor defense;
            ``defense_aware`` knows that policies are pinned.
        summary: what it does, in one sentence.
        positions: where it can be placed, the default first.
        size: default size in o200k tokens; None for one that has none.
    """

    apply: Apply
    surface: tuple[Surface, ...]
    knowledge: Knowledge
    summary: str
    positions: tuple[Position, ...] = POSITIONS
    size: int | None = None

    @property
    def settings(self) -> Settings:
        """The settings where none are given."""
        return Settings(self.surface[0], self.positions[0], self.size)
