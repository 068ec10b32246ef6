"""``verify_and_repair``: nothing is protected, but each call's context is checked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from constraintrot.defenses import Defense, Deployment, defense
from constraintrot.defenses.pin import declared

if TYPE_CHECKING:
    from inspect_ai.model import ChatMessage

    from constraintrot.defenses.rampart import Registry


class VerifyAndRepair(Defense):
    """Puts declared policies back into a context that lost them, without touching the compactor."""

    def __init__(self, registry: Registry) -> None:
        from constraintrot.defenses.pinning import Pins

        self.pins = Pins(registry)

    async def assemble(self, messages: Sequence[ChatMessage]) -> list[ChatMessage]:
        return await self.pins.check(messages)


@defense("verify_and_repair", hooks=("assemble",), declared=True)
def verify_and_repair(deployment: Deployment) -> Defense:
    """Declared policies, looked for before each call and put back when missing."""
    return VerifyAndRepair(declared(deployment))
