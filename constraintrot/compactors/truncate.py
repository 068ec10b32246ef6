"""Recency truncation: keep only the recent turns."""

from __future__ import annotations

from inspect_ai.model import ChatMessage, ChatMessageUser, CompactionStrategy, Model
from inspect_ai.tool import ToolInfo

from constraintrot.compactors import Settings, compactor
from constraintrot.compactors.turns import partition


class Truncate(CompactionStrategy):
    """Keep the protected opening and the recent turns; drop the rest."""

    def __init__(self, *, threshold: int | float = 0.9) -> None:
        super().__init__(type="trim", threshold=threshold, memory=False)

    async def compact(
        self, model: Model, messages: list[ChatMessage], tools: list[ToolInfo]
    ) -> tuple[list[ChatMessage], ChatMessageUser | None]:
        """Drop all but the recent turns."""
        parts = partition(messages)
        _, recent = parts.split()
        return [*parts.protected, *recent], None


@compactor("truncate")
def truncate(settings: Settings) -> CompactionStrategy:
    """Recency truncation."""
    return Truncate(threshold=settings.threshold)
