"""``constraintrot/pin_stress``: where pinning holds, and where it does not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

from inspect_ai import Task, task

from constraintrot.evaluation.conditions import STRESS
from constraintrot.evaluation.parameters import TaskParameters
from constraintrot.tasks.build import build
from constraintrot.tasks.catalogue import FAMILIES

SOFT = tuple(family for family in FAMILIES if family.startswith("soft_"))
CASES = (
    "compaction",
    "stress_rescind",
    "stress_overload",
    "stress_overload_50",
    "stress_impersonate",
)
ARMS = ("none", "pin", "pin_provenance", "pin_gate", "operator_channel")


@task
def pin_stress(
    defenses: str | Sequence[str] = ARMS,
    families: str | Sequence[str] = SOFT,
    allowed: bool = False,
    **parameters: Unpack[TaskParameters],
) -> Task:
    """Stress cases against defenses. ``inspect eval constraintrot/pin_stress -T defenses=none,pin``.

    Basic decay; a rescind notice in a tool's output that is then summarised; the
    policy among 15 and among 50 other rules; an operator impersonated in recent,
    unsummarised content (Governance Decay, section 7, "Where pinning still fails").

    Args:
        defenses: each of them is played on the same episodes.
        families: whose scenarios; the five soft ones by default.
        allowed: ask for the permitted counterparts instead, for utility and
            over-refusal.
        **parameters: as every task takes them, but for ``defense``.
    """
    return build(
        families,
        parameters,
        conditions=STRESS,
        default=CASES,
        name="pin_stress",
        allowed=allowed,
        defenses=defenses,
    )
