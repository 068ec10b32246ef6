"""``constraintrot/mine``: a policy of your own, from a scenario file."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Unpack

from inspect_ai import Task, task

from constraintrot.authoring.checks import DEFAULT_SEEDS, of_file
from constraintrot.errors import ConstraintRotError, ParameterError, ScenarioError
from constraintrot.evaluation.parameters import TaskParameters, refuse_unknown
from constraintrot.models.config_errors import refusal
from constraintrot.scenario import user_files
from constraintrot.scenario.files import folders, give, load, locales
from constraintrot.scenario.history import length
from constraintrot.scenario.schema import Scenario
from constraintrot.scenario.values import is_list
from constraintrot.tasks.build import build

_LEAST_TOKENS = 100  # least length of a history
_UNCHECKED = "-T unchecked=true plays it all the same, and the log says so"


@task
def mine(
    scenario: str | Sequence[str] = "",
    allowed: bool = False,
    unchecked: bool = False,
    **parameters: Unpack[TaskParameters],
) -> Task:
    """Your own policy. ``inspect eval constraintrot/mine -T scenario=mine.yaml --model ...``.

    Args:
        scenario: a scenario file, a folder of them, the name of a family that an
            installed package brings, or several of these, comma-separated.
        allowed: end the episodes with the permitted counterparts instead of the triggers.
        unchecked: play a file that ``constraintrot scenario check`` refuses. The log's
            metadata then says so under ``unchecked``, with what the check found.
        **parameters: the parameters of every task; ``locale`` is the scenarios' own by
            default, and ``variants`` and ``exercised`` as many as they have, up to the
            usual ones.

    Raises:
        PrerequisiteError: a file is not whole, a check refuses it, or a parameter is wrong.
    """
    own = ("scenario", "allowed", "unchecked")
    try:
        refuse_unknown(parameters, own)
        found = chosen(scenario, parameters.get("locale"))
        given: dict[str, Any] = {**defaults(found), **parameters}
        told = refused(found, _played(found, given))
        if told and unchecked is not True:
            raise ScenarioError("\n".join([*told, _UNCHECKED]))
    except ConstraintRotError as error:
        raise refusal(str(error)) from error
    task = build([one.family for one in found], given, name="mine", allowed=allowed, own=own)
    if told:
        task.metadata = {**(task.metadata or {}), "unchecked": told}
    return task


def refused(scenarios: Sequence[Scenario], seeds: Iterable[int] = ()) -> list[str]:
    """Return the severe faults of ``constraintrot scenario check`` in users' files, with lines."""
    files = [user_files.named(one.family, one.locale) for one in scenarios]
    return [
        fault.shown(path)
        for path in dict.fromkeys(file.path for file in files if file is not None)
        for fault in of_file(path, sorted({*DEFAULT_SEEDS, *seeds}))[1]
        if fault.severe
    ]


def chosen(scenario: str | Sequence[str], locale: str | None = None) -> list[Scenario]:
    """Return the scenarios that a parameter names, all of one locale.

    Without a locale it is English, or else the first one that all have.
    """
    listed: object = scenario.split(",") if isinstance(scenario, str) else scenario
    names = [name for one in listed if (name := str(one).strip())] if is_list(listed) else []
    if not names:
        raise ParameterError(
            "scenario must name a file, a folder or a family, as -T scenario=mine.yaml;"
            " `constraintrot scenario new` drafts a file"
        )
    found = [_named(name) for name in names]
    common = set.intersection(*({one.locale for one in group} for group in found))
    if locale is None and common:
        locale = "en" if "en" in common else min(common)
    if locale not in common:
        known = ", ".join(sorted({one.locale for group in found for one in group}))
        raise ParameterError(
            f"not all of {', '.join(names)} are of locale {locale}; they are of {known}"
            if locale
            else f"{', '.join(names)} have no locale in common; they are of {known}"
        )
    return [one for group in found for one in group if one.locale == locale]


def defaults(scenarios: Sequence[Scenario]) -> Mapping[str, Any]:
    """Return the usual parameters, as far as the user's scenarios have them."""
    found: dict[str, Any] = {
        "locale": scenarios[0].locale,
        "variants": min(4, *(one.variants for one in scenarios)),
        "exercised": min(2, *(len(one.exercise) for one in scenarios)),
    }
    # A recorded session is played whole, without exercised turns.
    if whole := [sum(map(length, one.recorded)) for one in scenarios if one.recorded]:
        found |= {"context_tokens": max(_LEAST_TOKENS, *whole), "exercised": 0}
    return found


def _played(scenarios: Sequence[Scenario], given: Mapping[str, Any]) -> range:
    """Return the seeds that are played; empty if the parameters are wrong, as ``build`` says."""
    first, count = given.get("seed", 0), given["variants"]
    if not isinstance(first, int) or not isinstance(count, int):
        return range(0)
    return range(max(0, first), min(first + count, max(one.variants for one in scenarios)))


def _named(name: str) -> list[Scenario]:
    path = Path(name).expanduser()
    if path.exists() or path.suffix in (".yaml", ".yml"):
        return give(path)
    if name not in folders():
        raise ParameterError(
            f"scenario={name}: no such file or folder, and no family of that name; known:"
            f" {', '.join(folders())}"
        )
    return [load(name, one) for one in locales(name)]
