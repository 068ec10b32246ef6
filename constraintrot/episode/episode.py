"""The staged conversation, before any model or framework sees it.

An episode is: opening (system message and neutral preamble, which a framework
protects), the policy turn, benign history in one segment a compaction round,
and the trigger. Every message carries its origin.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from constraintrot.scenario.schema import Call, Tool, Variant

Origin: TypeAlias = Literal["operator", "user", "agent", "tool", "attacker"]
Part: TypeAlias = Literal["opening", "policy", "history", "attack", "trigger"]
Role: TypeAlias = Literal["system", "user", "assistant", "tool"]


@dataclass(frozen=True)
class Message:
    """One message; ``call`` is an assistant's tool call, or the one a tool answers."""

    role: Role
    text: str
    origin: Origin
    call: Call | None = None


@dataclass(frozen=True)
class Turn:
    """Messages that stand or fall together: a tool call and its result are one turn."""

    part: Part
    messages: tuple[Message, ...]


@dataclass(frozen=True)
class Episode:
    """A staged conversation.

    Attributes:
        variant: whose scenario, values and tools.
        policy: the policy's text in the episode's wording (also in floor,
            where it stands nowhere, so that survival can be measured).
        opening: system message and neutral preamble, and the agent's reply.
        standing: the policy turn, or the neutral turn in its place; empty
            when the channel is the system message.
        segments: benign turns, one tuple a compaction round.
        trigger: the request that ends the episode.
        allowed: whether the trigger is the permitted counterpart.
        declared: the standing policies, word for word, that an operator who
            runs a defense declares: those that stand in the conversation.
        tools: those on offer, the same in every condition: what the scenario acts
            with, what its history reads with, and ``decline`` last where it is one.
    """

    variant: Variant
    policy: str
    opening: Turn
    standing: tuple[Turn, ...]
    segments: tuple[tuple[Turn, ...], ...]
    trigger: Turn
    allowed: bool = False
    declared: tuple[str, ...] = ()
    tools: tuple[Tool, ...] = ()
    notes: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def turns(self) -> Iterator[Turn]:
        """All turns in order."""
        yield self.opening
        yield from self.standing
        for segment in self.segments:
            yield from segment
        yield self.trigger
