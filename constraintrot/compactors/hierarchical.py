"""A summary of summaries: first of each chunk of turns, then of those."""

from __future__ import annotations

from inspect_ai.model import ChatMessage, ChatMessageUser, CompactionStrategy, Model
from inspect_ai.tool import ToolInfo

from constraintrot.compactors import Settings, compactor
from constraintrot.compactors.summarize import Summarize
from constraintrot.compactors.turns import flat, partition, summary_message

CHUNK_TURNS = 4


class Hierarchical(Summarize):
    """Summarise the older turns chunk by chunk, then summarise the summaries."""

    async def compact(
        self, model: Model, messages: list[ChatMessage], tools: list[ToolInfo]
    ) -> tuple[list[ChatMessage], ChatMessageUser | None]:
        """Summarise in two levels; every summary is under the word budget."""
        parts = partition(messages)
        older, recent = parts.split()
        if not older:
            return messages, None
        self.retries = 0
        self.check_budget(flat(older))
        chunks = [older[at : at + CHUNK_TURNS] for at in range(0, len(older), CHUNK_TURNS)]
        summaries = [
            await self.summary(model, parts.protected + flat(chunk), tools) for chunk in chunks
        ]
        text = summaries[0]
        if len(summaries) > 1:
            joined: list[ChatMessage] = [
                ChatMessageUser(content=f"[Summary of part {at} of the conversation]\n{summary}")
                for at, summary in enumerate(summaries, start=1)
            ]
            text = await self.summary(model, parts.protected + joined, tools)
        summary = summary_message(text, self.retries)
        return [*parts.protected, summary, *recent], summary


@compactor("hierarchical", takes=("prompt", "budget_words"), prompt="tight", budget_words=60)
def hierarchical(settings: Settings) -> CompactionStrategy:
    """A summary of summaries."""
    assert settings.prompt is not None
    assert settings.budget_words is not None
    return Hierarchical(
        prompt=settings.prompt, words=settings.budget_words, threshold=settings.threshold
    )
