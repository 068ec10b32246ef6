"""The supervisor of one coding agent: what runs first in its namespaces, and what ends it.

Started by ``box.py`` as ``python -I -S inside.py FOLDER``, with the standard library
only. It forwards a loopback port to the endpoint's Unix socket in FOLDER, so that an
agent without a network reaches its model and nothing else, and starts the agent's
programs as it is told: a JSON object a line on standard input, an answer a line on
standard output. When standard input ends, for whatever reason (the evaluation was
killed), every process below it is killed and FOLDER is removed.
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
_say = threading.Lock()


def adopt_orphans() -> None:
    """Become the parent of what an agent leaves behind, so that it can be found and ended."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def loopback_up() -> None:
    """Switch on the loopback of a new network namespace; elsewhere it is on."""
    if sys.platform != "linux":
        return
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        given = struct.pack("16sH14x", b"lo", 0)
        flags = struct.unpack("16sH14x", fcntl.ioctl(any_socket, _SIOCGIFFLAGS, given))[1]
        if not flags & _IFF_UP:
            up = struct.pack("16sH14x", b"lo", flags | _IFF_UP)
            fcntl.ioctl(any_socket, _SIOCSIFFLAGS, up)


def relay(target: str) -> int:
    """Forward a free loopback port to a Unix socket; the port."""
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
    """Answer the evaluation."""
    with _say:
        try:
            sys.stdout.write(json.dumps(what) + "\n")
            sys.stdout.flush()
        except (OSError, ValueError):
            pass  # Nobody reads any more; standard input says so too.


def run(order: dict[str, Any]) -> None:
    """Run a program to its end, and say how it ended."""
    code, late = -1, False
    try:
        with Path(order["output"]).open("ab") as output:
            process = subprocess.Popen(
                order["argv"],
                cwd=order["cwd"],
                env=order["env"],
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            if order.get("wait", True):
                try:
                    process.communicate(order["stdin"].encode(), timeout=order["seconds"])
                except subprocess.TimeoutExpired:
                    late = True
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()
                code = process.returncode
            else:
                code = 0
    except OSError as error:
        tell({"id": order["id"], "code": -1, "late": False, "error": str(error)})
        return
    tell({"id": order["id"], "code": code, "late": late})


def descendants() -> list[int]:
    """The processes below this one."""
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
    """Kill every process below this one, those that they started meanwhile too."""
    for _ in range(100):
        left = descendants()
        if not left:
            return
        for pid in left:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.02)


def main(folder: str) -> None:
    """Serve until standard input ends; then end everything and remove the folder."""
    for ignored in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(ignored, signal.SIG_IGN)
    try:
        adopt_orphans()
        loopback_up()
        tell({"port": relay(str(Path(folder) / SOCKET))})
        for line in sys.stdin:
            order = json.loads(line)
            if order["do"] == "end":
                end_all()
            else:
                threading.Thread(target=run, args=(order,), daemon=True).start()
    finally:
        end_all()
        shutil.rmtree(folder, ignore_errors=True)
        os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1])
