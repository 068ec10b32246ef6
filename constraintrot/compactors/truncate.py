"""Recency truncation: keep only the recent turns."""

from inspect_ai.model import CompactionStrategy, Model
from inspect_ai.tool import ToolInfo

from constraintrot.compactors import Settings, compactor
from constraintrot.compactors.turns import InPlace, OlderTurns, Span, flat


class Truncate(OlderTurns):
    """Keep the protected opening, the oldest turns and the recent turns; drop the rest."""

    def __init__(self, oldest: int = 0, *, threshold: int | float = 0.9) -> None:
        super().__init__(threshold=threshold, kind="trim")
        self.oldest = oldest

    async def replaced(self, model: Model, span: Span, tools: list[ToolInfo]) -> InPlace:
        """Keep the oldest of the older turns."""
        return flat(span.older[: self.oldest]), None


@compactor("truncate")
def truncate(settings: Settings) -> CompactionStrategy:
    """Recency truncation."""
    return Truncate(threshold=settings.threshold)
