"""The progress of a run, on a terminal or in a log of one."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import click

_SECONDS_A_LINE = 30.0
# Between two looks of a terminal: with many cells, a view a change would be most of the driver's time.
_SECONDS_A_LOOK = 0.25


class Shown:
    """A view of a run: live on a terminal; elsewhere printed now and then."""

    def __init__(self, make: Callable[[Any], str]) -> None:
        """Take the function that makes the view of a state."""
        from rich.console import Console
        from rich.live import Live
        from rich.text import Text

        self._make, self._text, self._last = make, Text, 0.0
        console = Console(stderr=True)
        self._live = Live(console=console, auto_refresh=False) if console.is_terminal else None
        self._state: Any = None

    def __enter__(self) -> None:
        if self._live is not None:
            self._live.start()

    def __exit__(self, *error: object) -> None:
        if self._state is not None:
            self._last = 0.0
            self.update(self._state)
        if self._live is not None:
            self._live.stop()

    def update(self, state: Any) -> None:
        """Show a state."""
        self._state = state
        wait = _SECONDS_A_LOOK if self._live is not None else _SECONDS_A_LINE
        if self._last and time.monotonic() - self._last < wait:
            return
        self._last = time.monotonic()
        if self._live is not None:
            self._live.update(self._text(self._make(state)), refresh=True)
        else:
            click.echo(self._make(state), err=True)
