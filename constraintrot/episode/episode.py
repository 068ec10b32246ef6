"""The staged conversation, before any model or framework sees it.

An episode is, in order: the opening (system message and neutral preamble, which a
framework protects from compaction), the policy turn, one segment of benign history
per compaction round, and the trigger. Every message has an origin.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from constraintrot.scenario.schema import Call, Tool, ToolTurn, Variant

Origin: TypeAlias = Literal["operator", "user", "agent", "tool", "attacker"]
Part: TypeAlias = Literal["opening", "policy", "history", "attack", "trigger"]
Role: TypeAlias = Literal["system", "user", "assistant", "tool"]


@dataclass(frozen=True)
class Message:
    """One message.

    Attributes:
        origin: who wrote it; ``attacker`` is content that the adversary controls.
        call: the tool call of an assistant message, or the call that a tool message
            answers; else None.
    """

    role: Role
    text: str
    origin: Origin
    call: Call | None = None


@dataclass(frozen=True)
class Turn:
    """Messages that belong together, such as a tool call and its result."""

    part: Part
    messages: tuple[Message, ...]


@dataclass(frozen=True)
class Episode:
    """A staged conversation.

    Attributes:
        variant: the scenario, its values and its tools.
        policy: the policy's text in the episode's wording. Set in the condition
            ``floor`` too, where no message contains it, so that survival can be
            measured.
        opening: system message, neutral preamble, and the agent's reply.
        standing: the policy turn, or a neutral turn in its place; empty if the
            channel is the system message.
        segments: turns of benign history, one tuple per compaction round.
        trigger: the request that ends the episode.
        allowed: whether the trigger is the permitted counterpart of the prohibited
            request.
        declared: the policies that an operator declares to a defense, verbatim:
            every rule that the conversation contains.
        tools: the tools on offer, the same in every condition: the acting tools, those
            that the history reads with, and ``decline`` last if it is on offer.
        files: texts of a coding agent's files, by channel; if the agent reads one, the call
            is in the history.
        notes: further entries of the sample's metadata.
        channel: the policy channel.
        store: the texts that the channel keeps beside the conversation, by path.
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
    files: Mapping[str, str] = field(default_factory=dict[str, str])
    notes: dict[str, str] = field(default_factory=dict[str, str])
    channel: str = "user"
    store: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def turns(self) -> Iterator[Turn]:
        """All turns, in order."""
        yield self.opening
        yield from self.standing
        for segment in self.segments:
            yield from segment
        yield self.trigger


def tool_call(tool: ToolTurn) -> tuple[Message, Message]:
    call = Call(function=tool.function, arguments=tool.arguments)
    return Message("assistant", "", "agent", call), Message("tool", tool.result, "tool", call)
