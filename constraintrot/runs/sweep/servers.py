"""Model servers of a sweep, one per accelerator, each under a Ray actor.

A server is a program (vLLM, llama.cpp's, any that speaks OpenAI's protocol)
under an actor that starts it, watches it, and restarts it. The spec has its settings::

    servers={"vllm/Qwen/Qwen2.5-7B-Instruct": {
        "command": ["vllm", "serve", "Qwen/Qwen2.5-7B-Instruct", "--port", "{port}"],
        "health": "/health", "gpus": 1, "replicas": 2}}
"""

import os
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from http.client import HTTPException
from typing import Any

from constraintrot.errors import ConstraintRotError, ParameterError
from constraintrot.runs.sweep.ray_local import end_with_parent, free_ports

_KEYS = ("command", "health", "gpus", "cpus", "memory_gb", "replicas", "env", "start_seconds")
START_SECONDS = 900.0


def check_server(server: Mapping[str, Any]) -> None:
    unknown = sorted(set(server) - set(_KEYS))
    if unknown or not server.get("command"):
        what = f"unknown {', '.join(unknown)}" if unknown else "no command"
        raise ParameterError(f"a server of the spec has {what}; known: {', '.join(_KEYS)}")


class ModelServer:
    def __init__(self, server: Mapping[str, Any]) -> None:
        """Start the program, and wait until it answers."""
        self._server = dict(server)
        (self._port,) = free_ports(1)
        # Differs after Ray has restarted the actor.
        self._first = time.time_ns()
        self.starts = 0
        self._process = self._started()
        self._lock = threading.Lock()
        threading.Thread(target=self._watch, daemon=True).start()

    def address(self) -> tuple[str, str]:
        """Return the base URL for an OpenAI client, and a name of the program's current start."""
        with self._lock:
            return f"http://{_host()}:{self._port}/v1", f"{self._first}-{self.starts}"

    def _started(self) -> subprocess.Popen[bytes]:
        self.starts += 1
        command = [
            part.format(port=self._port, python=sys.executable) for part in self._server["command"]
        ]
        process = subprocess.Popen(
            command,
            env=os.environ | {k: str(v) for k, v in (self._server.get("env") or {}).items()},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            preexec_fn=end_with_parent(signal.SIGKILL),
        )
        until = time.monotonic() + float(self._server.get("start_seconds", START_SECONDS))
        url = f"http://127.0.0.1:{self._port}{self._server.get('health', '/health')}"
        while time.monotonic() < until:
            if process.poll() is not None:
                raise ConstraintRotError(
                    f"the server {command[0]} ended with status {process.returncode}; start it by"
                    f" hand to see why: {' '.join(command)}"
                )
            if _answers(url):
                return process
            time.sleep(0.2)
        process.kill()
        raise ConstraintRotError(f"the server {command[0]} does not answer at {url}")

    def _watch(self) -> None:
        while True:
            self._process.wait()
            with self._lock:
                try:
                    self._process = self._started()
                except Exception:
                    # Ray then restarts the actor, on another machine if necessary.
                    os._exit(1)


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=2) as response:
            return bool(response.status < 500)
    except urllib.error.HTTPError as error:
        return error.code < 500
    except (OSError, ValueError, HTTPException):
        # Another program with another protocol may have taken the port.
        return False


def _host() -> str:
    """Return the address at which other workers reach this machine."""
    try:
        from importlib import import_module

        return str(import_module("ray.util").get_node_ip_address())
    except ImportError:
        return "127.0.0.1"
