"""Harnesses: each plays an episode in one agent framework, by name."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from constraintrot.defenses import HOOKS, Hook
from constraintrot.door import Door
from constraintrot.episode import Episode
from constraintrot.plan import Plan

if TYPE_CHECKING:
    from inspect_ai.model import ChatMessage, ModelOutput

    from constraintrot.compaction import Compacted


@dataclass(frozen=True)
class Played:
    """What came of an episode.

    Attributes:
        calls: the tool calls that the agent made, as it wrote them; parsed, never run.
        last_input: the exact messages of the last call of the agent's model.
        output: that call's output.
        compacted: the compacted context and its rounds; None where nothing was due.
        recalled: the policy the agent said is in force; None where it was not asked.
        fault: why the answer could not be read, where it could not.
        blocked: why a defense stopped the calls, where one did.
        facts: what else belongs in the sample's metadata.
    """

    calls: tuple[Any, ...]
    last_input: tuple[ChatMessage, ...]
    output: ModelOutput
    compacted: Compacted | None = None
    recalled: str | None = None
    fault: str | None = None
    blocked: str | None = None
    facts: dict[str, Any] = field(default_factory=dict)


Harness: TypeAlias = Callable[[Episode, Plan], Awaitable[Played]]


@dataclass(frozen=True)
class Registered:
    """A harness as it is registered.

    Attributes:
        factory: makes one.
        hooks: which hooks of a defense it has a place for.
    """

    factory: Callable[[], Harness]
    hooks: frozenset[Hook]


HARNESSES: Door[Registered] = Door("harness", __name__, ("replay",), "constraintrot.harnesses")


def harness(
    name: str, *, hooks: frozenset[Hook] = HOOKS
) -> Callable[[Callable[[], Harness]], Callable[[], Harness]]:
    """Register a harness's factory under a name.

    Args:
        name: as written in ``-T harness=``.
        hooks: which hooks of a defense it has a place for.
    """

    def register(factory: Callable[[], Harness]) -> Callable[[], Harness]:
        HARNESSES(name)(Registered(factory, hooks))
        return factory

    return register
