"""An adaptation that was stopped goes on from its file, and repeats at most one step."""

from dataclasses import replace
from pathlib import Path

import anyio
import pytest
from inspect_ai.model import Model, get_model

from constraintrot.memory.playbook import Add, Playbook, PlaybookError, load, save
from constraintrot.memory.playbook.adaptation import (
    Play,
    PlaybookMemory,
    Step,
    Trajectory,
    offline,
    online,
)
from constraintrot.memory.playbook.roles import Cost
from results.tools.playbook import desk
from results.tools.playbook.adaptation import RewrittenMemory

TASKS = desk.requests(test=False)[:4]


class StoppedError(BaseException):
    """The process was killed."""


class Dying(PlaybookMemory):
    """A memory whose process dies at one step, before it learns or before it saves."""

    def __init__(self, dies_at: int = 0, *, after: bool = False) -> None:
        model = get_model("scripted/obedient")
        super().__init__(Playbook(budget=400), model, model)
        self.calls, self.dies_at, self.after = 0, dies_at, after

    async def learn(self, *args: object) -> Cost:
        self.calls += 1
        if self.calls == self.dies_at and not self.after:
            raise StoppedError
        cost = await super().learn(*args)  # type: ignore[arg-type]
        if self.calls == self.dies_at:
            raise StoppedError
        return cost


def adapted(memory: PlaybookMemory, path: Path | None, epochs: int = 3) -> list[Step]:
    play: Play[desk.Request] = desk.play(get_model("scripted/obedient"))

    async def run() -> list[Step]:
        return await offline(memory, TASKS, play, epochs=epochs, path=path)

    return anyio.run(run)


def untimed(steps: list[Step]) -> list[Step]:
    return [replace(one, cost=replace(one.cost, seconds=0.0)) for one in steps]


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("at", [1, 6, 12])
def test_a_stopped_adaptation_goes_on(tmp_path: Path, at: int, after: bool) -> None:
    path, whole = tmp_path / "playbook.json", Dying()
    steps = untimed(adapted(whole, None))
    with pytest.raises(StoppedError):
        adapted(Dying(at, after=after), path)
    assert load(Playbook(), path).deltas == at - 1
    again = Dying()
    assert untimed(adapted(again, path)) == steps
    # Only the step that it was stopped in is done anew.
    assert again.calls == len(steps) - at + 1
    assert again.playbook.bullets == whole.playbook.bullets
    assert load(Playbook(), path).bullets == whole.playbook.bullets
    # What is done is not done again, but for more epochs; saved by hand or not.
    save(again.playbook, path)
    third = Dying()
    assert untimed(adapted(third, path)) == steps
    assert third.calls == 0
    assert len(adapted(third, path, epochs=4)) == len(steps) + len(TASKS)
    assert third.calls == len(TASKS)


def test_other_tasks_begin_anew_with_what_was_learned(tmp_path: Path) -> None:
    path = tmp_path / "playbook.json"
    adapted(Dying(), path, epochs=1)
    memory = Dying()
    play = desk.play(get_model("scripted/obedient"))
    asked = desk.requests(test=True)[:4]

    async def run() -> list[Step]:
        return await online(memory, asked, play, path=path)

    assert len(anyio.run(run)) == 4
    assert (memory.calls, load(Playbook(), path).deltas) == (4, 8)


def test_a_file_does_not_undo_what_a_memory_has_learned_since(tmp_path: Path) -> None:
    path, memory = tmp_path / "playbook.json", Dying()
    adapted(memory, path, epochs=1)
    memory.playbook.apply([Add(text="Badges come on Mondays.")])
    before = memory.playbook.plain()
    with pytest.raises(PlaybookError, match="1 more deltas than"):
        adapted(memory, path)
    assert memory.playbook.plain() == before
    save(memory.playbook, path)
    assert len(adapted(memory, path, epochs=2)) == 8
    assert memory.playbook.bullets[-1].text == "Badges come on Mondays."


def test_what_cannot_be_saved_is_said_before_a_model_is_asked(tmp_path: Path) -> None:
    async def play(task: str, text: str) -> Trajectory:
        raise AssertionError("a model was asked")

    model: Model = get_model("scripted/obedient")

    async def run(path: Path, memory: PlaybookMemory | RewrittenMemory) -> None:
        await offline(memory, ["a"], play, path=path)

    with pytest.raises(PlaybookError, match="no such folder"):
        anyio.run(run, tmp_path / "none/playbook.json", Dying())
    with pytest.raises(PlaybookError, match="only a playbook"):
        anyio.run(run, tmp_path / "notes.json", RewrittenMemory(model))
    (tmp_path / "broken.json").write_text(
        '{"version": 1, "next": 1, "deltas": 0, "went": {}, "bullets": [], "adaptation": [1]}'
    )
    with pytest.raises(PlaybookError, match="adaptation"):
        anyio.run(run, tmp_path / "broken.json", Dying())
