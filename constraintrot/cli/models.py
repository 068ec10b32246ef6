"""Models that an option names; what is wrong with one is said without a traceback."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from constraintrot.errors import ConstraintRotError, ParameterError

if TYPE_CHECKING:
    from inspect_ai.model import Model


def named_model(option: str, name: str, *, memoize: bool = False, **model_args: Any) -> Model:
    """The model that an option names.

    Args:
        option: the option's name, for messages.
        name: the model, as Inspect names it.
        memoize: whether Inspect is to take this very model where it is given the same
            name and arguments, so that its weights are loaded once.
        **model_args: the model's arguments.

    Raises:
        ConstraintRotError: there is no such provider or model, or it cannot be set up; the
            message says why.
    """
    from inspect_ai.model import get_model

    try:
        return get_model(name, memoize=memoize, **model_args)
    # A provider may raise whatever it likes: a missing package, key, file or argument.
    except Exception as error:
        raise ConstraintRotError(f"{option} {name}: {_why(error)}") from error


def named_roles(given: tuple[str, ...]) -> dict[str, str]:
    """The names of models by role, of ``--model-role ROLE=MODEL``; each is set up once.

    Raises:
        ParameterError: a text is of another form.
        ConstraintRotError: there is no such model.
    """
    pairs = [item.partition("=") for item in given]
    for role, equals, model in pairs:
        if not (role and equals and model):
            raise ParameterError(f"--model-role takes ROLE=MODEL, not {role + equals + model!r}")
        named_model(f"--model-role {role}", model, memoize=True)
    return {role: model for role, _, model in pairs}


def _why(error: Exception) -> str:
    from inspect_ai._util.error import PrerequisiteError
    from rich.text import Text

    if isinstance(error.__cause__, ConstraintRotError):
        return str(error.__cause__)
    if isinstance(error, PrerequisiteError):
        # It is written for Inspect's command line, as rich markup over several lines.
        plain = " ".join(Text.from_markup(str(error.message)).plain.split())
        return plain.removeprefix("ERROR: ")
    return str(error) or type(error).__name__
