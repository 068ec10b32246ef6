"""Head and tail: keep the oldest turn and the recent turns."""

from __future__ import annotations

from inspect_ai.model import ChatMessage, ChatMessageUser, CompactionStrategy, Model
from inspect_ai.tool import ToolInfo

from constraintrot.compactors import Settings, compactor
from constraintrot.compactors.turns import flat, partition


class HeadTail(CompactionStrategy):
    """Keep the protected opening, the oldest turn and the recent turns."""

    def __init__(self, *, threshold: int | float = 0.9) -> None:
        super().__init__(type="trim", threshold=threshold, memory=False)

    async def compact(
        self, model: Model, messages: list[ChatMessage], tools: list[ToolInfo]
    ) -> tuple[list[ChatMessage], ChatMessageUser | None]:
        """Drop the turns between the oldest and the recent ones."""
        parts = partition(messages)
        older, recent = parts.split()
        return [*parts.protected, *flat(older[:1]), *recent], None


@compactor("head_tail")
def head_tail(settings: Settings) -> CompactionStrategy:
    """Head and tail."""
    return HeadTail(threshold=settings.threshold)
