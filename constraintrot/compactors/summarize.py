"""One summary of the older turns, under a word budget."""

from typing import Self

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
from constraintrot.compactors.turns import (
    InPlace,
    OlderTurns,
    Span,
    asked,
    flat,
    summarizer,
    summary_message,
)
from constraintrot.episode.messages import message_texts
from constraintrot.episode.scaffold.instructions import is_in_process
from constraintrot.errors import EpisodeError
from constraintrot.tokens import count


class Summarize(OlderTurns):
    """Replace the older turns by a summary; the opening and the recent turns stay."""

    def __init__(self, *, prompt: str, words: int, threshold: int | float = 0.9) -> None:
        super().__init__(threshold=threshold)
        self.prompt, self.words = prompt, words
        self.retries = 0

    @classmethod
    def of(cls, settings: Settings) -> Self:
        assert settings.prompt is not None
        assert settings.budget_words is not None
        return cls(
            prompt=settings.prompt, words=settings.budget_words, threshold=settings.threshold
        )

    async def replaced(self, model: Model, span: Span, tools: list[ToolInfo]) -> InPlace:
        """Ask the summarizer for a summary of the older turns."""
        self.retries = 0
        self.check_budget(flat(span.older))
        summary = summary_message(await self.written(model, span, tools), self.retries)
        return [summary], summary

    async def written(self, model: Model, span: Span, tools: list[ToolInfo]) -> str:
        return await self.summary(model, span.protected + flat(span.older), tools)

    def check_budget(self, source: list[ChatMessage]) -> None:
        """Refuse a budget that the source fits into, since the summary would then omit nothing."""
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
        """

        async def ask() -> ModelOutput:
            return await summarizer(model).generate(
                [*shown, ChatMessageUser(content=prompts.text(self.prompt, self.words))],
                tools=tools,
                tool_choice="none",
                config=_limit(summarizer(model), prompts.max_tokens(self.prompt, self.words)),
            )

        text, retries = await asked(ask, lambda output: _without_analysis(output.completion))
        self.retries += retries
        return text


def _limit(model: Model, tokens: int) -> GenerateConfig:
    """Return a token limit for in-process models, which may ignore the word budget and never stop.

    Hosted models count reasoning as output tokens, so no limit is set for them.
    """
    return GenerateConfig(max_tokens=tokens) if is_in_process(model) else GenerateConfig()


def _without_analysis(text: str) -> str:
    """Remove the scratchpad that Inspect's default prompt asks for."""
    _, end_tag, rest = text.partition("</analysis>")
    return (rest if end_tag else text).strip()


@compactor("summarize", takes=("prompt", "budget_words"), prompt="tight", budget_words=60)
def summarize(settings: Settings) -> CompactionStrategy:
    """One summary under a word budget."""
    return Summarize.of(settings)
