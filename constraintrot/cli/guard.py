"""What every command does before it runs and when it fails: extras are there, errors are read."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import wraps
from typing import ParamSpec, TypeVar

import click

from constraintrot.errors import ConstraintRotError
from constraintrot.extras import require

P = ParamSpec("P")
T = TypeVar("T")


@contextmanager
def clear_errors() -> Generator[None]:
    """Our own errors are for the user to read, without a traceback; exit status 2."""
    try:
        yield
    except Exception as error:
        # For Inspect's command line they are wrapped; here nobody unwraps them.
        ours = error if isinstance(error, ConstraintRotError) else error.__cause__
        if not isinstance(ours, ConstraintRotError):
            raise
        click.echo(f"constraintrot: {ours}", err=True)
        sys.exit(2)


def needs(*extras: str) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Answer a command whose extras are not installed with the command that installs them.

    Args:
        *extras: names in ``constraintrot.extras.MODULES``.
    """

    def wrap(command: Callable[P, T]) -> Callable[P, T]:
        @wraps(command)
        def checked(*args: P.args, **kwargs: P.kwargs) -> T:
            # Without the program's name, which is a path or a module as it was started.
            path = click.get_current_context().command_path.partition(" ")[2]
            with clear_errors():
                require(f"constraintrot {path}", *extras)
            return command(*args, **kwargs)

        return checked

    return wrap
