"""Configuration errors that Inspect's command line prints in one line, without a traceback."""

from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

from inspect_ai._util.error import PrerequisiteError
from inspect_ai.model import ModelAPI
from rich.errors import MarkupError
from rich.markup import escape
from rich.text import Text

from constraintrot.errors import ConstraintRotError

M = TypeVar("M", bound=ModelAPI)


def refusal(text: str) -> PrerequisiteError:
    """Return the only error that Inspect's command line prints without a traceback.

    Args:
        text: the fault and its remedy. Inspect prints it as rich markup, in which the
            ``[langgraph]`` of ``constraintrot[langgraph]`` is a tag. So it is escaped for
            printing; ``args`` has the plain text.
    """
    error = PrerequisiteError(escape(text))
    error.args = (text,)
    return error


def reason(error: Exception) -> str:
    """Return an error's message on one line and without markup."""
    if isinstance(error.__cause__, ConstraintRotError):
        return str(error.__cause__)
    if isinstance(error, PrerequisiteError):
        # The message is rich markup over several lines.
        text = str(error.message)
        # Brackets in another package's message need not be markup.
        with suppress(MarkupError):
            text = Text.from_markup(text).plain
        return " ".join(text.split()).removeprefix("ERROR: ")
    return str(error) or type(error).__name__


@contextmanager
def plain_errors() -> Generator[None]:
    """Turn this package's errors into errors that Inspect prints without a traceback.

    Raises:
        PrerequisiteError: a ConstraintRotError was raised; it is the cause.
    """
    try:
        yield
    except ConstraintRotError as error:
        raise refusal(str(error)) from error


def plainly(api: type[M]) -> type[M]:
    """Return a provider whose constructor's errors Inspect prints without a traceback."""

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807  # it is one
        with plain_errors():
            api.__init__(self, *args, **kwargs)

    return type(api.__name__, (api,), {"__init__": __init__, "__doc__": api.__doc__})
