"""As much of Ray as a pool asks for, in this process: for its bookkeeping, not for Ray itself."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any


class RayError(Exception):
    """As Ray's own: a worker or an actor that died."""


class RayTaskError(RayError):
    """As Ray's own: the task's function raised."""


class Remote:
    """A function or a class as ``ray.remote`` makes it; calls run at once."""

    def __init__(self, made: Callable[..., Any], ray: FakeRay) -> None:
        self._made, self._ray = made, ray

    def options(self, **given: Any) -> Remote:
        self._ray.options.append(given)
        return self

    def remote(self, *given: Any) -> Any:
        if isinstance(self._made, type):
            return Actor(self._made(*given))
        self._ray.tasks += 1
        if self._ray.tasks in self._ray.hanging:
            return Result(ended=False)
        if self._ray.dying:
            return Result(error=self._ray.dying.pop(0))
        return Result(self._made(*given))


class Actor:
    """An actor's handle."""

    def __init__(self, made: Any) -> None:
        self.made = made

    def __getattr__(self, name: str) -> Any:
        return SimpleNamespace(remote=lambda *given: Result(getattr(self.made, name)(*given)))


class Result:
    """A reference, to a value or to an error."""

    def __init__(
        self, value: Any = None, error: Exception | None = None, ended: bool = True
    ) -> None:
        self.value, self.error, self.ended = value, error, ended


class FakeRay:
    """The module.

    Attributes:
        dying: what the next tasks raise instead of running.
        options: that were asked for, in order.
        hanging: numbers of the tasks that never end, in the order of their starts.
        address: of the control process, whatever name it was found by.
    """

    exceptions = SimpleNamespace(RayError=RayError, RayTaskError=RayTaskError)

    def __init__(self) -> None:
        self.dying: list[Exception] = []
        self.options: list[dict[str, Any]] = []
        self.hanging: set[int] = set()
        self.tasks = 0
        self.address = ""
        self.shut = False

    def init(self, **given: Any) -> Any:
        address = {"gcs_address": self.address or given["address"]}
        return SimpleNamespace(dashboard_url="127.0.0.1:8265", address_info=address)

    def remote(self, made: Callable[..., Any]) -> Remote:
        return Remote(made, self)

    def get(self, given: Any, timeout: float | None = None) -> Any:
        if isinstance(given, list):
            return [self.get(one) for one in given]
        if given.error is not None:
            raise given.error
        return given.value

    def wait(self, running: list[Any], num_returns: int, timeout: float) -> tuple[list[Any], Any]:
        ended = [one for one in running if one.ended][:num_returns]
        return ended, [one for one in running if one not in ended]

    def nodes(self) -> list[dict[str, Any]]:
        machine = {
            "NodeID": "n",
            "NodeManagerHostname": "w",
            "Resources": {"CPU": 2.0, "memory": 2.0**34},
        }
        return [{"Alive": True, **machine}, {"Alive": False}]

    def cluster_resources(self) -> dict[str, float]:
        return {"CPU": 2.0}

    def shutdown(self) -> None:
        self.shut = True
