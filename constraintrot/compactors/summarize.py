"""One summary of the older turns, under a word budget."""

from __future__ import annotations

from inspect_ai.model import (
    ChatMessage,
    ChatMessageUser,
    CompactionStrategy,
    GenerateConfig,
    Model,
    ModelOutput,
)
from inspect_ai.tool import ToolInfo

from constraintrot.compactors import Settings, budget_tokens, compactor, prompts
from constraintrot.compactors.empty_summary import asked
from constraintrot.compactors.turns import flat, partition, summarizer, summary_message
from constraintrot.episode.messages import message_texts
from constraintrot.errors import EpisodeError
from constraintrot.scaffold.in_process import is_in_process
from constraintrot.tokens import count


class Summarize(CompactionStrategy):
    """Replace the older turns by a summary; the opening and the recent turns stay.

    Args:
        prompt: preset of the summarizer's prompt.
        words: word budget of the summary.
        threshold: size at which Inspect compacts.

    Attributes:
        retries: how often the summarizer wrote nothing in the last compaction.
    """

    def __init__(self, *, prompt: str, words: int, threshold: int | float = 0.9) -> None:
        super().__init__(type="summary", threshold=threshold, memory=False)
        self.prompt, self.words = prompt, words
        self.retries = 0

    async def compact(
        self, model: Model, messages: list[ChatMessage], tools: list[ToolInfo]
    ) -> tuple[list[ChatMessage], ChatMessageUser | None]:
        """Ask the summarizer for one summary of the older turns."""
        parts = partition(messages)
        older, recent = parts.split()
        if not older:
            return messages, None
        self.retries = 0
        self.check_budget(flat(older))
        text = await self.summary(model, parts.protected + flat(older), tools)
        summary = summary_message(text, self.retries)
        return [*parts.protected, summary, *recent], summary

    def check_budget(self, source: list[ChatMessage]) -> None:
        """Refuse a budget that the source fits into: nothing would have to be left out.

        Args:
            source: what is to be summarised.

        Raises:
            EpisodeError: the budget is not below the source's length.
        """
        length = sum(map(count, message_texts(source)))
        if budget_tokens(self.words) >= length:
            raise EpisodeError(
                f"budget_words={self.words} allows about {budget_tokens(self.words)} tokens, and what"
                f" is to be summarised has {length}, so nothing has to be left out; lower"
                " budget_words or give a larger context_tokens"
            )

    async def summary(self, model: Model, shown: list[ChatMessage], tools: list[ToolInfo]) -> str:
        """Ask the summarizer for a summary of the messages that it is shown.

        The agent's tools are passed with ``tool_choice="none"``, so that this call
        and the agent's call share a prefix in the provider's cache.

        Raises:
            EpisodeError: the summarizer's context window overflowed.
            NoSummaryError: it wrote nothing, when asked again too.
        """

        async def ask() -> ModelOutput:
            output: ModelOutput = await summarizer(model).generate(
                [*shown, ChatMessageUser(content=prompts.text(self.prompt, self.words))],
                tools=tools,
                tool_choice="none",
                config=_limit(summarizer(model), prompts.max_tokens(self.prompt, self.words)),
            )
            if output.stop_reason == "model_length":
                raise EpisodeError(
                    "the summarizer's context window overflowed; give it a shorter context_tokens"
                )
            return output

        text, retries = await asked(ask, lambda output: _without_analysis(output.completion))
        self.retries += retries
        return text


def _limit(model: Model, tokens: int) -> GenerateConfig:
    """A token limit for in-process models, which may ignore the word budget and never stop.

    Hosted models count reasoning as output tokens, so no limit is set for them.
    """
    return GenerateConfig(max_tokens=tokens) if is_in_process(model) else GenerateConfig()


def _without_analysis(text: str) -> str:
    """Drop the scratchpad that Inspect's default prompt asks for."""
    _, end_tag, rest = text.partition("</analysis>")
    return (rest if end_tag else text).strip()


@compactor("summarize", takes=("prompt", "budget_words"), prompt="tight", budget_words=60)
def summarize(settings: Settings) -> CompactionStrategy:
    """One summary under a word budget."""
    assert settings.prompt is not None
    assert settings.budget_words is not None
    return Summarize(
        prompt=settings.prompt, words=settings.budget_words, threshold=settings.threshold
    )
