"""``reinject_every_k``: a reminder of the policies after every k turns of the user."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING
from zlib import crc32

from constraintrot.defenses import Defense, Deployment, defense
from constraintrot.defenses.pin import declared

if TYPE_CHECKING:
    from inspect_ai.model import ChatMessage, CompactionStrategy

    from constraintrot.defenses.pinning.pinned_block import State
    from constraintrot.defenses.rampart import Registry

EVERY = 4


class ReinjectEveryK(Defense):
    """Inserts the policies before every k-th message of the user, and acts at no other place.

    Messages are counted over the whole conversation, so a reminder stays at its place until
    it is compacted away with the turns around it. Until the next one the policy may be lost.
    The start of the count is drawn from the user's first message; else every benchmark
    episode of one length would be asked at the same distance from a reminder.
    """

    def __init__(self, registry: Registry, every: int = EVERY) -> None:
        from constraintrot.defenses.pinning import Pins

        self.pins = Pins(registry)
        self.every = every
        self._numbers: dict[str | None, int] = {}
        self._phase = 0

    # It only counts the messages.
    touches_summarizer = False

    def wrap(self, strategy: CompactionStrategy) -> CompactionStrategy:
        from constraintrot.defenses._strategies import Noticing

        return Noticing(strategy, self._number, lambda _: None)

    async def assemble(self, messages: Sequence[ChatMessage]) -> list[ChatMessage]:
        messages = self.pins.bare(messages)
        await self._number(messages)
        phase = self._phase % self.every
        kept: list[ChatMessage] = []
        for message in messages:
            number = self._numbers.get(message.id, 0)
            if number and (number + phase) % self.every == 0 and self.pins.text:
                block = self.pins.message()
                kept.append(block.model_copy(update={"id": f"{block.id}-{number}"}))
            kept.append(message)
        at, missing = self.pins.find(kept), self.pins.unsaid(kept)
        state: State = "injected" if at is not None else "absent" if missing else "verified"
        await self.pins.step("call", state, kept, at, missing)
        return kept

    async def _number(self, messages: Sequence[ChatMessage]) -> None:
        """Number the user's messages in the order in which they are first seen."""
        for message in messages:
            summary = "summary" in (message.metadata or {})
            if message.role == "user" and message.source != "input" and not summary:
                if not self._numbers:
                    self._phase = crc32(message.text.encode("utf-8", "replace"))
                self._numbers.setdefault(message.id, len(self._numbers) + 1)


@defense("reinject_every_k", hooks=("wrap", "assemble"), declared=True)
def reinject_every_k(deployment: Deployment) -> Defense:
    """Declared policies, said again before every fourth message of the user."""
    return ReinjectEveryK(declared(deployment))
