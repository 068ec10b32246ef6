"""A summary of summaries: one of each chunk of turns, then one of those."""

from inspect_ai.model import ChatMessage, ChatMessageUser, CompactionStrategy, Model
from inspect_ai.tool import ToolInfo

from constraintrot.compactors import Settings, compactor
from constraintrot.compactors.summarize import Summarize
from constraintrot.compactors.turns import Span, flat

CHUNK_TURNS = 4


class Hierarchical(Summarize):
    """Summarise the older turns chunk by chunk, then summarise the summaries."""

    async def written(self, model: Model, span: Span, tools: list[ToolInfo]) -> str:
        """Summarise in two levels; the prompt of every summary states the word budget."""
        older, protected = span.older, span.protected
        chunks = [older[at : at + CHUNK_TURNS] for at in range(0, len(older), CHUNK_TURNS)]
        summaries = [await self.summary(model, protected + flat(chunk), tools) for chunk in chunks]
        if len(summaries) == 1:
            return summaries[0]
        joined: list[ChatMessage] = [
            ChatMessageUser(content=f"[Summary of part {at} of the conversation]\n{summary}")
            for at, summary in enumerate(summaries, start=1)
        ]
        return await self.summary(model, protected + joined, tools)


@compactor("hierarchical", takes=("prompt", "budget_words"), prompt="tight", budget_words=60)
def hierarchical(settings: Settings) -> CompactionStrategy:
    """A summary of summaries."""
    return Hierarchical.of(settings)
