"""A limit for each test: one that stands still fails, and says where it stood."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

# Long enough for a test that waits for a program of its own on a busy machine.
SECONDS = 1800.0
# The share of the time in which a test computes; the slowest ones get no more on a busy machine.
_WORKS = 0.02


class StoodStill(BaseException):
    """A test stood still. Nothing that handles errors handles this."""


@contextmanager
def limited(
    name: str, seconds: float, spent: Callable[[], float] = time.process_time
) -> Iterator[None]:
    """Raise ``StoodStill`` in the main thread, where it is, after that time without computing.

    A test that computes is left alone, because a slow machine is no fault of it. The
    time begins anew after each check, so a fault of one task does not end the checks.

    Args:
        name: what is limited, for the message.
        seconds: the time between two checks.
        spent: the processor time that this process has had, in seconds.
    """
    if not hasattr(signal, "setitimer"):
        yield
        return
    last = spent()

    def check(_number: int, _frame: FrameType | None) -> None:
        nonlocal last
        now = spent()
        if now - last < _WORKS * seconds:
            raise StoodStill(f"{name} stood still for {seconds:g} s, where this is raised")
        last = now

    before = signal.signal(signal.SIGALRM, check)
    around = signal.setitimer(signal.ITIMER_REAL, seconds, seconds)
    try:
        yield
    finally:
        signal.signal(signal.SIGALRM, before)
        signal.setitimer(signal.ITIMER_REAL, *around)
