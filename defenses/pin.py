"""Constraint Pinning of declared policies: ``pin`` and ``pin_provenance``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from constraintrot.defenses import Defense, Deployment, defense
from constraintrot.defenses.pinning.block_marks import marks_of
from constraintrot.defenses.rampart import Principal, Registry

if TYPE_CHECKING:
    from inspect_ai.model import ChatMessage, CompactionStrategy

    from constraintrot.defenses.pinning import Pins


class Pinning(Defense):
    """Pins a registry's policies through compaction and checks them before each call."""

    def __init__(self, registry: Registry, heading: str | None = None) -> None:
        from constraintrot.defenses.pinning import Pins
        from constraintrot.defenses.pinning.pinned_block import HEADING

        self.registry = registry
        self.pins = Pins(registry, heading=heading or HEADING)

    # The compactor is shown the messages without the pins.
    touches_summarizer = False

    def wrap(self, strategy: CompactionStrategy) -> CompactionStrategy:
        from constraintrot.defenses.pinning import PinnedCompaction

        return PinnedCompaction(strategy, self.registry, pins=self.pins)

    async def assemble(self, messages: Sequence[ChatMessage]) -> list[ChatMessage]:
        return await self.pins.check(messages)

    def framework_pins(self) -> Pins:
        return self.pins


def declared(deployment: Deployment) -> Registry:
    """A registry in which an operator pinned the declared policies."""
    operator = Principal("operator")
    registry = Registry(operator, label="pins")
    for number, policy in enumerate(dict.fromkeys(deployment.declared), start=1):
        registry.pin(policy, name=f"policy-{number}", by=operator)
    # Not drawn: the same episode is to give the same input in each run.
    marks_of(registry).choose(registry.manifest())
    return registry


@defense("pin", hooks=("wrap", "assemble"), declared=True, framework_pins=True)
def pin(deployment: Deployment) -> Defense:
    """Declared policies, pinned (Governance Decay, section 7)."""
    return Pinning(declared(deployment))


@defense("pin_provenance", hooks=("wrap", "assemble"), declared=True, framework_pins=True)
def pin_provenance(deployment: Deployment) -> Defense:
    """The same, with a heading that says whose they are and what cannot change them."""
    from constraintrot.defenses.pinning.pinned_block import PROVENANCE

    return Pinning(declared(deployment), PROVENANCE)
