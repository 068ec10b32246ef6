"""No network in unit tests, and one way to run a task."""

import json
import os
import socket
from collections.abc import Callable, Iterator
from functools import cache as cached
from functools import partial
from importlib.metadata import packages_distributions
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from tests.limit import SECONDS, limited

# Before Inspect is imported: nothing of the user's own settings or display.
os.environ["INSPECT_DISPLAY"] = "none"
os.environ["INSPECT_LOG_LEVEL"] = "error"
# Nobody watches: the database for live views costs a sixth of a short evaluation.
os.environ["INSPECT_EVAL_NO_LOG_REALTIME"] = "true"

from hypothesis import settings
from inspect_ai.log import EvalLog

# How fast a machine is that day is no property of the code. `make soak` names the second.
settings.register_profile("unhurried", deadline=None, max_examples=30)
settings.register_profile("thorough", deadline=None, max_examples=400)
settings.load_profile("unhurried")

HAS_HISTORY = (
    "soft_", "hard_", "suite", "utility", "pin_stress", "laundering", "operator_channel",
)  # fmt: skip
Run = Callable[..., EvalLog]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The long files first, so that no worker is left with one at the end."""
    items.sort(key=lambda item: item.get_closest_marker("early") is None)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Iterator[None]:
    """Limit how long a test's fixtures stand still."""
    with limited(item.nodeid, SECONDS):
        yield


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Limit how long a test stands still."""
    marker = item.get_closest_marker("limit")
    with limited(item.nodeid, marker.args[0] if marker else SECONDS):
        yield


@pytest.fixture(scope="session", autouse=True)
def _offline() -> Iterator[None]:
    connect = socket.socket.connect

    def refuse(self: socket.socket, address: Any) -> None:
        host = address[0] if isinstance(address, tuple) else str(address)
        if self.family == socket.AF_UNIX or host in ("127.0.0.1", "::1", "localhost"):
            connect(self, address)
            return
        raise AssertionError(f"a unit test reached for the network: {host}")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", refuse)
        yield


@pytest.fixture(scope="session")
def _caches(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("caches")
    return (folder / str(number) for number in count())


@pytest.fixture(autouse=True)
def cache(_caches: Iterator[Path]) -> Path:
    """A cache folder of the test's own, which nobody makes before it is needed.

    Each test sets the variables, so none has to restore them: with ``tmp_path`` and
    ``monkeypatch`` this took a third of the time of a short test.
    """
    folder = next(_caches)
    os.environ["CONSTRAINTROT_CACHE"] = str(folder)
    os.environ["XDG_STATE_HOME"] = str(folder / "state")
    return folder


@pytest.fixture(scope="session", autouse=True)
def _quick_evaluations() -> Iterator[None]:
    """Spare each evaluation what has nothing to do with it: three quarters of a short one's time.

    For a log's header Inspect looks through the files of all installed packages,
    anew each time; and it lays out its tables even where it shows none.
    """
    from inspect_ai._display.log.display import LogDisplay
    from inspect_ai._eval.task.log import TaskLogger

    begin = TaskLogger.init

    async def begin_unwatched(logger: TaskLogger) -> None:
        if logger.eval.config.log_realtime is None:
            logger.eval.config.log_realtime = False
        await begin(logger)

    with pytest.MonkeyPatch.context() as patch:
        looked_up = cached(packages_distributions)
        patch.setattr("inspect_ai._util.package.packages_distributions", looked_up)
        patch.setattr("inspect_ai._display.core.active._active_display", LogDisplay())
        patch.setattr(TaskLogger, "init", begin_unwatched)
        yield


@pytest.fixture
def forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget the scenario files that an earlier test made known."""
    from constraintrot.scenario import user_files

    monkeypatch.setattr(user_files, "_KNOWN", {})
    monkeypatch.setattr(user_files, "_made_known", user_files.version() + 1)


def evaluate(
    log_dir: Path, task: str, model: str = "scripted/obedient", epochs: int = 1, **task_args: Any
) -> EvalLog:
    from inspect_ai import eval as inspect_eval

    roles = task_args.pop("model_roles", None)
    if task.startswith(HAS_HISTORY):
        # Shorter than a task's default, where a test does not care: it takes a third of the time.
        task_args.setdefault("context_tokens", 800)
    (log,) = inspect_eval(
        f"constraintrot/{task}",
        model=model,
        model_roles=roles,
        epochs=epochs,
        task_args=task_args,
        log_dir=str(log_dir),
        display="none",
        fail_on_error=False,
    )
    return log


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Run a task by name on a scripted model and give its log, samples included."""
    return partial(evaluate, tmp_path / "logs")


@pytest.fixture(scope="session")
def shared_run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """As ``run``, but what was run before in the session is not run again; logs are read only.

    What is given is text and numbers, so that it says all about an evaluation:
    models by name, nothing that a test registered or patched.
    """
    logs: dict[str, EvalLog] = {}

    def go(task: str, **given: Any) -> EvalLog:
        key = json.dumps([task, given], sort_keys=True)
        if key not in logs:
            logs[key] = evaluate(tmp_path_factory.mktemp("logs"), task, **given)
        return logs[key]

    return go
