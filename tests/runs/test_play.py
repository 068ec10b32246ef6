"""An interrupted evaluation ends the command that plays it, and the same call goes on."""

import signal
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest
from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.solver import Generate, Solver, TaskState, solver

from constraintrot.errors import ConstraintRotError
from constraintrot.runs import play
from constraintrot.runs.play import continued

CALM = {"model": "mockllm/model", "display": "none", "log_level": "error"}


@pytest.fixture(autouse=True)
def heeded() -> Iterator[None]:
    """Python's own handling of the signal, which a shell's background jobs ignore."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@solver
def interrupted(mark: str) -> Solver:
    """Send Ctrl-C's signal the first time; a file says that it was sent."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        if not Path(mark).exists():
            Path(mark).touch()
            signal.raise_signal(signal.SIGINT)
            await anyio.sleep(8)
        return await generate(state)

    return solve


@task
def short(mark: str) -> Task:
    return Task(dataset=[Sample("Hello.", id=1)], solver=interrupted(mark))


def test_a_run_that_is_interrupted_stops_and_the_same_call_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tasks, logs = [short(mark=str(tmp_path / "mark"))], str(tmp_path / "logs")
    with pytest.raises(KeyboardInterrupt):
        continued(tasks, logs, **CALM)
    assert capsys.readouterr().err.endswith("stopped; the same command goes on\n")
    whole, (log,) = continued(tasks, logs, **CALM)
    assert whole
    assert log.status == "success"


def test_a_folder_is_played_by_one_process_at_a_time(tmp_path: Path) -> None:
    (mark := tmp_path / "mark").touch()
    tasks, logs = [short(mark=str(mark))], tmp_path / "logs"
    with play.alone(logs), pytest.raises(ConstraintRotError, match=f"another process plays {logs}"):
        continued(tasks, str(logs), **CALM)
    assert not list(logs.glob("*.eval"))
    whole, _ = continued(tasks, str(logs), **CALM)
    assert whole


def test_the_limit_of_retries_is_inspects_own(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (mark := tmp_path / "mark").touch()
    monkeypatch.setenv("INSPECT_EVAL_MAX_RETRIES", "3")
    _, (log,) = continued([short(mark=str(mark))], str(tmp_path / "logs"), **CALM)
    assert log.eval.model_generate_config.max_retries == 3


def test_one_evaluation_that_is_interrupted_stops_what_called_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(play, "inspect_eval", lambda *_, **__: [])
    with pytest.raises(KeyboardInterrupt):
        play.once(short(mark=str(tmp_path / "mark")))
