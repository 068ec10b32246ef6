"""How many threads to use here."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from pathlib import Path
from typing import Any


def default_threads() -> int:
    """Physical cores that this process may use: more threads only wait for each other."""
    # psutil ships no type information, and comes with Inspect.
    psutil: Any = import_module("psutil")
    cores = int(psutil.cpu_count(logical=False) or psutil.cpu_count() or 1)
    return max(1, min(cores, _allowed() or cores))


def _allowed() -> int | None:
    """Cores by affinity and by a container's quota; None where neither is known."""
    if sys.platform != "linux":
        return None
    allowed = len(os.sched_getaffinity(0))
    try:
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text().split()
        return min(allowed, max(1, int(quota) // int(period)))
    except (OSError, ValueError):
        return allowed
