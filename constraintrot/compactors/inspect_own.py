"""Inspect's built-in strategies, by name, with Inspect's defaults."""

from inspect_ai.model import (
    CompactionAuto,
    CompactionEdit,
    CompactionStrategy,
    CompactionSummary,
    CompactionTrim,
    Model,
    get_model,
)

from constraintrot.compactors import Settings, compactor, prompts


def _summarizer() -> Model:
    return get_model(role="summarizer", default=get_model(role="agent"))


@compactor("inspect_summary", takes=("prompt", "budget_words"), prompt="inspect_default")
def inspect_summary(settings: Settings) -> CompactionStrategy:
    """Inspect's summary; with Inspect's prompt unless a preset is given."""
    words = settings.budget_words
    if settings.prompt == "inspect_default":
        limit = None if words is None else f"Keep the summary to at most {words} words."
        return CompactionSummary(
            threshold=settings.threshold, model=_summarizer(), instructions=limit
        )
    assert settings.prompt is not None
    assert words is not None, "resolve gives every preset a budget"
    text = prompts.text(settings.prompt, words)
    return CompactionSummary(threshold=settings.threshold, model=_summarizer(), prompt=text)


@compactor("inspect_trim")
def inspect_trim(settings: Settings) -> CompactionStrategy:
    """Inspect's trim: keeps the last four fifths of the messages."""
    return CompactionTrim(threshold=settings.threshold)


@compactor("inspect_edit")
def inspect_edit(settings: Settings) -> CompactionStrategy:
    """Inspect's edit: clears older tool results."""
    return CompactionEdit(threshold=settings.threshold)


@compactor("inspect_auto", takes=("budget_words",))
def inspect_auto(settings: Settings) -> CompactionStrategy:
    """Inspect's auto: the provider's native compaction, else a summary by the agent's model."""
    words = settings.budget_words
    limit = None if words is None else f"Keep the summary to at most {words} words."
    return CompactionAuto(threshold=settings.threshold, instructions=limit)
