"""Scenario files, ``<family>.<locale>.yaml``: this package's, installed packages', the user's."""

import warnings
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from constraintrot import documents
from constraintrot.components import PluginWarning
from constraintrot.documents import told
from constraintrot.errors import (
    ConstraintRotError,
    DuplicateNameError,
    MissingExtraError,
    ParameterError,
    ScenarioError,
    UnknownNameError,
)
from constraintrot.extras import require
from constraintrot.scenario import private, user_files
from constraintrot.scenario.extends import APART as APART
from constraintrot.scenario.extends import FOLDER as FOLDER
from constraintrot.scenario.extends import laid_over
from constraintrot.scenario.schema import Scenario, Variant
from constraintrot.scenario.splits import DEFAULT_SPLIT, version

GROUP = "constraintrot.scenarios"


def read(path: Path) -> Scenario:
    """Read and check one scenario file.

    A file with ``extends: soft_spend`` is merged over that family's file of the same locale, in the
    same folder or in this package.

    Raises:
        ScenarioError: the file is not YAML, is named wrongly, holds an unknown key, lacks one, or
            a text in it names a value that no pool gives.
    """
    try:
        scenario = Scenario.model_validate(laid_over(documents.load(path), path.parent))
    except ConstraintRotError as error:
        told_of = str(error).removeprefix(f"{path.name}: ")
        raise ScenarioError(f"{path.name}: {told_of}") from error
    except ValidationError as error:
        raise ScenarioError(f"{path.name}: {told(error)}") from error
    if path.name != f"{scenario.family}.{scenario.locale}.yaml":
        raise ScenarioError(
            f"{path.name}: holds {scenario.family}.{scenario.locale}; the file's name must say so"
        )
    return scenario


@cache
def catalogue(folder: Path = FOLDER) -> Mapping[str, tuple[str, ...]]:
    """Return the families of a folder of scenario files, sorted, and the locales of each.

    Args:
        folder: ``FOLDER`` for the suite, ``APART`` for the package's other scenarios, or
            a folder of an installed package.
    """
    families: dict[str, list[str]] = {}
    for path in sorted(folder.glob("*.yaml")):
        family, _, locale = path.stem.partition(".")
        families.setdefault(family, []).append(locale)
    return {family: tuple(locales) for family, locales in families.items()}


@cache
def folders() -> Mapping[str, Path]:
    """Return the folder of each family's files: this package's, then installed packages'.

    A package of the group ``constraintrot.scenarios`` that cannot be read, or has a family that
    exists already, is left out with a warning.
    """
    return {family: folder for family, (folder, _) in _sources().items()}


@cache
def _sources() -> Mapping[str, tuple[Path, str]]:
    """Return the folder of each family's files and the package that it is of, "" for this one."""
    by_family = {family: (folder, "") for folder in (FOLDER, APART) for family in catalogue(folder)}
    for point in entry_points(group=GROUP):
        origin = point.dist.name if point.dist else point.value
        try:
            folder = _folder_of(point.value)
            there = sorted(catalogue(folder).keys() & by_family.keys())
            if there:
                raise DuplicateNameError(f"family {', '.join(there)} is there already")
        except Exception as error:  # Whatever somebody else's package raises.
            _warn(f"the scenarios of the installed package {origin} cannot be used, and are", error)
            continue
        by_family |= dict.fromkeys(catalogue(folder), (folder, origin))
    return by_family


def _warn(what: str, error: Exception) -> None:
    warnings.warn(f"{what} left out: {type(error).__name__}: {error}", PluginWarning, stacklevel=3)


def _folder_of(package: str) -> Path:
    """Return the folder of a package's files; the package may do without ``__init__.py``."""
    for path in getattr(import_module(package), "__path__", ()):
        if catalogue(Path(path)):
            return Path(path)
    raise ScenarioError(f"no <family>.<locale>.yaml in {package}, or it is no package")


def locales(family: str) -> tuple[str, ...]:
    """Return the locales of a family; empty for an unknown one."""
    if family in folders():
        return catalogue(folders()[family])[family]
    given = (one.scenario for one in user_files.known())
    return tuple(scenario.locale for scenario in given if scenario.family == family)


def every() -> tuple[Scenario, ...]:
    """Return all scenarios in all locales: this package's, installed packages', the user's."""
    return (*installed(), *(one.scenario for one in user_files.known()))


@cache
def installed() -> tuple[Scenario, ...]:
    """Return all scenarios in all locales, this package's and installed packages'.

    A file of an installed package that cannot be read is left out with a warning.
    """
    found = (_usable(family, locale) for family in folders() for locale in locales(family))
    return tuple(scenario for scenario in found if scenario is not None)


def _usable(family: str, locale: str) -> Scenario | None:
    """Return a scenario, or None with a warning if its file in another package is wrong."""
    _, package = _sources()[family]
    try:
        return load(family, locale)
    except MissingExtraError:
        raise
    except Exception as error:  # Whatever somebody else's file leads to.
        if not package:
            raise
        file = f"{family}.{locale}.yaml"
        _warn(f"{file} of the installed package {package} cannot be used, and is", error)
        return None


def give(path: Path) -> list[Scenario]:
    """Read a user's scenario, or those of a folder, and register them by family and locale.

    Raises:
        ScenarioError: one of them is incomplete, or its family exists already.
    """
    require(f"the scenario {path}", "eval")
    given = user_files.read_all(path)
    user_files.make_known(given, tuple(folders()))
    return [one.scenario for one in given]


def load(family: str, locale: str = "en") -> Scenario:
    """Return the scenario of a family in a locale.

    Raises:
        MissingExtraError: the extra ``eval`` is not installed. Without it an evaluation
            would fail in the middle.
        UnknownNameError: no such family, or it has no such locale.
        ScenarioError: its file is wrong.
    """
    if (given := user_files.named(family, locale)) is not None:
        return given.scenario
    require(f"the task {family}", "eval")
    if not locales(family):
        raise UnknownNameError("task", family, folders())
    if locale not in locales(family):
        raise UnknownNameError(f"locale of {family}", locale, locales(family))
    return _read_once(folders()[family] / f"{family}.{locale}.yaml")


@cache
def _read_once(path: Path) -> Scenario:
    return read(path)


def origin(scenario: Scenario) -> dict[str, str]:
    """Return the facts by which a log finds a user's scenario again; empty for others."""
    found = user_files.named(scenario.family, scenario.locale)
    return {"scenario_file": str(found.path), "scenario_digest": found.digest} if found else {}


def sampled(facts: Mapping[str, Any]) -> Variant:
    """Return the variant of a sample, from its metadata.

    Raises:
        ParameterError: it was made with another private key than the one that is set.
        ScenarioError: it was made from a user's file that is missing or has changed.
    """
    name = facts["family"], facts["locale"]
    if "scenario_file" in facts:
        scenario = user_files.again(facts["scenario_file"], facts["scenario_digest"], *name)
    else:
        scenario = load(*name)
    made_with = facts.get("private_key")
    if made_with is not None and private.fingerprint(private.key()) != made_with:
        raise ParameterError(
            f"the sample was made with the private key {made_with}..., and {private.KEY} holds"
            " another; set that one to score it"
        )
    return scenario.variant(
        facts["seed"],
        facts.get("split", DEFAULT_SPLIT),
        texts=version(facts),
    )
