"""No network in unit tests, and one way to run a task."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

# Before Inspect is imported: nothing of the user's own settings or display.
os.environ["INSPECT_DISPLAY"] = "none"
os.environ["INSPECT_LOG_LEVEL"] = "error"

from hypothesis import settings
from inspect_ai.log import EvalLog

# How fast a machine is that day is no property of the code.
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")

Run = Callable[..., EvalLog]


@pytest.fixture(autouse=True)
def _offline(monkeypatch: pytest.MonkeyPatch) -> None:
    connect = socket.socket.connect

    def refuse(self: socket.socket, address: Any) -> None:
        host = address[0] if isinstance(address, tuple) else str(address)
        if self.family == socket.AF_UNIX or host in ("127.0.0.1", "::1", "localhost"):
            connect(self, address)
            return
        raise AssertionError(f"a unit test reached for the network: {host}")

    monkeypatch.setattr(socket.socket, "connect", refuse)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache folder of the test's own."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("CONSTRAINTROT_CACHE", str(folder))
    return folder


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Run a task by name on a scripted model and give its log, samples included."""
    from inspect_ai import eval as inspect_eval

    def go(
        task: str, model: str = "scripted/obedient", epochs: int = 1, **task_args: Any
    ) -> EvalLog:
        roles = task_args.pop("model_roles", None)
        (log,) = inspect_eval(
            f"constraintrot/{task}",
            model=model,
            model_roles=roles,
            epochs=epochs,
            task_args=task_args,
            log_dir=str(tmp_path / "logs"),
            display="none",
            fail_on_error=False,
        )
        return log

    return go
