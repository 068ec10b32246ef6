"""Adaptation of a memory to tasks: offline on a training set, online at test time (ACE, section 4).

::

    memory = PlaybookMemory(Playbook(budget=4_000), reflector, curator)
    await offline(memory, training, play, epochs=5)
    solved = await evaluate(memory, test, play)
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from inspect_ai.model import ChatMessage

from constraintrot import tokens
from constraintrot.playbook.memory import Memory
from constraintrot.playbook.roles import Cost

Task = TypeVar("Task")


@dataclass(frozen=True)
class Trajectory:
    """What the Generator did with a task.

    Attributes:
        messages: what was said and done.
        feedback: what the environment said of the outcome, as an error; no label is needed.
        success: whether the task is done.
    """

    messages: tuple[ChatMessage, ...]
    feedback: str
    success: bool


Play: TypeAlias = Callable[[Task, str], Awaitable[Trajectory]]
"""Has the Generator do a task; the second argument is the rendered memory."""


@dataclass(frozen=True)
class Step:
    """A step of adaptation.

    Attributes:
        epoch: from 1.
        number: of the task within its epoch, from 1.
        success: whether the task was done, with the memory as it was before the step.
        size: tokens of the memory after it.
        cost: of the models that learn, without the Generator.
    """

    epoch: int
    number: int
    success: bool
    size: int
    cost: Cost


async def offline(
    memory: Memory, tasks: Sequence[Task], play: Play[Task], *, epochs: int = 1
) -> list[Step]:
    """Adapt on a training set, one task a step (the paper's batch size), over epochs."""
    return [
        await _step(memory, task, play, epoch, number)
        for epoch in range(1, epochs + 1)
        for number, task in enumerate(tasks, 1)
    ]


async def online(memory: Memory, tasks: Sequence[Task], play: Play[Task]) -> list[Step]:
    """Adapt at test time: each task is done with the memory so far, and then learned from."""
    return await offline(memory, tasks, play)


async def evaluate(memory: Memory, tasks: Sequence[Task], play: Play[Task]) -> list[bool]:
    """Whether each task is done with a memory, which learns nothing here."""
    text = memory.render()
    return [(await play(task, text)).success for task in tasks]


async def _step(memory: Memory, task: Task, play: Play[Task], epoch: int, number: int) -> Step:
    played = await play(task, memory.render())
    cost = await memory.learn(played.messages, played.feedback, f"epoch {epoch}, task {number}")
    return Step(epoch, number, played.success, tokens.count(memory.render()), cost)
