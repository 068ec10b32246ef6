"""Cells as tasks of a Ray cluster."""

import os
import threading
import time
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import Any

from constraintrot.errors import ConstraintRotError
from constraintrot.report.cells import commit
from constraintrot.runs.sweep.budgets import RateBudget, share
from constraintrot.runs.sweep.cell import Cell
from constraintrot.runs.sweep.driver import Ended
from constraintrot.runs.sweep.folder import FolderError, SweepFolder
from constraintrot.runs.sweep.play import Played, play
from constraintrot.runs.sweep.ray_cluster import Cluster, check_workers, lacking
from constraintrot.runs.sweep.servers import ModelServer, check_server

# Cells started beyond those that fit, so that no worker waits for the driver.
AHEAD = 2
# Seconds between two questions for the cluster's size.
_ASK_SECONDS = 5.0
# Seconds between a worker's checks of its model's server.
_LOOK_SECONDS = 5.0
_RESOURCES = ("cpus", "gpus", "memory_gb")


class RayPool:
    """A connection to a cluster, with the sweep's servers on it.

    Attributes:
        dashboard: URL of Ray's dashboard; empty if there is none.
    """

    def __init__(
        self,
        address: str,
        folder: SweepFolder,
        options: Mapping[str, Any],
        *,
        cells: Sequence[Cell],
        resources: Mapping[str, float] | None = None,
        budgets: Mapping[str, Mapping[str, float]] | None = None,
        workers: int | None = None,
        store: str | None = None,
        tell: Callable[[str], None] = lambda note: None,
    ) -> None:
        """Connect, check the workers, and start the servers.

        The address is of a cluster, or ``local`` for a new one on this machine. The servers of the cells'
        models are started. ``resources`` of a cell are ``cpus``, ``gpus`` and ``memory_gb``; ``budgets``
        are rates that all workers share, by prefix of a model's name.
        """
        self._folder, self._options, self._store = folder, dict(options), store
        self._need = _need(_known(resources or {}))
        wanted = {cell.model: cell.server for cell in cells if cell.server}
        for server in wanted.values():
            check_server(server)
        self._cluster = Cluster(address, workers)
        self._ray, self.dashboard = self._cluster.ray, self._cluster.dashboard
        self._running: dict[Any, str] = {}
        self._of_prefix: dict[str, int] = {}
        self._budgets = dict(budgets or {})
        self._fitting = (0, 0.0)
        try:
            for note in (*check_workers(self._ray, folder), *self._lacks(wanted.values())):
                tell(note)
            self._servers = self._started(wanted)
            self._budget = self._line(budgets)
        except BaseException:
            self.close()
            raise
        self._task = self._ray.remote(play_here)

    def room(self) -> int:
        fitting, asked = self._fitting
        due = time.monotonic() - asked > _ASK_SECONDS
        # Does not ask a silent cluster: Ray would wait, and end this process.
        if not fitting or (due and self._cluster.check(now=True)):
            cpus = float(self._ray.cluster_resources().get("CPU", 1.0))
            fitting = max(1, int(cpus // self._need["num_cpus"])) if self._need["num_cpus"] else 64
            self._fitting = fitting, time.monotonic()
        return fitting + max(AHEAD, fitting // 10) - len(self._running)

    def start(self, cell: Cell) -> None:
        task = self._task.options(max_retries=0, name=f"cell {cell.id}", **self._need)
        made = task.remote(
            dict(cell.task), cell.look, self._folder.url, self._options,
            self._server(cell), self._budget, self._budgets, self._store,
        )  # fmt: skip
        self._running[made] = cell.id

    def wait(self, seconds: float) -> list[Ended]:
        self._cluster.check()
        if not self._running:
            time.sleep(seconds)
            return []
        ready, _ = self._ray.wait(list(self._running), num_returns=1, timeout=seconds)
        if ready:
            # Also the others that have ended: a wait per cell would take most of the driver's time.
            ready, _ = self._ray.wait(
                list(self._running), num_returns=len(self._running), timeout=0
            )
        return [self._ended(one) for one in ready]

    def _ended(self, reference: Any) -> Ended:
        cell = self._running.pop(reference)
        errors = self._ray.exceptions
        try:
            ended: Ended = self._ray.get(reference)
        except errors.RayTaskError as error:
            return Ended(cell, Played(cell, error=str(error).strip().splitlines()[-1]))
        except errors.RayError as error:
            return Ended(cell, crash=str(error).strip().splitlines()[0])
        return ended

    def close(self) -> None:
        self._cluster.close()

    def _lacks(self, servers: Collection[Mapping[str, Any]]) -> list[str]:
        needs = [_need(one) for one in servers for _ in range(int(one.get("replicas", 1)))]
        lack = lacking(self._ray.nodes(), self._need, needs)
        if lack and self._cluster.own:
            raise ConstraintRotError(f"{lack}; ask for less in the spec, or for more --workers")
        return [f"{lack}: the sweep waits until it grows"] if lack else []

    def _line(self, budgets: Mapping[str, Mapping[str, float]] | None) -> Any:
        if not budgets:
            return None
        actor = self._ray.remote(RateBudget)
        return actor.options(num_cpus=0, max_restarts=-1, max_task_retries=-1).remote(budgets)

    def _started(self, wanted: Mapping[str, Mapping[str, Any]]) -> dict[str, list[Any]]:
        servers: dict[str, list[Any]] = {}
        for model, server in wanted.items():
            actor = self._ray.remote(ModelServer).options(
                max_restarts=-1, max_task_retries=-1, max_concurrency=4, **_need(server)
            )
            servers[model] = [actor.remote(server) for _ in range(int(server.get("replicas", 1)))]
        try:
            self._ray.get([one.address.remote() for group in servers.values() for one in group])
        except self._ray.exceptions.RayError as error:
            why = str(error).strip().splitlines()[-1]
            raise ConstraintRotError(f"a model server of the sweep did not start: {why}") from error
        return servers

    def _server(self, cell: Cell) -> Any:
        """Return the server of a cell: the same for all cells with the same ``prefix``."""
        group = self._servers.get(cell.model)
        if not group:
            return None
        chosen = self._of_prefix.setdefault(cell.prefix, len(self._of_prefix))
        return group[chosen % len(group)]


def play_here(
    task: dict[str, Any],
    look: int,
    folder: str,
    options: dict[str, Any],
    server: Any,
    budget: Any,
    budgets: dict[str, Any],
    store: str | None,
) -> Ended:
    """Play a cell, as a Ray task, and return how it ended."""
    ray: Any = import_module("ray")
    cell = Cell(task, look)
    url, start = ray.get(server.address.remote()) if server is not None else (None, "")
    if budget is not None:
        share(budget, budgets)
    if cell.server:
        os.environ.update({k: str(v) for k, v in (cell.server.get("env") or {}).items()})
    try:
        with _watched(ray, server, start):
            played = play(cell, SweepFolder(folder), options, url)
    except FolderError as error:
        return Ended(cell.id, crash=str(error))
    except Exception as error:
        # The driver counts any failure of the cell; a kill does not arrive here.
        if server is not None and ray.get(server.address.remote())[1] != start:
            return Ended(cell.id, crash=f"the server of {cell.model} died")
        return Ended(cell.id, Played(cell.id, error=f"{type(error).__name__}: {error}".strip()))
    if store is not None:
        # The log is already in its place. A missing frame is added at the sweep's end, and an
        # unreachable store is an error only then.
        with suppress(ConstraintRotError):
            commit(store, played.log, cell=cell.id)
    return Ended(cell.id, played)


@contextmanager
def _watched(ray: Any, server: Any, start: str) -> Generator[None]:
    """End this worker if its server was restarted; the driver counts that as a death.

    Inspect would repeat a failed request forever, at growing intervals of up to half an hour, and
    a server that another machine restarted has another address.
    """
    done = threading.Event()

    def watch() -> None:
        while not done.wait(_LOOK_SECONDS):
            try:
                same = ray.get(server.address.remote())[1] == start
            except ray.exceptions.RayError:
                same = False
            if not same and not done.is_set():
                os._exit(1)

    if server is not None:
        threading.Thread(target=watch, daemon=True).start()
    try:
        yield
    finally:
        done.set()


def _known(resources: Mapping[str, float]) -> Mapping[str, float]:
    unknown = sorted(set(resources) - set(_RESOURCES))
    if unknown:
        raise ConstraintRotError(
            f"unknown resource {', '.join(unknown)} of a cell; known: {', '.join(_RESOURCES)}"
        )
    return resources


def _need(asked: Mapping[str, Any]) -> dict[str, Any]:
    gigabytes = asked.get("memory_gb")
    return {
        "num_cpus": asked.get("cpus", 1),
        "num_gpus": asked.get("gpus", 0),
        "memory": None if gigabytes is None else int(gigabytes * 2**30),
    }
