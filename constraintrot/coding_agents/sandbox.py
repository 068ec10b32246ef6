"""Starting an agent where it cannot reach the network, and ending all that it started."""

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
"""That one turn of an agent may take."""
_PATH: Final = ("/usr/local/bin", "/usr/bin", "/bin")
_WHOLE: Final = ("--net", "--pid", "--fork", "--kill-child", "--mount-proc")
# As root, or as a user who becomes root in a namespace of users.
_WITH_PROCESSES: Final = (_WHOLE, ("--map-root-user", *_WHOLE))
_NETWORK_ONLY: Final = (("--net",), ("--map-root-user", "--net"))
# Seconds that a way is tried for.
_TRY: Final = 10


@dataclass(frozen=True)
class Ended:
    """The end of a command: its exit status, None if it took too long, and its output."""

    status: int | None
    printed: str


@lru_cache
def without_network(*, processes: bool = True) -> tuple[str, ...] | None:
    """The words before a command that take its network away; None where the system cannot.

    Args:
        processes: whether only such a way will do that also gives the command a namespace
            of processes: what a killed agent leaves behind ends with that.
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
    """All that an agent gets of an environment: no key and no setting of the user's.

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
    """Run a command to its end, or end it and all that it started."""
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
            # What it left in the background goes too.
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
    return Ended(status, printed.decode("utf-8", "replace"))
