"""``frameworks``: agent frameworks with their own compaction, without a defense and with pins."""

from __future__ import annotations

from inspect_flow import FlowSpec

from constraintrot.evaluation.harness import HARNESSES
from constraintrot.runs.comparison import names
from constraintrot.runs.sweep.axes import sweep

# Replay compacts as the benchmark itself does.
OWN = tuple(name for name in names() if not name.startswith("replay"))


def frameworks(
    models: str = "openai/gpt-5.4-mini", harnesses: str = ",".join(OWN), variants: int = 10
) -> FlowSpec:
    """Every framework's harness in each of its compaction modes, on the soft families.

    Args:
        models: agents, comma-separated.
        harnesses: harnesses, comma-separated, ``name`` or ``name:mode``.
        variants: variants of each family.
    """
    for name in harnesses.split(","):
        HARNESSES.get(name.partition(":")[0])
    return sweep(
        models.split(","),
        task="constraintrot/pin_stress",
        conditions="compaction",
        harness=harnesses.split(","),
        defenses=[["none"], ["pin"]],
        variants=variants,
        block=10,
    )
