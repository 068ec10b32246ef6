"""How many threads to use here."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def default_threads() -> int:
    """Physical cores that this process may use: more threads only wait for each other."""
    import psutil

    cores = psutil.cpu_count(logical=False) or psutil.cpu_count() or 1
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
