"""The box that a coding agent runs in: a temporary folder and HOME, and no network.

These agents execute tools, so each episode has its own box: environment variables from
an allow-list, a network namespace with only a loopback, and a supervisor (``inside.py``).
The supervisor kills every process in the box when the evaluation closes the box, is
cancelled, or is killed.
"""

from __future__ import annotations

import fcntl
import json
import math
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any, cast

import anyio
from anyio.abc import Process, TaskGroup
from anyio.streams.text import TextReceiveStream

from constraintrot.coding_agents import inside
from constraintrot.coding_agents.sandbox import environment, without_network
from constraintrot.errors import EpisodeError, ParameterError
from constraintrot.evaluation.play_settings import Network

PREFIX = "constraintrot-agent-"
# Seconds that a supervisor has to start, on a busy machine, and to end its processes.
_START, _GRACE = 60, 10
# Characters of a program's standard error that a message quotes.
_TAIL = 2000
# Bytes of a Unix socket's path; Linux takes 107.
_LONGEST_SOCKET = 103
NO_NETWORK = (
    "a coding agent executes what its model writes, and this system cannot keep it from the"
    " network (util-linux's unshare with --net failed); where that is taken care of otherwise,"
    " as in a container without a network, give -T network=host"
)
NO_SUPERVISOR = "the supervisor of a coding agent's folder could not be started, or ended at once"


def check_network(network: Network) -> None:
    """Raise ParameterError if an agent must be kept from the network and cannot be."""
    if network == "host":
        warnings.warn(
            "network=host: the coding agent executes what its model writes, with this machine's"
            " network within its reach",
            stacklevel=2,
        )
    elif without_network(processes=False) is None:
        raise ParameterError(NO_NETWORK)


class Program:
    """One of the agent's programs; it reads and writes lines."""

    def __init__(self, box: Box, number: int, name: str, errors: Path) -> None:
        self.name = name
        self._box, self._number, self._errors = box, number, errors
        send, self._lines = anyio.create_memory_object_stream[dict[str, Any]](math.inf)
        self.hear = send.send_nowait

    async def send(self, what: object) -> None:
        text = json.dumps(what) + "\n"
        await self._box.order({"do": "write", "id": self._number, "text": text})

    async def receive(self) -> dict[str, Any]:
        """Return the next line that is a JSON object."""
        while True:
            heard = await self._lines.receive()
            if "ended" in heard:
                raise EpisodeError(f"{self.name} ended with {heard['ended']}: {self.errors()}")
            with suppress(ValueError):
                said = json.loads(heard.get("line", ""))
                if isinstance(said, dict):
                    return cast("dict[str, Any]", said)

    def errors(self) -> str:
        """Return the end of the program's standard error."""
        with suppress(OSError):
            return self._errors.read_text(encoding="utf-8", errors="replace")[-_TAIL:].strip()
        return ""


class Box:
    """An open box.

    The agent's files are all in ``folder``, which is removed when the box is closed. The
    endpoint listens on ``port`` of the loopback.
    """

    def __init__(self, folder: Path, process: Process) -> None:
        self.folder, self.home, self.work = folder, folder / "home", folder / "work"
        self.port = 0
        assert process.stdin is not None
        assert process.stdout is not None
        self._orders, self._said = process.stdin, TextReceiveStream(process.stdout)
        self._numbers = count(1)
        self._programs: dict[int, Program] = {}

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def socket(self) -> Path:
        return self.folder / inside.SOCKET

    async def listen(self, ready: anyio.Event) -> None:
        """Pass the supervisor's messages to their programs until it ends.

        ``ready`` is set when the port is known or the supervisor has ended.
        """
        rest = ""
        async for text in self._said:
            *lines, rest = (rest + text).split("\n")
            for heard in map(json.loads, lines):
                if "port" in heard:
                    self.port = heard["port"]
                    ready.set()
                else:
                    self._programs[heard["id"]].hear(heard)
        ready.set()
        for program in self._programs.values():
            program.hear({"ended": "its supervisor"})

    async def order(self, what: dict[str, Any]) -> None:
        await self._orders.send((json.dumps(what) + "\n").encode())

    async def start(self, name: str, argv: Sequence[str], env: Mapping[str, str]) -> Program:
        """Start one of the agent's programs."""
        number = next(self._numbers)
        errors = self.folder / f"errors-{number}.txt"
        program = self._programs[number] = Program(self, number, name, errors)
        await self.order(
            {
                "do": "start",
                "id": number,
                "argv": list(argv),
                "cwd": str(self.work),
                "env": environment(self.home, env, argv[0]),
                "errors": str(errors),
            }
        )
        return program


@asynccontextmanager
async def background() -> AsyncIterator[TaskGroup]:
    """A task group that is cancelled when the work in it is done.

    An error of the work is raised unwrapped: Inspect's limits and other handlers would not
    recognise it in a task group's exception group.
    """
    fault: Exception | None = None
    async with anyio.create_task_group() as group:
        try:
            yield group
        except Exception as error:
            fault = error
        finally:
            group.cancel_scope.cancel()
    if fault is not None:
        raise fault


@asynccontextmanager
async def opened(network: Network = "none") -> AsyncIterator[Box]:
    """A new box, closed and removed with everything in it at the end."""
    # It needs no process namespace: the supervisor finds and ends its descendants.
    way = without_network(processes=False) if network == "none" else ()
    if way is None:
        raise ParameterError(NO_NETWORK)
    sweep()
    folder = _new_name()
    try:
        argv = [*way, sys.executable, "-I", "-S", inside.__file__, str(folder)]
        # Its own session: an interrupt from the terminal reaches the evaluation alone.
        async with await anyio.open_process(
            argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment(folder / "home"),
            start_new_session=True,
        ) as process:
            box, ready = Box(folder, process), anyio.Event()
            async with background() as group:
                group.start_soon(box.listen, ready)
                try:
                    with anyio.move_on_after(_START):
                        await ready.wait()
                    if not box.port:
                        # No TimeoutError: Inspect takes that for a limit of the sample.
                        raise EpisodeError(NO_SUPERVISOR)
                    for name in ("home/tmp", "work"):
                        (folder / name).mkdir(parents=True)
                    yield box
                finally:
                    await _closed(process)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


async def _closed(process: Process) -> None:
    """End the supervisor, and with it all that is in the box."""
    with anyio.CancelScope(shield=True):
        assert process.stdin is not None
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            await process.stdin.aclose()
        with anyio.move_on_after(_GRACE):
            await process.wait()
        if process.returncode is None:
            process.kill()
            await process.wait()


def _new_name() -> Path:
    """Return a new path in the folder for temporary files; the supervisor makes the folder."""
    folder = Path(tempfile.gettempdir()) / f"{PREFIX}{secrets.token_hex(4)}"
    if len(os.fsencode(folder / inside.SOCKET)) > _LONGEST_SOCKET:
        raise ParameterError(
            f"the folder for temporary files, {folder.parent}, is too long a path for a socket in"
            " it; name a shorter one, as TMPDIR=/tmp"
        )
    return folder


def sweep() -> None:
    """Remove folders whose supervisor was killed."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        try:
            lock = os.open(folder / inside.LOCK, os.O_RDWR | os.O_CLOEXEC)
        except OSError:
            continue  # Somebody is about to lock it, or it is another user's.
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)
        except OSError:
            pass  # In use.
        finally:
            os.close(lock)
