"""``defenses``: what each defense buys and costs, on the same episodes, prohibited and allowed."""

from __future__ import annotations

from inspect_flow import FlowSpec

from constraintrot.runs.sweep.axes import sweep

DEFENSES = (
    "none", "pin", "head_retain", "reinject_every_k", "recompile", "sanitize_summarizer",
    "spotlight", "system_channel", "dual_position", "operator_channel", "verify_and_repair",
)  # fmt: skip


def defenses(
    models: str = "openai/gpt-5.4-mini",
    names: str = ",".join(DEFENSES),
    variants: int = 20,
    looks: int = 1,
) -> FlowSpec:
    """Each defense on the five soft families after a compaction.

    Args:
        models: agents, comma-separated.
        names: defenses, comma-separated; the others are compared with ``none``.
        variants: variants of each family.
        looks: number of looks; the first that decides ends the sweep; 1 for a fixed number of
            episodes.
    """
    stop = {"looks": looks, "compare": "defense", "a": "none", "b": "pin", "alpha": 0.05}
    return sweep(
        models.split(","),
        task="constraintrot/pin_stress",
        conditions="compaction",
        defenses=[[name] for name in names.split(",")],
        allowed=[False, True],
        variants=variants,
        block=max(1, variants // looks) if looks > 1 else 10,
        looks=looks,
        metadata={"stop": stop} if looks > 1 else {},
    )
