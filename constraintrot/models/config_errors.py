"""A wrong configuration, said by Inspect's command line in one line instead of a traceback."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, TypeVar

from inspect_ai._util.error import PrerequisiteError
from inspect_ai.model import ModelAPI
from rich.markup import escape

from constraintrot.errors import ConstraintRotError

M = TypeVar("M", bound=ModelAPI)


def refusal(text: str) -> PrerequisiteError:
    """The one kind of error that Inspect's command line prints without a traceback.

    Args:
        text: what is wrong, and what to do. Inspect prints it as rich markup, in
            which ``constraintrot[langgraph]`` has a tag; so it is escaped for
            printing, and stays as it is for whoever catches the error.
    """
    error = PrerequisiteError(escape(text))
    error.args = (text,)
    return error


@contextmanager
def plain_errors() -> Generator[None]:
    """Our errors as what Inspect's command line prints plainly; ours is the cause.

    Raises:
        PrerequisiteError: one of ours was raised.
    """
    try:
        yield
    except ConstraintRotError as error:
        raise refusal(str(error)) from error


def plainly(api: type[M]) -> type[M]:
    """The provider, whose constructor's errors Inspect's command line prints plainly.

    Args:
        api: a provider that raises our own errors for a wrong configuration.
    """

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807  # it is one
        with plain_errors():
            api.__init__(self, *args, **kwargs)

    return type(api.__name__, (api,), {"__init__": __init__, "__doc__": api.__doc__})
