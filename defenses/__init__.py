"""Defenses: three optional hooks around an agent's context, by name.

A defense never sees the grader, nor the policy unless an operator declared it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from constraintrot.door import Door

if TYPE_CHECKING:
    from inspect_ai.model import ChatMessage, CompactionStrategy


class Defense:
    """What a defense may do; each hook leaves things as they are unless overridden."""

    def wrap(self, strategy: CompactionStrategy) -> CompactionStrategy:
        """Wrap the compactor."""
        return strategy

    async def assemble(self, messages: Sequence[ChatMessage]) -> list[ChatMessage]:
        """Change what the agent is sent, right before every call of its model."""
        return list(messages)

    async def approve(self, function: str, arguments: Mapping[str, Any]) -> str | None:
        """Why a proposed call is blocked, or None to let it through."""
        return None


DEFENSES: Door[Callable[[], Defense]] = Door(
    "defense", __name__, ("none",), "constraintrot.defenses"
)
defense = DEFENSES
