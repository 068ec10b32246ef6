"""``constraintrot/mine``: a policy of your own, from a scenario file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Unpack

from inspect_ai import Task, task

from constraintrot.errors import ConstraintRotError, ParameterError
from constraintrot.evaluation.parameters import TaskParameters
from constraintrot.models.config_errors import refusal
from constraintrot.scenario.files import folders, give, load, locales
from constraintrot.scenario.schema import Scenario
from constraintrot.tasks.build import build


@task
def mine(
    scenario: str | Sequence[str], allowed: bool = False, **parameters: Unpack[TaskParameters]
) -> Task:
    """Your own policy. ``inspect eval constraintrot/mine -T scenario=mine.yaml --model ...``.

    Args:
        scenario: a scenario file, a folder of them, the name of a family that an
            installed package brings, or several of these, comma-separated.
        allowed: end the episodes with the permitted counterparts instead of the triggers.
        **parameters: the parameters of every task; ``locale`` is the scenarios' own by
            default, and ``variants`` and ``exercised`` as many as they have, up to the
            usual ones.

    Raises:
        PrerequisiteError: a file is not whole, or a parameter is wrong.
    """
    try:
        found = chosen(scenario, parameters.get("locale"))
    except ConstraintRotError as error:
        raise refusal(str(error)) from error
    given: dict[str, Any] = {**defaults(found), **parameters}
    return build([one.family for one in found], given, name="mine", allowed=allowed)


def chosen(scenario: str | Sequence[str], locale: str | None = None) -> list[Scenario]:
    """The scenarios that a parameter names, all of one locale.

    Args:
        scenario: as ``mine`` takes it.
        locale: which of several locales.

    Raises:
        ScenarioError: a file is not whole.
        ParameterError: nothing is named, there is no such file or family, or the
            scenarios are of several locales.
    """
    names = scenario.split(",") if isinstance(scenario, str) else [str(one) for one in scenario]
    names = [name.strip() for name in names if name.strip()]
    if not names:
        raise ParameterError("scenario must name a file, a folder or a family")
    found = [one for name in names for one in _named(name, locale)]
    of_locale = [one for one in found if locale in (None, one.locale)]
    several = sorted({one.locale for one in of_locale})
    if len(several) != 1:
        known = ", ".join(sorted({one.locale for one in found}))
        raise ParameterError(f"the scenarios are of locale {known}; choose one with -T locale=")
    return of_locale


def defaults(scenarios: Sequence[Scenario]) -> Mapping[str, Any]:
    """What a user's scenarios can give of the parameters that are usual."""
    return {
        "locale": scenarios[0].locale,
        "variants": min(4, *(one.variants for one in scenarios)),
        "exercised": min(2, *(len(one.exercise) for one in scenarios)),
    }


def _named(name: str, locale: str | None) -> list[Scenario]:
    path = Path(name).expanduser()
    if path.exists() or path.suffix in (".yaml", ".yml"):
        return give(path)
    if name not in folders():
        raise ParameterError(
            f"scenario={name}: no such file or folder, and no family of that name; known:"
            f" {', '.join(folders())}"
        )
    return [load(name, one) for one in locales(name) if locale in (None, one)]
