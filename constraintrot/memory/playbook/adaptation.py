"""Adaptation of a memory to tasks: offline on a training set, online at test time (ACE, section 4).

::

    memory = PlaybookMemory(Playbook(budget=4_000), reflector, curator)
    await offline(memory, training, play, epochs=5, path="playbook.json")
    solved = await evaluate(memory, test, play)
"""

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final, Protocol, TypeAlias, TypeVar

from inspect_ai.model import ChatMessage, Model, get_model

from constraintrot import tokens
from constraintrot.memory.playbook.bullets import PlaybookError
from constraintrot.memory.playbook.playbook import Playbook, load, save
from constraintrot.memory.playbook.roles import Cost, curate, reflect


class Memory(Protocol):
    """The interface of a memory that an agent is shown and that learns from its work."""

    def render(self) -> str: ...

    async def learn(self, messages: Sequence[ChatMessage], feedback: str, source: str) -> Cost:
        """Learn from messages that end before the question.

        Args:
            messages: the messages.
            feedback: the environment's feedback on the outcome; may be empty.
            source: the name of the messages as a source.
        """
        ...


class PlaybookMemory:
    """A playbook that a Reflector and a Curator add to (ACE), models or their names.

    ``rounds`` is the most questions to the Reflector about one trajectory; the paper has 5.
    """

    def __init__(
        self, playbook: Playbook, reflector: str | Model, curator: str | Model, rounds: int = 1
    ) -> None:
        self.playbook, self.rounds = playbook, rounds
        self.reflector, self.curator = get_model(reflector), get_model(curator)

    def render(self) -> str:
        return self.playbook.render()

    async def learn(self, messages: Sequence[ChatMessage], feedback: str, source: str) -> Cost:
        text = self.playbook.render()
        found = await reflect(self.reflector, messages, text, feedback, rounds=self.rounds)
        delta, cost = await curate(self.curator, text, found)
        self.playbook.apply(delta, source=source)
        return found.cost.plus(cost)


Task = TypeVar("Task")
# An object's address, which differs in another process.
_ADDRESS: Final = re.compile(r" at 0x[0-9a-fA-F]+")


@dataclass(frozen=True)
class Trajectory:
    """The Generator's work on a task."""

    messages: tuple[ChatMessage, ...]
    feedback: str  # the environment's feedback on the outcome, such as an error; no label is needed
    success: bool


Play: TypeAlias = Callable[[Task, str], Awaitable[Trajectory]]
"""A function that has the Generator do a task; its second argument is the rendered memory."""


@dataclass(frozen=True)
class Step:
    """A step of adaptation."""

    epoch: int
    number: int  # number of the task in its epoch, from 1
    success: bool  # whether the task was done, with the memory from before the step
    size: int  # tokens of the memory after the step
    cost: Cost  # cost of the models that learn, without the Generator


async def offline(
    memory: Memory, tasks: Sequence[Task], play: Play[Task], *, epochs: int = 1,
    path: str | Path | None = None,
) -> list[Step]:  # fmt: skip
    """Adapt on a training set, one task a step (the paper's batch size), over epochs.

    Args:
        memory: the memory.
        tasks: the tasks, compared by their ``repr``.
        play: has the Generator do a task.
        epochs: the number of passes over all tasks.
        path: a file that the playbook is saved to after every step. An existing file replaces the
            playbook's content. If it was made with the same tasks, this call continues after the
            last saved step, so only a step that was cut off is repeated; other tasks begin anew
            with the learned playbook.

    Returns:
        All steps, including those of an earlier call.

    Raises:
        PlaybookError: the file cannot be read or written, or another process wrote it meanwhile;
            the memory is not a playbook, or has learned more than the file; ``epochs`` is below
            1; or ``play`` returned no trajectory.
    """
    if epochs < 1:
        raise PlaybookError(f"epochs is a whole number, 1 or more, not {epochs!r}")
    playbook = None if path is None else _playbook(memory)
    done = [] if playbook is None or path is None else _resumed(playbook, path, tasks)
    for at in range(len(done), epochs * len(tasks)):
        epoch, place = divmod(at, len(tasks))
        done.append(await _step(memory, tasks[place], play, epoch + 1, place + 1))
        if playbook is not None and path is not None:
            _keep(playbook, path, tasks, done)
    return done


async def online(
    memory: Memory, tasks: Sequence[Task], play: Play[Task], *, path: str | Path | None = None
) -> list[Step]:
    """Adapt at test time: do each task with the memory so far, then learn from it.

    With ``path`` as for ``offline``.
    """
    return await offline(memory, tasks, play, path=path)


async def evaluate(memory: Memory, tasks: Sequence[Task], play: Play[Task]) -> list[bool]:
    """Return whether each task succeeds with a memory, which is not changed."""
    text = memory.render()
    return [(await _played(play, task, text)).success for task in tasks]


async def _step(memory: Memory, task: Task, play: Play[Task], epoch: int, number: int) -> Step:
    played = await _played(play, task, memory.render())
    cost = await memory.learn(played.messages, played.feedback, f"epoch {epoch}, task {number}")
    return Step(epoch, number, bool(played.success), tokens.count(memory.render()), cost)


async def _played(play: Play[Task], task: Task, memory: str) -> Trajectory:
    played: object = await play(task, memory)
    if not isinstance(played, Trajectory):
        raise PlaybookError(f"play gives a Trajectory, and not {played!r:.60}")
    return played


def _playbook(memory: Memory) -> Playbook:
    if not isinstance(memory, PlaybookMemory):
        raise PlaybookError(
            f"a {type(memory).__name__} has no file to go on from: only a playbook is saved;"
            " leave path out"
        )
    return memory.playbook


def _resumed(playbook: Playbook, path: str | Path, tasks: Sequence[Task]) -> list[Step]:
    """Return the finished steps, with the playbook as it was after them."""
    if Path(path).exists():
        more = playbook.deltas - load(Playbook(), path).deltas
        if more > 0:
            raise PlaybookError(
                f"the playbook has {more} more deltas than {path}, which would take its place;"
                " save it there first, or name another file"
            )
        load(playbook, path)
    found = playbook.adaptation or {}
    try:
        done = [
            Step(**{**one, "cost": Cost(**one["cost"])})
            for one in (found["steps"] if found.get("tasks") == _digest(tasks) else ())
        ]
    except (KeyError, TypeError) as error:
        raise PlaybookError(
            f"{path} holds steps of an adaptation that are none: {error!r}"
        ) from error
    # A file that cannot be written is reported before any model is paid.
    _keep(playbook, path, tasks, done)
    return done


def _keep(
    playbook: Playbook, path: str | Path, tasks: Sequence[Task], done: Sequence[Step]
) -> None:
    playbook.adaptation = {"tasks": _digest(tasks), "steps": [asdict(step) for step in done]}
    save(playbook, path)


def _digest(tasks: Sequence[object]) -> str:
    return sha256("\0".join(_ADDRESS.sub("", repr(one)) for one in tasks).encode()).hexdigest()
