"""A sweep's Ray cluster: its connection, and its workers' versions, clocks and disks."""

import os
import socket
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from importlib.metadata import version
from typing import Any

from constraintrot.errors import ConstraintRotError
from constraintrot.runs.sweep.folder import SweepFolder
from constraintrot.runs.sweep.ray_local import LocalCluster

# Packages whose versions must be the same on the driver and every worker.
PACKAGES = ("constraintrot", "inspect-ai", "ray")
LOCAL = "local"
CLOCK_SECONDS = 30.0
_KNOCK_SECONDS = 15.0
# Between two checks of another's cluster, and the longest silence: after 60 seconds Ray would
# end this process without a message.
_LOOK_SECONDS, _SILENT_SECONDS = 5.0, 30.0
_NO_CLUSTER = (
    "--ray {address}: no Ray cluster of this version answers ({why}); start one with `ray start"
    " --head`, or leave the address out for one on this machine"
)


class Cluster:
    """A connection to a cluster.

    Attributes:
        own: whether the cluster was started here, and ends with the connection.
        dashboard: URL of its dashboard; empty if it has none.
    """

    def __init__(self, address: str, workers: int | None = None) -> None:
        """Connect to an address, or start a cluster on this machine if it is ``local``.

        ``workers`` is the number of processors of a local cluster.
        """
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
        self.own = address == LOCAL
        self._local = LocalCluster(workers) if self.own else None
        self.ray: Any = import_module("ray")
        where = self._local.address if self._local is not None else address
        try:
            if not self.own:
                _knock(where)
            made = self.ray.init(address=where, log_to_driver=False, logging_level="ERROR")
        except Exception as error:
            # Ray raises built-in exceptions, even plain Exception.
            self.close()
            why = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
            raise ConstraintRotError(_NO_CLUSTER.format(address=address, why=why)) from error
        self.dashboard = str(made.dashboard_url or "")
        # The address of the control process, even if it was found as `auto`.
        known: Mapping[str, Any] = getattr(made, "address_info", None) or {}
        self._where, self._looked = str(known.get("gcs_address") or where), time.monotonic()
        self._silent_since: float | None = None

    def check(self, *, now: bool = False) -> bool:
        """Return whether the cluster answers.

        ``now`` checks even if the last check was a moment ago.
        """
        if self._local is not None and (said := self._local.ended()):
            raise ConstraintRotError(
                f"Ray on this machine ended while the sweep was played; it said: {said}; what is"
                " finished is kept, and the same command goes on"
            )
        if self.own:
            return True
        if not now and time.monotonic() - self._looked < _LOOK_SECONDS:
            return self._silent_since is None
        self._looked = at = time.monotonic()
        try:
            _knock(self._where)
            self._silent_since = None
        except OSError as error:
            self._silent_since = at if self._silent_since is None else self._silent_since
            if time.monotonic() - self._silent_since >= _SILENT_SECONDS:
                raise ConstraintRotError(
                    f"the Ray cluster at {self._where} does not answer any more ({error}); what is"
                    " finished is kept, and the same command goes on once there is a cluster"
                ) from error
        return self._silent_since is None

    def close(self) -> None:
        self.ray.shutdown()
        if self._local is not None:
            self._local.close()


def _knock(address: str) -> None:
    """Try a connection to ``HOST:PORT``, since Ray would try for many minutes; other forms pass."""
    host, _, port = address.rpartition(":")
    if host and port.isdigit():
        socket.create_connection((host.strip("[]"), int(port)), timeout=_KNOCK_SECONDS).close()


def lacking(
    nodes: Iterable[Mapping[str, Any]],
    cell: Mapping[str, Any],
    servers: Sequence[Mapping[str, Any]],
) -> str:
    """Return a sentence on what a cluster lacks for the servers and one cell, or an empty text.

    Nodes are as Ray lists them; cell and servers are Ray options: ``num_cpus``, ``num_gpus``,
    ``memory`` in bytes.
    """
    offered = [one.get("Resources") or {} for one in nodes if one["Alive"]]
    for what, name in (("num_cpus", "CPU"), ("num_gpus", "GPU"), ("memory", "memory")):
        asked = [one.get(what) or 0 for one in (cell, *servers)]
        there = [one.get(name, 0) for one in offered]
        largest = max(there, default=0)
        if sum(asked) > sum(there):
            needed, has = _amount(name, sum(asked)), _amount(name, sum(there))
            return f"the servers and a cell need {needed} together, and the cluster has {has}"
        if max(asked) > largest:
            needed, has = _amount(name, max(asked)), _amount(name, largest)
            return f"a server or cell needs {needed}, and no machine of the cluster has over {has}"
    return ""


def _amount(name: str, number: float) -> str:
    return f"{number / 2**30:.1f} GiB of memory" if name == "memory" else f"{number:g} {name}s"


def facts() -> dict[str, Any]:
    return {
        "python": ".".join(map(str, sys.version_info[:2])),
        **{name: version(name) for name in PACKAGES},
        "time": time.time(),
    }


def probed(folder: str) -> dict[str, Any]:
    """Return a worker's facts, and in ``folder`` why it cannot use the sweep's folder."""
    try:
        SweepFolder(folder).check()
        return {**facts(), "folder": ""}
    except ConstraintRotError as error:
        return {**facts(), "folder": str(error)}


def check_workers(ray: Any, folder: SweepFolder) -> list[str]:
    """Check the versions, clock and folder of a worker on each machine; return notes on clocks that differ."""
    strategy: Any = import_module("ray.util.scheduling_strategies").NodeAffinitySchedulingStrategy
    notes: list[str] = []
    for node in ray.nodes():
        if not node["Alive"]:
            continue
        affinity = strategy(node_id=node["NodeID"], soft=False)
        task = ray.remote(probed).options(num_cpus=0, scheduling_strategy=affinity)
        sent = time.time()
        try:
            found: dict[str, Any] = ray.get(task.remote(folder.url), timeout=300)
        except ray.exceptions.RayError as error:
            why = str(error).strip().splitlines()[-1]
            raise ConstraintRotError(
                f"worker {node['NodeManagerHostname']} cannot load constraintrot ({why}); install"
                f" constraintrot[scale] {version('constraintrot')} there"
            ) from error
        notes += compared(node["NodeManagerHostname"], facts(), found, sent)
    return notes


def compared(
    host: str, mine: Mapping[str, Any], theirs: Mapping[str, Any], sent: float
) -> list[str]:
    """Compare a worker's facts with the driver's.

    ``mine`` are the driver's facts at the answer; it asked at the time ``sent``.
    """
    differ = [
        f"{name} {theirs.get(name)} instead of {mine[name]}"
        for name in ("python", *PACKAGES)
        if theirs.get(name) != mine[name]
    ]
    if differ:
        raise ConstraintRotError(
            f"worker {host} has {', '.join(differ)}; install the same versions on all machines"
        )
    if theirs.get("folder"):
        raise ConstraintRotError(f"on worker {host}, {theirs['folder']}")
    off = max(theirs["time"] - mine["time"], sent - theirs["time"], 0.0)
    if off <= CLOCK_SECONDS:
        return []
    return [
        f"the clock of worker {host} is off by {off:.0f} s: times in its logs are too, nothing else"
        " depends on it"
    ]
