"""A Ray cluster on this machine that ends with the process that started it.

Ray's own ``ray.init`` gives its helper processes 15 and 30 seconds to start, which a busy machine
exceeds (https://github.com/ray-project/ray/issues/65983). ``ray start`` does not wait for helpers
with given ports, and its other time limits can be set.
"""

import ctypes
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from constraintrot.errors import ConstraintRotError

START_SECONDS = 600.0
_SETTINGS = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_raylet_start_wait_time_s": "300",
    "RAY_agent_register_timeout_ms": "300000",
    "RAY_worker_register_timeout_seconds": "300",
    "RAY_gcs_server_request_timeout_seconds": "300",
    # A busy processor must not count as a lost machine.
    "RAY_health_check_timeout_ms": "60000",
}
# Cells return a few lines and write the rest to files; by default Ray reserves a third of memory.
_OBJECTS_BYTES = 200 * 2**20
_STARTED = "Ray runtime started"
# Ray waits for this port file in any case. -1 means that the node has no such port, which only the
# dashboard would use.
_UNTOLD, _NONE = "dashboard_agent_listen_port", "-1"


class LocalCluster:
    """A cluster on this machine that ends with this process, on Linux also if that is killed.

    Attributes:
        address: for ``ray.init`` and ``--ray`` in this process and its children.
    """

    def __init__(self, workers: int | None = None) -> None:
        """Start the cluster with ``workers`` processors, by default all of the machine."""
        gcs, *others = free_ports(4)
        self.address = f"127.0.0.1:{gcs}"
        # In /tmp: paths of sockets are limited to about a hundred characters.
        self._folder = Path(tempfile.mkdtemp(prefix="ray-", dir="/tmp"))
        for name, value in {**_SETTINGS, **_token()}.items():
            os.environ.setdefault(name, value)
        names = ("dashboard-agent-grpc", "metrics-export", "runtime-env-agent")
        ports = [f"--{name}-port={port}" for name, port in zip(names, others, strict=True)]
        command = [
            sys.executable, "-m", "ray.scripts.scripts", "start", "--head", "--block",
            f"--port={gcs}", *ports, f"--temp-dir={self._folder}", "--include-dashboard=false",
            f"--object-store-memory={_OBJECTS_BYTES}", "--no-monitor", "--include-log-monitor=false", "--disable-usage-stats",
            *([] if workers is None else [f"--num-cpus={workers}"]),
        ]  # fmt: skip
        self._said = self._folder / "start.txt"
        with self._said.open("wb") as file:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
                # At SIGTERM, Ray ends its own processes.
                preexec_fn=end_with_parent(signal.SIGTERM),
            )
        try:
            self._wait()
        except BaseException:
            self.close()
            raise

    @property
    def pid(self) -> int:
        return self._process.pid

    def ended(self) -> str:
        """Return Ray's last line of output if the cluster has ended; empty while it runs."""
        if self._process.poll() is None:
            return ""
        return (self._said.read_text(errors="replace").strip().splitlines() or ["nothing"])[-1]

    def close(self) -> None:
        if self._process.poll() is None:
            self._process.terminate()
        try:
            self._process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _wait(self) -> None:
        until = time.monotonic() + START_SECONDS
        while _STARTED not in self._said.read_text(errors="replace"):
            if (said := self.ended()) or time.monotonic() > until:
                raise ConstraintRotError(
                    f"Ray did not start a cluster on this machine; it said: {said or 'nothing'}"
                )
            _tell(self._folder)
            time.sleep(0.1)


def _tell(folder: Path) -> None:
    """Write the port file that the node's agent would write, stating that it has no HTTP port."""
    for known in folder.glob("session_*/gcs_server_port_*"):
        node = known.name.rpartition("_")[2]
        file = known.with_name(f"{_UNTOLD}_{node}")
        if not file.exists():
            part = file.with_name(f".{file.name}")
            part.write_text(_NONE)
            part.replace(file)


def free_ports(number: int) -> list[int]:
    with ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(number)]
        for one in sockets:
            one.bind(("", 0))
        return [int(one.getsockname()[1]) for one in sockets]


def _token() -> dict[str, str]:
    """Return settings with a token: without one, anybody on the network could run code here."""
    if "RAY_AUTH_MODE" in os.environ:
        return {}
    return {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}


def end_with_parent(signal_: int) -> Callable[[], object] | None:
    """Return a ``preexec_fn`` that makes the kernel send a signal when the parent dies.

    None on other systems than Linux.
    """
    if sys.platform != "linux":
        return None
    return lambda: ctypes.CDLL(None).prctl(1, signal_)
