"""A workspace that is assembled anew for every decision, from what is known and not from a session.

Nothing grows and nothing is compacted: each tick chooses entries by what was learned of
them. Its invariants are the registry's pins, which no budget and no learning touches.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from inspect_ai.model import ChatMessage, ChatMessageSystem, ChatMessageUser

from constraintrot.defenses.pinning.pins import Pins
from constraintrot.defenses.rampart import Registry
from constraintrot.errors import ParameterError
from constraintrot.memory.pipeline.budget import DEFAULT, LEARNED, Allocation, Budget, Entry
from constraintrot.memory.pipeline.context import PipelineOverflowError, size
from constraintrot.tokens import count


@dataclass(frozen=True)
class Assembled:
    """A workspace of one moment.

    Attributes:
        messages: what the model is sent, the situation left out.
        entries: what was chosen, for ``Allocation.outcome``.
        manifest: of the pins that are in it.
    """

    messages: tuple[ChatMessage, ...]
    entries: tuple[Entry, ...]
    manifest: str


class Workspace:
    """Assembles a context from entries, with the pins as invariants.

    Args:
        pins: the registry, or what is made from it.
        entries: gives what may be chosen, as it is now.
        system: the agent's instructions.
        allocation: what was learned; nothing at first.
        budget: the token budget.
    """

    def __init__(
        self,
        pins: Registry | Pins,
        entries: Callable[[], Sequence[Entry]],
        *,
        system: str = "",
        allocation: Allocation | None = None,
        budget: Budget = DEFAULT,
    ) -> None:
        self.pins = Pins(pins) if isinstance(pins, Registry) else pins
        self.entries, self.system = entries, system
        self.allocation = allocation or Allocation(budget)
        self.budget = budget

    @property
    def manifest(self) -> str:
        """Of the pins that are in force."""
        return self.pins.rendering().manifest

    def assemble(self) -> Assembled:
        """The workspace of this moment.

        Raises:
            PipelineOverflowError: instructions, pins and rules are over the budget.
        """
        # First, so that a pin that comes while entries are chosen is seen to be missing.
        manifest = self.manifest
        chosen = self._chosen(self.entries())
        system: list[ChatMessage] = [ChatMessageSystem(content=self.system)] if self.system else []
        told = [_told(name, [e for e in chosen if e.category == name]) for name in LEARNED]
        messages = self.pins.inject([*system, *(one for one in told if one is not None)])
        if size(messages) > self.budget.total:
            raise PipelineOverflowError(
                f"instructions, pins and rules take {size(messages)} tokens, and the budget is"
                f" {self.budget.total}"
            )
        return Assembled(tuple(messages), tuple(chosen), manifest)

    def request(self, situation: str) -> list[ChatMessage]:
        """The workspace and the situation, ready to send."""
        return [*self.assemble().messages, ChatMessageUser(content=situation)]

    def _chosen(self, entries: Sequence[Entry]) -> list[Entry]:
        most = {"memory": self.budget.most_memories, "retrieval": self.budget.most_retrieved}
        kept: list[Entry] = []
        for name in LEARNED:
            mine = [entry for entry in entries if entry.category == name]
            used = 0
            for entry in self.allocation.chosen(mine, most.get(name, len(mine))):
                cost = count(entry.text)
                if entry.rule or used + cost <= self.allocation.tokens(name):
                    kept.append(entry)
                    used += 0 if entry.rule else cost
        return kept


class Prebuilt:
    """A workspace that is built ahead, so that a decision need not wait for it.

    Args:
        workspace: builds it.
        every: decisions after which it is built anew.
        keyed: also where the pins have changed since. Without it a new policy waits for
            the next turn of building, which is there to be measured.
    """

    def __init__(self, workspace: Workspace, *, every: int = 50, keyed: bool = True) -> None:
        if every < 1:
            raise ParameterError("every is a number of decisions, at least 1")
        self.workspace, self.every, self.keyed = workspace, every, keyed
        self._built: Assembled | None = None
        self._served = 0

    def get(self) -> Assembled:
        """The workspace that was built ahead, or a new one."""
        built = self._built
        stale = self.keyed and built is not None and built.manifest != self.workspace.manifest
        if built is None or stale or self._served >= self.every:
            built = self._built = self.workspace.assemble()
            self._served = 0
        self._served += 1
        return built


def _told(name: str, entries: Sequence[Entry]) -> ChatMessage | None:
    if not entries:
        return None
    lines = "\n".join(f"- {entry.text}" for entry in entries)
    return ChatMessageUser(content=f"<{name}>\n{lines}\n</{name}>")
