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

    from constraintrot.models.config_errors import reason

    try:
        return get_model(name, memoize=memoize, **model_args)
    # A provider may raise whatever it likes: a missing package, key, file or argument.
    except Exception as error:
        raise ConstraintRotError(f"{option} {name}: {reason(error)}") from error


def model_in_role(role: str, name: str, *, memoize: bool, **model_args: Any) -> Model:
    """The model that ``--model-role`` gives to a role.

    Raises:
        UnknownNameError: there is no such role.
        ConstraintRotError: there is no such model.
    """
    from constraintrot.evaluation.roles import check

    check([role], others=False)
    return named_model(f"--model-role {role}", name, memoize=memoize, **model_args)


def named_roles(given: tuple[str, ...]) -> dict[str, str]:
    """The names of models by role, of ``--model-role ROLE=MODEL``; each is set up once.

    Raises:
        ParameterError: a text is of another form.
        UnknownNameError: there is no such role.
        ConstraintRotError: there is no such model.
    """
    pairs = [item.partition("=") for item in given]
    for role, equals, model in pairs:
        if not (role and equals and model):
            raise ParameterError(f"--model-role takes ROLE=MODEL, not {role + equals + model!r}")
        model_in_role(role, model, memoize=True)
    return {role: model for role, _, model in pairs}
