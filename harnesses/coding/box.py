"""Where a coding agent runs: a folder and a HOME that are thrown away, and no network.

These agents execute tools, so each episode's has a box of its own: an environment of
an allow-list, a network namespace that holds a loopback and nothing else, a time limit
a turn, and a supervisor (``inside.py``) that ends every process of it when the
evaluation is done with it, is cancelled, or is killed.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import count
from pathlib import Path
from typing import Any

import anyio
from anyio.abc import Process
from anyio.streams.text import TextReceiveStream

from constraintrot.errors import EpisodeError, ParameterError
from constraintrot.evaluation.play_settings import Network
from constraintrot.harnesses.coding import inside

PREFIX = "constraintrot-agent-"
_LOCK = "lock"
# A namespace for processes ends with its first one; where there is none, the supervisor
# finds all that is below it.
_WHOLE = ("--net", "--pid", "--fork", "--kill-child", "--mount-proc")
_WAYS = (_WHOLE, ("--map-root-user", *_WHOLE), ("--net",), ("--map-root-user", "--net"))
# Seconds that a supervisor has to end what is in its box.
_GRACE = 10
_TAIL = 2000
NO_NETWORK = (
    "a coding agent executes what its model writes, and this system cannot keep it from the"
    " network (util-linux's unshare with --net failed); where that is taken care of otherwise,"
    " as in a container without a network, give -T network=host"
)


def base_environment(home: Path) -> dict[str, str]:
    """All that an agent's program is told of this machine."""
    node = shutil.which("node")
    path = [str(Path(node).parent)] if node else []
    path += ["/usr/local/bin", "/usr/bin", "/bin"]
    return {
        "HOME": str(home),
        "PATH": os.pathsep.join(dict.fromkeys(path)),
        "TERM": "dumb",
        "LANG": "C.UTF-8",
        "TMPDIR": str(home / "tmp"),
    }


@lru_cache
def isolation() -> tuple[str, ...] | None:
    """The command that runs a program without a network; None where there is none."""
    unshare = shutil.which("unshare")
    if unshare is None:
        return None
    for way in _WAYS:
        tried = subprocess.run(
            [unshare, *way, "true"], capture_output=True, timeout=_GRACE, check=False
        )
        if tried.returncode == 0:
            return (unshare, *way)
    return None


def check_network(network: Network) -> None:
    """Check that an agent can be kept from the network, or that the user said otherwise.

    Raises:
        ParameterError: it cannot, and the user did not.
    """
    if network == "host":
        warnings.warn(
            "network=host: the coding agent executes what its model writes, with this machine's"
            " network within its reach",
            stacklevel=2,
        )
    elif isolation() is None:
        raise ParameterError(NO_NETWORK)


@dataclass(frozen=True)
class Command:
    """A program of an agent's, and what it is given.

    Attributes:
        argv: the program and its arguments.
        env: what its environment holds beside ``base_environment``.
        stdin: its standard input.
    """

    argv: Sequence[str]
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    stdin: str = ""


@dataclass(frozen=True)
class Ended:
    """How a program of an agent's ended.

    Attributes:
        code: its exit status.
        late: it was ended because it took too long.
        output: the end of what it wrote.
    """

    code: int
    late: bool
    output: str


class Box:
    """An open box.

    Attributes:
        folder: everything of the agent's; removed when the box is closed.
        home: its HOME.
        work: the folder that it works in.
        port: of the loopback, where the endpoint is.
    """

    def __init__(self, folder: Path, process: Process) -> None:
        self.folder, self.home, self.work = folder, folder / "home", folder / "work"
        self.port = 0
        self._process = process
        assert process.stdin is not None
        assert process.stdout is not None
        self._orders, self._lines = process.stdin, TextReceiveStream(process.stdout)
        self._numbers = count(1)
        self._heard: dict[int, dict[str, Any]] = {}
        self._rest = ""

    @property
    def url(self) -> str:
        """The endpoint as the agent sees it."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def socket(self) -> Path:
        """The endpoint as the evaluation sees it."""
        return self.folder / inside.SOCKET

    async def hear(self) -> dict[str, Any]:
        """The supervisor's next line."""
        while "\n" not in self._rest:
            try:
                self._rest += await self._lines.receive()
            except (anyio.EndOfStream, anyio.ClosedResourceError) as error:
                raise EpisodeError("the supervisor of the coding agent ended") from error
        line, self._rest = self._rest.split("\n", 1)
        heard: dict[str, Any] = json.loads(line)
        return heard

    async def order(self, what: dict[str, Any]) -> None:
        """Tell the supervisor what to do."""
        await self._orders.send((json.dumps(what) + "\n").encode())

    async def run(self, command: Command, seconds: float, *, wait: bool = True) -> Ended:
        """Run a program of the agent's to its end, one at a time.

        Args:
            command: the program.
            seconds: after which it is ended.
            wait: for its end; else it goes on in the background.
        """
        number = next(self._numbers)
        output = self.folder / f"output-{number}.txt"
        await self.order(
            {
                "do": "run",
                "id": number,
                "argv": list(command.argv),
                "cwd": str(self.work),
                "env": base_environment(self.home) | dict(command.env),
                "stdin": command.stdin,
                "seconds": seconds,
                "output": str(output),
                "wait": wait,
            }
        )
        while number not in self._heard:
            heard = await self.hear()
            self._heard[heard["id"]] = heard
        heard = self._heard.pop(number)
        text = output.read_text(encoding="utf-8", errors="replace") if output.exists() else ""
        return Ended(heard["code"], heard["late"], heard.get("error") or text[-_TAIL:])

    async def end(self) -> None:
        """End every process of the agent's; the box stays open."""
        await self.order({"do": "end"})


@asynccontextmanager
async def opened(network: Network = "none") -> AsyncIterator[Box]:
    """A new box, closed and removed with everything in it at the end.

    Raises:
        ParameterError: as ``check_network``.
    """
    way = isolation() if network == "none" else ()
    if way is None:
        raise ParameterError(NO_NETWORK)
    sweep()
    folder = Path(tempfile.mkdtemp(prefix=PREFIX))
    lock = _locked(folder)
    try:
        for name in ("home/tmp", "work"):
            (folder / name).mkdir(parents=True)
        argv = [*way, sys.executable, "-I", "-S", inside.__file__, str(folder)]
        # Its own session: an interrupt from the terminal reaches the evaluation alone.
        async with await anyio.open_process(
            argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=base_environment(folder / "home"),
            start_new_session=True,
        ) as process:
            box = Box(folder, process)
            try:
                with anyio.fail_after(_GRACE):
                    box.port = (await box.hear())["port"]
                yield box
            finally:
                await _closed(process)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


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


def _locked(folder: Path) -> int:
    """A lock that says that the folder is in use; it ends with this process."""
    lock = os.open(folder / _LOCK, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC)
    fcntl.flock(lock, fcntl.LOCK_EX)
    return lock


def sweep() -> None:
    """Remove folders whose evaluation and supervisor were both killed."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        try:
            lock = os.open(folder / _LOCK, os.O_RDWR | os.O_CLOEXEC)
        except OSError:
            continue  # Somebody is about to lock it, or it is another user's.
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)
        except OSError:
            pass  # In use.
        finally:
            os.close(lock)
