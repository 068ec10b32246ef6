"""``paper``: decay by family and compactor, with the controls that tell it from everything else."""

from __future__ import annotations

from inspect_flow import FlowSpec

from constraintrot.runs.sweep.axes import sweep

MODELS = ("openai/gpt-5.4-mini", "anthropic/claude-sonnet-4-6")


def paper(
    models: str = ",".join(MODELS),
    summarizers: str = "",
    variants: int = 20,
    epochs: int = 1,
) -> FlowSpec:
    """All families, soft and hard, over compactors and lengths of the history.

    Args:
        models: agents, comma-separated.
        summarizers: crossed with the agents; by default each agent writes its own summaries.
        variants: variants of each family.
        epochs: replicates.
    """
    return sweep(
        models.split(","),
        roles=[{"summarizer": name} for name in summarizers.split(",")] if summarizers else [{}],
        conditions="floor,control,compaction,summary_removed,sham,summary_restored",
        compactor=["summarize", "hierarchical", "head_tail", "truncate"],
        context_tokens=[2000, 8000],
        variants=variants,
        epochs=epochs,
        block=10,
    )
