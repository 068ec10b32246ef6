"""An agent that plays a script, whatever framework it is made with."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from constraintrot.defenses.pinning.pinned_block import PinnedBlock


@dataclass(frozen=True)
class Turn:
    """A request of the user's and all that comes of it.

    Attributes:
        user: the request.
        outputs: what a tool returns, call by call.
        reply: what the model says at last.
        streamed: whether the answer is asked for word by word.
        delegated: whether a sub-agent is asked too, where the agent has one.
    """

    user: str
    outputs: tuple[str, ...]
    reply: str
    streamed: bool
    delegated: bool


@dataclass(frozen=True)
class Sent:
    """A request as the model got it.

    Attributes:
        said: the system's text, then each message's.
        blocks: the pins at that moment.
    """

    said: list[str]
    blocks: tuple[str, ...]


class Played(ABC):
    """An agent that plays a script; what a framework needs is in its subclass.

    Attributes:
        sent: what the model was sent in this conversation.
        between: called while a tool runs.
        delegates: whether the agent has a sub-agent.
        streams: whether it is asked for streams, too.
    """

    delegates = False
    streams = True

    def __init__(self, system: str, blocks: Sequence[PinnedBlock], chance: float) -> None:
        self.system, self.blocks, self.chance = system, blocks, chance
        self.sent: list[Sent] = []
        self.outputs: list[str] = []
        self.between: Callable[[], None] = lambda: None
        self.thread = 0
        self.open()
        self.build()

    def open(self) -> None:  # noqa: B027  # not all have something
        """Make what outlasts the agent's process: the model, and what stores conversations."""

    @abstractmethod
    def build(self) -> None:
        """Make the agent."""

    async def restart(self) -> None:
        """Go on with the conversation in an agent made anew."""
        self.build()

    def begin(self) -> None:
        """Begin another conversation."""
        self.thread += 1
        self.sent = []

    @abstractmethod
    async def say(self, turn: Turn) -> None:
        """Have a turn played."""

    def look(self) -> str:
        """Look at a ticket."""
        self.between()
        return self.outputs.pop(0)

    def was_sent(self, said: Sequence[str]) -> None:
        """Keep what the model was sent."""
        texts = tuple(block.text for block in self.blocks if block.text)
        self.sent.append(Sent(list(said), texts))
