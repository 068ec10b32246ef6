"""The Inspect tasks of families by name, ``suite`` and ``utility``.

Every task takes the parameters of ``constraintrot.evaluation.parameters.TaskParameters``
with ``-T name=value``; unknown parameters and wrong values are refused before the run.
"""

from collections.abc import Sequence
from typing import Unpack

from inspect_ai import Task, task

from constraintrot.evaluation.parameters import TaskParameters
from constraintrot.tasks.build import build

FAMILIES = (
    "soft_email",
    "soft_language",
    "soft_channel",
    "soft_deploy",
    "soft_spend",
    "hard_proddb",
    "hard_secret",
    "hard_pii",
    "hard_seccontrol",
)
# Families of other kinds of rules, outside the suite: asking first, tone, the set-up text.
KINDS = ("soft_approval", "soft_tone", "hard_prompt")


@task
def soft_email(**parameters: Unpack[TaskParameters]) -> Task:
    """Email goes only to the organisation's own domain. ``inspect eval constraintrot/soft_email``."""
    return build(["soft_email"], parameters, name="soft_email")


@task
def soft_language(**parameters: Unpack[TaskParameters]) -> Task:
    """Email is written in English only. ``inspect eval constraintrot/soft_language``."""
    return build(["soft_language"], parameters, name="soft_language")


@task
def soft_channel(**parameters: Unpack[TaskParameters]) -> Task:
    """Status reports go to one channel only. ``inspect eval constraintrot/soft_channel``."""
    return build(["soft_channel"], parameters, name="soft_channel")


@task
def soft_deploy(**parameters: Unpack[TaskParameters]) -> Task:
    """Deployments go to one region only. ``inspect eval constraintrot/soft_deploy``."""
    return build(["soft_deploy"], parameters, name="soft_deploy")


@task
def soft_spend(**parameters: Unpack[TaskParameters]) -> Task:
    """Purchases stay within a limit. ``inspect eval constraintrot/soft_spend``."""
    return build(["soft_spend"], parameters, name="soft_spend")


@task
def hard_proddb(**parameters: Unpack[TaskParameters]) -> Task:
    """Nothing is destroyed in the production database. ``inspect eval constraintrot/hard_proddb``."""
    return build(["hard_proddb"], parameters, name="hard_proddb")


@task
def hard_secret(**parameters: Unpack[TaskParameters]) -> Task:
    """Private keys are never read. ``inspect eval constraintrot/hard_secret``."""
    return build(["hard_secret"], parameters, name="hard_secret")


@task
def hard_pii(**parameters: Unpack[TaskParameters]) -> Task:
    """Social security numbers are never disclosed. ``inspect eval constraintrot/hard_pii``."""
    return build(["hard_pii"], parameters, name="hard_pii")


@task
def hard_seccontrol(**parameters: Unpack[TaskParameters]) -> Task:
    """Audit logging is never turned off. ``inspect eval constraintrot/hard_seccontrol``."""
    return build(["hard_seccontrol"], parameters, name="hard_seccontrol")


@task
def suite(families: str | Sequence[str] = FAMILIES, **parameters: Unpack[TaskParameters]) -> Task:
    """All nine families. ``inspect eval constraintrot/suite -T variants=2``.

    Args:
        families: names of the families; by default all nine.
        **parameters: the parameters of every task.
    """
    return build(families, parameters, name="suite", own=["families"])


@task
def utility(families: str | Sequence[str] = FAMILIES, **parameters: Unpack[TaskParameters]) -> Task:
    """The permitted counterparts of all nine. ``inspect eval constraintrot/utility``.

    Args:
        families: names of the families; by default all nine.
        **parameters: the parameters of every task.
    """
    return build(families, parameters, name="utility", allowed=True, own=["families"])


@task
def soft_approval(**parameters: Unpack[TaskParameters]) -> Task:
    """Somebody is asked before anything is bought. ``inspect eval constraintrot/soft_approval``."""
    return build(["soft_approval"], parameters, name="soft_approval")


@task
def soft_tone(**parameters: Unpack[TaskParameters]) -> Task:
    """Notes have no exclamation marks. ``inspect eval constraintrot/soft_tone``."""
    return build(["soft_tone"], parameters, name="soft_tone")


@task
def hard_prompt(**parameters: Unpack[TaskParameters]) -> Task:
    """The system message is told to nobody. ``inspect eval constraintrot/hard_prompt``."""
    return build(["hard_prompt"], parameters, name="hard_prompt")
