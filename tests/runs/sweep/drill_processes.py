"""The processes of a drill: which there are, how they are killed, and the server of its bucket."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from constraintrot.errors import MissingExtraError
from constraintrot.extras import installed

BUCKET = "drill"


def descendants(pid: int) -> Iterator[tuple[int, str]]:
    """The processes that a process started, and those that they did, with their command lines."""
    parents: dict[int, list[int]] = {}
    for path in Path("/proc").glob("[0-9]*"):
        try:
            # The name, in brackets, may hold anything.
            parent = int((path / "stat").read_text().rpartition(")")[2].split()[1])
        except (OSError, ValueError, IndexError):
            continue
        parents.setdefault(parent, []).append(int(path.name))
    waiting = list(parents.get(pid, ()))
    while waiting:
        one = waiting.pop()
        waiting += parents.get(one, [])
        try:
            text = Path(f"/proc/{one}/cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:
            continue
        yield one, text


def kill(pid: int) -> None:
    """Kill a process, if it is still there."""
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def end(process: subprocess.Popen[bytes]) -> None:
    """End a process and what it started."""
    below = [pid for pid, _ in descendants(process.pid)]
    for pid in (process.pid, *below) if process.poll() is None else below:
        kill(pid)
    process.wait()


class Bucket:
    """A bucket of an S3 server of this machine, which has it in memory: killed, it has nothing.

    This process and its children reach it as ``s3://drill``.
    """

    def __init__(self) -> None:
        """Start it.

        Raises:
            MissingExtraError: moto's server or s3fs is missing.
        """
        lacking = [name for name in ("moto", "flask", "s3fs") if not installed(name)]
        if lacking:
            raise MissingExtraError(
                f"--s3 needs {', '.join(lacking)}: pip install 'moto[server]' s3fs"
            )
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self._port = int(free.getsockname()[1])
        os.environ |= {
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{self._port}",
            "AWS_ACCESS_KEY_ID": "invented",
            "AWS_SECRET_ACCESS_KEY": "invented",
            "AWS_DEFAULT_REGION": "us-east-1",
        }
        self.start()

    def start(self) -> None:
        """Start the server, empty but for the bucket, and wait until it answers."""
        command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(self._port)]
        quiet = subprocess.DEVNULL
        self._process = subprocess.Popen(command, stdout=quiet, stderr=quiet)
        while True:
            try:
                urlopen(os.environ["AWS_ENDPOINT_URL"], timeout=5).close()
                break
            except OSError:
                if self._process.poll() is not None:
                    raise
                time.sleep(0.2)
        fsspec: Any = import_module("fsspec")
        fsspec.filesystem("s3", skip_instance_cache=True).mkdir(BUCKET)

    def kill(self) -> None:
        """Kill the server, with all it holds."""
        self._process.kill()
        self._process.wait()

    def close(self) -> None:
        """End it."""
        self.kill()
