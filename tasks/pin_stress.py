"""``constraintrot/pin_stress``: cases in which pinning may fail."""

from collections.abc import Sequence
from typing import Unpack

from inspect_ai import Task, task

from constraintrot.evaluation.conditions import FAMILY, STRESS
from constraintrot.evaluation.parameters import TaskParameters
from constraintrot.tasks.build import build
from constraintrot.tasks.catalogue import FAMILIES

SOFT = tuple(family for family in FAMILIES if family.startswith("soft_"))
CASES = ("compaction", *(name for name in STRESS if name not in FAMILY))
DEFAULT_DEFENSES = ("none", "pin", "pin_provenance", "pin_gate", "operator_channel")


@task
def pin_stress(
    defenses: str | Sequence[str] = DEFAULT_DEFENSES,
    families: str | Sequence[str] = SOFT,
    allowed: bool = False,
    **parameters: Unpack[TaskParameters],
) -> Task:
    """Stress cases against defenses. ``inspect eval constraintrot/pin_stress -T defenses=none,pin``.

    The cases: plain compaction; a rescind notice in a tool's output that is then
    summarised; the policy among 15 and among 50 other rules; an operator impersonated in
    recent content that is not summarised (Governance Decay, section 7, "Where pinning
    still fails").

    Args:
        defenses: names of the defenses; each is played on the same episodes.
        families: names of the families; by default the five soft ones.
        allowed: end with the permitted counterparts instead, for utility and
            over-refusal.
        **parameters: the parameters of every task, except ``defense``.
    """
    return build(
        families,
        parameters,
        conditions=STRESS,
        default=CASES,
        name="pin_stress",
        allowed=allowed,
        defenses=defenses,
        own=("defenses", "families", "allowed"),
    )
