"""A wrong model name or argument, said in one line instead of a traceback."""

from __future__ import annotations

from typing import Any, TypeVar

from inspect_ai._util.error import PrerequisiteError
from inspect_ai.model import ModelAPI

from constraintrot.errors import ConstraintRotError

M = TypeVar("M", bound=ModelAPI)


def plainly(api: type[M]) -> type[M]:
    """The provider, whose constructor's errors Inspect's command line prints plainly.

    Args:
        api: a provider that raises our own errors for a wrong configuration.
    """

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807  # it is one
        try:
            api.__init__(self, *args, **kwargs)
        except ConstraintRotError as error:
            raise PrerequisiteError(str(error)) from error

    return type(api.__name__, (api,), {"__init__": __init__, "__doc__": api.__doc__})
