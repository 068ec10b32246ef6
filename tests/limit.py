"""A limit for each test: one that stands still fails, and says how long it stood."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

# The slowest took 860 s on a machine whose cores had other work to do.
SECONDS = 1800.0
# An event loop may keep the first one as the failure of a task, and wait on.
_AGAIN = 30.0


class StoodStill(BaseException):
    """A test did not end in time. Nothing that handles errors handles this."""


@contextmanager
def limited(name: str, seconds: float) -> Iterator[None]:
    """Raise ``StoodStill`` in the main thread, where it is after that time."""
    if not hasattr(signal, "setitimer"):
        yield
        return

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise StoodStill(f"{name} is not over after {seconds:g} s; it stood where this is raised")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds, _AGAIN)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
