"""The supervisor of one coding agent: the first process in its namespaces, which also ends it.

Started by ``box.py`` as ``python -I -S inside.py FOLDER``, with the standard library
only. It makes FOLDER itself, so that the folder never exists without a process that removes
it, and holds a lock in it. It forwards a loopback port to the endpoint's Unix socket in
FOLDER, so that an agent without a network reaches only its model. It starts the agent's
programs on order: one JSON object per line on standard input, and one per line back on
standard output. When standard input ends for any reason (such as a killed evaluation), it
kills every process below it and removes FOLDER.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

_PR_SET_CHILD_SUBREAPER = 36
_SIOCGIFFLAGS, _SIOCSIFFLAGS, _IFF_UP = 0x8913, 0x8914, 0x1
_CHUNK = 1 << 16
SOCKET = "endpoint.sock"
LOCK = "lock"
_say = threading.Lock()


def adopt_orphans() -> None:
    """Become the parent of orphaned processes on Linux, so that they can be found and ended."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def loopback_up() -> None:
    """Switch on the loopback, which is off in a new network namespace."""
    if sys.platform != "linux":
        return
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        given = struct.pack("16sH14x", b"lo", 0)
        flags = struct.unpack("16sH14x", fcntl.ioctl(any_socket, _SIOCGIFFLAGS, given))[1]
        if not flags & _IFF_UP:
            up = struct.pack("16sH14x", b"lo", flags | _IFF_UP)
            fcntl.ioctl(any_socket, _SIOCSIFFLAGS, up)


def relay(target: str) -> int:
    """Forward a free loopback port to a Unix socket, and return the port."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=64)

    def accept() -> None:
        while True:
            client, _ = listener.accept()
            threading.Thread(target=_forward, args=(client, target), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    return int(listener.getsockname()[1])


def _forward(client: socket.socket, target: str) -> None:
    try:
        server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        server.connect(target)
    except OSError:
        client.close()
        return
    back = threading.Thread(target=_copy, args=(server, client), daemon=True)
    back.start()
    _copy(client, server)
    back.join()
    client.close()
    server.close()


def _copy(source: socket.socket, sink: socket.socket) -> None:
    try:
        while data := source.recv(_CHUNK):
            sink.sendall(data)
    except OSError:
        pass
    with contextlib.suppress(OSError):
        sink.shutdown(socket.SHUT_WR)


def tell(what: dict[str, Any]) -> None:
    with _say:
        try:
            sys.stdout.write(json.dumps(what) + "\n")
            sys.stdout.flush()
        except (OSError, ValueError):
            pass  # The reader is gone; standard input ends too.


class Programs:
    """The agent's running programs, by the number that the evaluation gave them."""

    def __init__(self) -> None:
        self._running: dict[int, subprocess.Popen[str]] = {}

    def obey(self, order: dict[str, Any]) -> None:
        """Start a program, or write a text to its standard input."""
        if order["do"] == "write":
            with contextlib.suppress(OSError, ValueError):
                program = self._running.get(order["id"])
                if program is not None and program.stdin is not None:
                    program.stdin.write(order["text"])
                    program.stdin.flush()
        else:
            self._start(order)

    def _start(self, order: dict[str, Any]) -> None:
        """Start a program, and report each line that it writes and its exit status."""
        try:
            with Path(order["errors"]).open("ab") as errors:
                process = subprocess.Popen(
                    order["argv"],
                    cwd=order["cwd"],
                    env=order["env"],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=errors,
                    text=True,
                    encoding="utf-8",
                    errors="replace",
                    start_new_session=True,
                )
        except OSError as error:
            Path(order["errors"]).write_text(str(error))
            tell({"id": order["id"], "ended": -1})
            return
        self._running[order["id"]] = process
        threading.Thread(target=_read, args=(order["id"], process), daemon=True).start()


def _read(number: int, process: subprocess.Popen[str]) -> None:
    assert process.stdout is not None
    # Iterating over the stream would wait for a full buffer.
    while line := process.stdout.readline():
        tell({"id": number, "line": line})
    tell({"id": number, "ended": process.wait()})


def descendants() -> list[int]:
    """Return the ids of the processes below this one, without zombies."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = entry.read_text().rsplit(")", 1)[1].split()
        except (OSError, IndexError):
            continue
        if fields[0] != "Z":
            parents[int(entry.parent.name)] = int(fields[1])
    below = {os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in below} - below:
        below |= more
    return sorted(below - {os.getpid()})


def end_all() -> None:
    """Kill every process below this one, including those started meanwhile.

    Waiting for them counts their processor time as the evaluation's.
    """
    for _ in range(100):
        left = descendants()
        if not left:
            with contextlib.suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass
            return
        for pid in left:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.02)


def claim(folder: Path) -> None:
    """Make the folder, and lock it until this process ends in any way."""
    folder.mkdir(0o700)
    lock = os.open(folder / LOCK, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC)
    fcntl.flock(lock, fcntl.LOCK_EX)


def main(folder: str) -> None:
    """Serve until standard input ends; then end everything and remove the folder."""
    for ignored in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(ignored, signal.SIG_IGN)
    claim(Path(folder))
    try:
        adopt_orphans()
        loopback_up()
        tell({"port": relay(str(Path(folder) / SOCKET))})
        programs = Programs()
        while line := sys.stdin.readline():
            programs.obey(json.loads(line))
    finally:
        end_all()
        shutil.rmtree(folder, ignore_errors=True)
        os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1])
