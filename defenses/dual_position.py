"""``dual_position``: pinned at the front, and once more right before the last request.

A model reads the two ends of a context best, and the middle worst.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from constraintrot.defenses import Defense, Deployment, defense
from constraintrot.defenses.pin import Pinning, declared

if TYPE_CHECKING:
    from inspect_ai.model import ChatMessage


class DualPosition(Pinning):
    """Pins, and a second copy in front of the last user message."""

    async def assemble(self, messages: Sequence[ChatMessage]) -> list[ChatMessage]:
        from constraintrot.defenses.pinning.pins import is_pinned

        kept = await super().assemble(messages)
        users = [at for at, m in enumerate(kept) if m.role == "user" and not is_pinned(m)]
        if not users or not self.pins.text:
            return kept
        last = kept[users[-1]]
        copy = self.pins.message().model_copy(update={"id": f"{self.pins.message().id}-again"})
        return [*kept[: users[-1]], copy, last, *kept[users[-1] + 1 :]]


@defense("dual_position", hooks=("wrap", "assemble"), declared=True)
def dual_position(deployment: Deployment) -> Defense:
    """Declared policies, pinned at both ends."""
    return DualPosition(declared(deployment))
