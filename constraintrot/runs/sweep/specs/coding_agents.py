"""``coding-agents``: coding agents as programs of their own, in their own compaction."""

from __future__ import annotations

from inspect_flow import FlowSpec

from constraintrot.evaluation.harness import HARNESSES
from constraintrot.runs.sweep.axes import sweep

AGENTS = tuple(name for name in HARNESSES.names() if HARNESSES.get(name).runs_program)


def coding_agents(
    models: str = "openai/gpt-5.4-mini", agents: str = ",".join(AGENTS), variants: int = 5
) -> FlowSpec:
    """Each coding agent on the soft families, the policy said or in one of its files.

    Args:
        models: the models behind the agents, comma-separated.
        agents: harnesses, comma-separated: ``coding/codex``.
        variants: variants of each family.
    """
    return sweep(
        models.split(","),
        conditions="control,compaction",
        families=["soft_email", "soft_deploy", "soft_channel"],
        harness=agents.split(","),
        channel=["user", "root_file"],
        defense=["none", "system_channel"],
        variants=variants,
        # A program that starts a program: one at a time on a processor.
        metadata={"resources": {"cpus": 2, "memory_gb": 4}},
    )
