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
from constraintrot.compactors.turns import flat, partition, summarizer, summary_message
from constraintrot.episode.messages import message_texts
from constraintrot.errors import EpisodeError
from constraintrot.tokens import count


class Summarize(CompactionStrategy):
    """Replace the older turns by a summary; the opening and the recent turns stay.

    Args:
        prompt: preset of the summarizer's prompt.
        words: word budget of the summary.
        threshold: size at which Inspect compacts.
    """

    def __init__(self, *, prompt: str, words: int, threshold: int | float = 0.9) -> None:
        super().__init__(type="summary", threshold=threshold, memory=False)
        self.prompt, self.words = prompt, words

    async def compact(
        self, model: Model, messages: list[ChatMessage], tools: list[ToolInfo]
    ) -> tuple[list[ChatMessage], ChatMessageUser | None]:
        """Ask the summarizer for one summary of the older turns."""
        parts = partition(messages)
        older, recent = parts.split()
        if not older:
            return messages, None
        self.check_budget(flat(older))
        text = await self.summary(model, parts.protected + flat(older), tools)
        summary = summary_message(text)
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
        """The summarizer's text for the messages that it is shown.

        The tools go along unusable, so that a provider's prefix cache holds for
        the agent's call and for this one.

        Raises:
            EpisodeError: the summarizer's context window overflowed, or it wrote nothing.
        """
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
        text = _without_analysis(output.completion)
        if not text or output.stop_reason == "content_filter":
            raise EpisodeError(
                f"the summarizer wrote no summary (stop reason {output.stop_reason}), which is no"
                " decay; a model that reasons first may need a larger --max-tokens"
            )
        return text


def _limit(model: Model, tokens: int) -> GenerateConfig:
    """A ceiling for in-process models, which may ignore the budget and never stop.

    Hosted models count their reasoning in, so they keep their own ceiling.
    """
    return (
        GenerateConfig(max_tokens=tokens) if str(model).startswith("local/") else GenerateConfig()
    )


def _without_analysis(text: str) -> str:
    """Drop the scratchpad that Inspect's own prompt asks for."""
    _, found, rest = text.partition("</analysis>")
    return (rest if found else text).strip()


@compactor("summarize", takes=("prompt", "budget_words"), prompt="tight", budget_words=60)
def summarize(settings: Settings) -> CompactionStrategy:
    """One summary under a word budget."""
    assert settings.prompt is not None
    assert settings.budget_words is not None
    return Summarize(
        prompt=settings.prompt, words=settings.budget_words, threshold=settings.threshold
    )
