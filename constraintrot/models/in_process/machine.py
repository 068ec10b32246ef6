"""llama.cpp on this machine: its library, and its number of threads."""

import os
import sys
from importlib import import_module
from pathlib import Path
from typing import Any


def default_threads() -> int:
    """Return the number of physical cores that this process may use; more threads are slower."""
    # psutil has no type information; Inspect depends on it.
    psutil: Any = import_module("psutil")
    cores = int(psutil.cpu_count(logical=False) or psutil.cpu_count() or 1)
    return max(1, min(cores, _allowed() or cores))


def _allowed() -> int | None:
    """Return the cores by CPU affinity and a container's quota; None if neither is known."""
    if sys.platform != "linux":
        return None
    allowed = len(os.sched_getaffinity(0))
    try:
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text().split()
        return min(allowed, max(1, int(quota) // int(period)))
    except (OSError, ValueError):
        return allowed


def import_llama() -> Any:
    """Import xllamacpp so that its threads sleep instead of spin while they wait.

    Spinning threads are ten times slower if another process uses the cores. OpenMP
    reads the variable when it is loaded; afterwards it is restored.
    """
    name = "OMP_WAIT_POLICY"
    before = os.environ.get(name)
    os.environ.setdefault(name, "passive")
    try:
        return import_module("xllamacpp")
    finally:
        if before is None:
            del os.environ[name]
