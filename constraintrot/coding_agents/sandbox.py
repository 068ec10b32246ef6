"""Starting an agent without a network, and ending all processes that it started."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

SECONDS: Final = 180
"""Time limit of one turn of an agent."""
_PATH: Final = ("/usr/local/bin", "/usr/bin", "/bin")
_WHOLE: Final = ("--net", "--pid", "--fork", "--kill-child", "--mount-proc")
# As root, or as a user who becomes root in a namespace of users.
_WITH_PROCESSES: Final = (_WHOLE, ("--map-root-user", *_WHOLE))
_NETWORK_ONLY: Final = (("--net",), ("--map-root-user", "--net"))
# Time limit of a trial, in seconds.
_TRY: Final = 10


@dataclass(frozen=True)
class Ended:
    """The end of a command: its exit status, None if it took too long, and its output."""

    status: int | None
    printed: str


@lru_cache
def without_network(*, processes: bool = True) -> tuple[str, ...] | None:
    """Return the command prefix that takes the network away; None if the system has none.

    With ``processes`` it gives the command a process namespace too, which ends what a killed agent
    leaves behind.
    """
    program = shutil.which("unshare")
    if program is None or not sys.platform.startswith("linux"):
        return None
    for way in _WITH_PROCESSES if processes else (*_WITH_PROCESSES, *_NETWORK_ONLY):
        words = [program, *way, "true"]
        tried = subprocess.run(words, capture_output=True, timeout=_TRY, check=False)
        if tried.returncode == 0:
            return (program, *way)
    return None


def environment(
    home: Path, variables: Mapping[str, str] | None = None, program: str = ""
) -> dict[str, str]:
    """Return an agent's whole environment, without keys and settings of the user's.

    A Node.js beside the program comes before the user's.
    """
    beside = shutil.which("node", path=os.path.dirname(program)) if program else None
    node = beside or shutil.which("node")
    path = [str(Path(node).parent)] if node else []
    return {
        "HOME": str(home),
        "PATH": os.pathsep.join(dict.fromkeys([*path, *_PATH])),
        "TERM": "dumb",
        "LANG": "C.UTF-8",
        "TMPDIR": str(home / "tmp"),
        **(variables or {}),
    }


def run(command: Sequence[str], work: Path, variables: Mapping[str, str]) -> Ended:
    """Run a command to its end or its time limit, and kill its process group."""
    with subprocess.Popen(
        command,
        cwd=work,
        env=dict(variables),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    ) as process:
        try:
            printed, _ = process.communicate(timeout=SECONDS)
            status: int | None = process.returncode
        except subprocess.TimeoutExpired:
            printed, status = b"", None
        finally:
            # Background processes that it left.
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
    return Ended(status, printed.decode("utf-8", "replace"))
