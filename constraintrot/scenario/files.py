"""Scenario files: ``tasks/scenarios/<family>.<locale>.yaml``, read and checked."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from constraintrot.errors import (
    ConstraintRotError,
    ParameterError,
    ScenarioError,
    UnknownNameError,
)
from constraintrot.scenario import private
from constraintrot.scenario.schema import Scenario, Variant
from constraintrot.scenario.splits import DEFAULT_SPLIT
from constraintrot.scenario.values import is_mapping

FOLDER = Path(__file__).parent.parent / "tasks" / "scenarios"
# Scenarios of a task of their own, which no suite holds.
APART = FOLDER / "apart"


def read(path: Path) -> Scenario:
    """Read and check one scenario file.

    A file that says ``extends: soft_spend`` is laid over that family's file of
    the same locale, mapping by mapping.

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
        faults = "; ".join(
            f"{'.'.join(str(part) for part in fault['loc']) or 'file'}: {fault['msg']}"
            for fault in error.errors()
        )
        raise ScenarioError(f"{path.name}: {faults}") from error
    if path.name != f"{scenario.family}.{scenario.locale}.yaml":
        raise ScenarioError(
            f"{path.name}: holds {scenario.family}.{scenario.locale}; the file's name must say so"
        )
    return scenario


def _raw(path: Path) -> Any:
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        data = yaml.load(path.read_text(encoding="utf-8"), Loader=loader)  # safe loader
    except (OSError, yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise ScenarioError(f"{path.name}: not a readable YAML file: {error}") from error
    if not is_mapping(data) or "extends" not in data:
        return data
    own = {name: value for name, value in data.items() if name != "extends"}
    return _over(_raw(FOLDER / f"{data['extends']}.{own.get('locale')}.yaml"), own)


def _over(base: Any, data: Any) -> Any:
    """A mapping laid over another, and so on inwards; anything else takes its place."""
    if not is_mapping(base) or not is_mapping(data):
        return data
    return {**base, **{name: _over(base.get(name), value) for name, value in data.items()}}


@cache
def catalogue(folder: Path = FOLDER) -> Mapping[str, tuple[str, ...]]:
    """The families that ship with the package, sorted, and the locales of each.

    Args:
        folder: ``FOLDER`` for those of the suite, ``APART`` for the others.
    """
    found: dict[str, list[str]] = {}
    for path in sorted(folder.glob("*.yaml")):
        family, locale = path.stem.split(".")
        found.setdefault(family, []).append(locale)
    return {family: tuple(locales) for family, locales in found.items()}


@cache
def every() -> tuple[Scenario, ...]:
    """All scenarios that ship with the package, in all their locales."""
    families = {**catalogue(), **catalogue(APART)}
    return tuple(load(family, locale) for family in families for locale in families[family])


@cache
def load(family: str, locale: str = "en") -> Scenario:
    """A scenario of the package by family and locale.

    Raises:
        UnknownNameError: no such family, or it has no such locale.
    """
    folder = APART if family in catalogue(APART) else FOLDER
    families = {**catalogue(), **catalogue(APART)}
    if family not in families:
        raise UnknownNameError("task", family, families)
    if locale not in families[family]:
        raise UnknownNameError(f"locale of {family}", locale, families[family])
    return read(folder / f"{family}.{locale}.yaml")


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
