"""Starting an agent where it cannot reach the network, and ending all that it started."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

SECONDS: Final = 180
"""That one turn of an agent may take."""
_PATH: Final = "/usr/local/bin:/usr/bin:/bin"
_LOOPBACK_UP: Final = 0x8914  # SIOCSIFFLAGS
_UP: Final = 0x1


@dataclass(frozen=True)
class Ended:
    """How a command ended: its exit status, None where it took too long, and what it printed."""

    status: int | None
    printed: str


def without_network() -> list[str] | None:
    """The words before a command that take its network away; None where the system cannot."""
    program = shutil.which("unshare")
    if program is None or not sys.platform.startswith("linux"):
        return None
    # A process number space of its own: what a killed agent leaves behind ends with it.
    words = [program, "--net", "--pid", "--fork", "--kill-child", "--mount-proc"]
    for candidate in (words, [*words, "--user", "--map-root-user"]):
        tried = subprocess.run([*candidate, "true"], capture_output=True, check=False)
        if tried.returncode == 0:
            return candidate
    return None


def raise_loopback() -> None:
    """Switch the loopback of a fresh network on.

    Raises:
        OSError: this process may not, or has no such interface.
    """
    import fcntl
    import socket
    import struct

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as handle:
        fcntl.ioctl(handle, _LOOPBACK_UP, struct.pack("16sh22x", b"lo", _UP))


def environment(home: Path, variables: Mapping[str, str]) -> dict[str, str]:
    """All that an agent gets of an environment: no key and no setting of the user's."""
    node = shutil.which("node")
    path = f"{Path(node).parent}:{_PATH}" if node else _PATH
    return {
        "HOME": str(home),
        "PATH": path,
        "TERM": "dumb",
        "LANG": "C.UTF-8",
        "TMPDIR": str(home / "tmp"),
        **variables,
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
