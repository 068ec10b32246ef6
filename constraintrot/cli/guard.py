"""What all commands share: the check for missing extras, and errors without a traceback."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import click

from constraintrot.errors import ConstraintRotError
from constraintrot.extras import require

if TYPE_CHECKING:
    from inspect_ai.model import Model

P = ParamSpec("P")
T = TypeVar("T")


@contextmanager
def clear_errors() -> Generator[None]:
    """Print this package's errors, and the disk's, without a traceback; exit with status 2."""
    try:
        yield
    except BrokenPipeError:
        # Who reads the output has read enough; click knows what to do.
        raise
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        click.echo(f"constraintrot: {where}{error.strerror or error}", err=True)
        sys.exit(2)
    except Exception as error:
        # Some are wrapped for Inspect's command line; the original is the cause.
        ours = error if isinstance(error, ConstraintRotError) else error.__cause__
        if not isinstance(ours, ConstraintRotError):
            raise
        click.echo(f"constraintrot: {ours}", err=True)
        sys.exit(2)


def write(option: str, path: Path, text: str) -> None:
    """Write what an option names a file for, its folder too.

    Raises:
        ConstraintRotError: the disk refuses; the message names the option.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="")
    except OSError as error:
        why = error.strerror or error
        raise ConstraintRotError(f"{option} {path}: {why}; name another place") from error


def model_named(option: str, name: str, **model_args: Any) -> Model:
    """The Inspect model that an option names.

    Raises:
        ConstraintRotError: there is none; the message names the option.
    """
    from inspect_ai.model import get_model

    try:
        return get_model(name, **model_args)
    except ConstraintRotError:
        raise
    except Exception as error:
        # Each provider raises what it likes.
        raise ConstraintRotError(f"{option} {name}: {error}") from error


class ClearGroup(click.Group):
    """A group whose commands all run within ``clear_errors``."""

    def invoke(self, ctx: click.Context) -> Any:
        with clear_errors():
            return super().invoke(ctx)


def needs(*extras: str) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Decorator: a command whose extras are missing prints how to install them, with status 2.

    Args:
        *extras: names in ``constraintrot.extras.MODULES``.
    """

    def wrap(command: Callable[P, T]) -> Callable[P, T]:
        @wraps(command)
        def checked(*args: P.args, **kwargs: P.kwargs) -> T:
            # Without the program's name, which depends on how it was started.
            path = click.get_current_context().command_path.partition(" ")[2]
            with clear_errors():
                require(f"constraintrot {path}", *extras)
            return command(*args, **kwargs)

        return checked

    return wrap
