"""``attacks``: content of the adversary's in the history, without a defense and with pins."""

from __future__ import annotations

from inspect_flow import FlowSpec

from constraintrot.runs.sweep.axes import sweep

ATTACKS = (
    "none", "inject_authority", "inject_budget", "inject_deprecation", "inject_irrelevance",
    "inject_note", "inject_system", "rescind_notice", "volume",
)  # fmt: skip


def attacks(
    models: str = "openai/gpt-5.4-mini", names: str = ",".join(ATTACKS), variants: int = 20
) -> FlowSpec:
    """Each attack on all families after a compaction.

    Args:
        models: agents, comma-separated.
        names: attacks, comma-separated.
        variants: variants of each family.
    """
    return sweep(
        models.split(","),
        conditions="control,compaction",
        attack=names.split(","),
        defense=["none", "pin", "sanitize_summarizer"],
        variants=variants,
        block=10,
    )
