"""Scenario files, ``<family>.<locale>.yaml``: the package's and those of installed ones."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from importlib.resources import files
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from constraintrot.components import PluginWarning
from constraintrot.errors import (
    ConstraintRotError,
    DuplicateNameError,
    ParameterError,
    ScenarioError,
    UnknownNameError,
)
from constraintrot.extras import require
from constraintrot.scenario import private, yaml_text
from constraintrot.scenario.schema import Scenario, Variant
from constraintrot.scenario.splits import DEFAULT_SPLIT
from constraintrot.scenario.values import is_mapping
from constraintrot.scenario.yaml_text import told

GROUP = "constraintrot.scenarios"
FOLDER = Path(__file__).parent.parent / "tasks" / "scenarios"
# Scenarios of a task of their own, which no suite holds.
APART = FOLDER / "apart"


def read(path: Path) -> Scenario:
    """Read and check one scenario file.

    A file that says ``extends: soft_spend`` is laid over that family's file of
    the same locale, beside it or of this package, mapping by mapping.

    Raises:
        ScenarioError: the file is not YAML, holds an unknown key, lacks one, or
            a text in it names a value that no pool gives.
    """
    data = _raw(path)
    try:
        scenario = Scenario.model_validate(data)
    except ConstraintRotError as error:
        raise ScenarioError(f"{path.name}: {error}") from error
    except ValidationError as error:
        raise ScenarioError(f"{path.name}: {told(error)}") from error
    if path.name != f"{scenario.family}.{scenario.locale}.yaml":
        raise ScenarioError(
            f"{path.name}: holds {scenario.family}.{scenario.locale}; the file's name must say so"
        )
    return scenario


def _raw(path: Path) -> Any:
    data = yaml_text.load(path)
    if not is_mapping(data) or "extends" not in data:
        return data
    changes = {name: value for name, value in data.items() if name != "extends"}
    base = f"{data['extends']}.{changes.get('locale')}.yaml"
    beside = path.with_name(base)
    return _over(_raw(beside if beside.exists() else FOLDER / base), changes)


def _over(base: Any, data: Any) -> Any:
    """A mapping laid over another, and so on inwards; else its place is taken, and null empties it."""
    if not is_mapping(base) or not is_mapping(data):
        return data
    merged = {**base, **{name: _over(base.get(name), value) for name, value in data.items()}}
    return {name: value for name, value in merged.items() if value is not None}


@cache
def catalogue(folder: Path = FOLDER) -> Mapping[str, tuple[str, ...]]:
    """The families of a folder of scenario files, sorted, and the locales of each.

    Args:
        folder: ``FOLDER`` for those of the suite, ``APART`` for the package's
            others, or one of an installed package.
    """
    families: dict[str, list[str]] = {}
    for path in sorted(folder.glob("*.yaml")):
        family, _, locale = path.stem.partition(".")
        families.setdefault(family, []).append(locale)
    return {family: tuple(locales) for family, locales in families.items()}


@cache
def folders() -> Mapping[str, Path]:
    """By family, the folder that holds its files: the package's, then those of installed ones.

    An installed package names a package of its own that holds scenario files in
    the entry point group ``constraintrot.scenarios``. One that cannot be read, or
    that brings a family which is there already, is left out with a warning.
    """
    by_family = {family: folder for folder in (FOLDER, APART) for family in catalogue(folder)}
    for point in entry_points(group=GROUP):
        origin = point.dist.name if point.dist else point.value
        try:
            folder = Path(str(files(import_module(point.value))))
            there = sorted(catalogue(folder).keys() & by_family.keys())
            if there:
                raise DuplicateNameError(f"family {', '.join(there)} is there already")
            if not catalogue(folder):
                raise ScenarioError(f"no <family>.<locale>.yaml in {point.value}")
        except Exception as error:  # Whatever somebody else's package raises.
            warnings.warn(
                f"the scenarios of the installed package {origin} cannot be used, and are left"
                f" out: {type(error).__name__}: {error}",
                PluginWarning,
                stacklevel=2,
            )
            continue
        by_family |= dict.fromkeys(catalogue(folder), folder)
    return by_family


def locales(family: str) -> tuple[str, ...]:
    """The locales of a family; none of one that nobody knows."""
    folder = folders().get(family)
    return catalogue(folder)[family] if folder else ()


@cache
def every() -> tuple[Scenario, ...]:
    """All scenarios, also of installed packages, in all their locales."""
    return tuple(load(family, locale) for family in folders() for locale in locales(family))


@cache
def load(family: str, locale: str = "en") -> Scenario:
    """A scenario by family and locale.

    Raises:
        MissingExtraError: the extra ``eval`` is not installed. Part of it could be
            played without, and would fail in the middle of an evaluation.
        UnknownNameError: no such family, or it has no such locale.
        ScenarioError: its file is wrong.
    """
    require(f"the task {family}", "eval")
    if family not in folders():
        raise UnknownNameError("task", family, folders())
    if locale not in locales(family):
        raise UnknownNameError(f"locale of {family}", locale, locales(family))
    return read(folders()[family] / f"{family}.{locale}.yaml")


def sampled(facts: Mapping[str, Any]) -> Variant:
    """The variant that a sample is about.

    Args:
        facts: the sample's metadata.

    Raises:
        ParameterError: it was made with a private key, and the key that is set is another.
    """
    scenario = load(facts["family"], facts["locale"])
    made_with = facts.get("private_key")
    if made_with is not None and private.fingerprint(private.key()) != made_with:
        raise ParameterError(
            f"the sample was made with the private key {made_with}..., and {private.KEY} holds"
            " another; set that one to score it"
        )
    return scenario.variant(facts["seed"], facts.get("split", DEFAULT_SPLIT))
