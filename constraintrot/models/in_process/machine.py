"""llama.cpp on this machine: its library, and the number of threads that it is to use."""

import os
import sys
from importlib import import_module
from pathlib import Path
from typing import Any


def default_threads() -> int:
    """The number of physical cores that this process may use; more threads are slower."""
    # psutil has no type information; Inspect depends on it.
    psutil: Any = import_module("psutil")
    cores = int(psutil.cpu_count(logical=False) or psutil.cpu_count() or 1)
    return max(1, min(cores, _allowed() or cores))


def _allowed() -> int | None:
    """Cores by CPU affinity and a container's quota; None where neither is known."""
    if sys.platform != "linux":
        return None
    allowed = len(os.sched_getaffinity(0))
    try:
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text().split()
        return min(allowed, max(1, int(quota) // int(period)))
    except (OSError, ValueError):
        return allowed


def import_llama() -> Any:
    """Import xllamacpp such that its threads sleep instead of spinning while they wait.

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
