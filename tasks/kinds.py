"""Families of other kinds of rules, outside the suite: asking first, tone, the set-up text."""

from typing import Unpack

from inspect_ai import Task, task

from constraintrot.evaluation.parameters import TaskParameters
from constraintrot.tasks.build import build

KINDS = ("soft_approval", "soft_tone", "hard_prompt")


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
