"""Harnesses of frameworks that are missing, untested, or not asked for."""

import tomllib
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

from constraintrot.errors import ParameterError
from constraintrot.evaluation import harness as contract
from constraintrot.evaluation.harness import parse_harness
from constraintrot.harnesses import HARNESSES
from tests.harnesses.modes import FRAMEWORKS

PROJECT = Path(__file__).parents[2] / "pyproject.toml"


@pytest.fixture
def versions(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The versions that are made out to be installed; what is not there is not installed."""
    there: dict[str, str] = {}

    def version(distribution: str) -> str:
        if distribution not in there:
            raise PackageNotFoundError(distribution)
        return there[distribution]

    monkeypatch.setattr(contract, "_version", version)
    return there


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_a_version_that_nobody_tested_is_warned_of(versions: dict[str, str], name: str) -> None:
    needs = HARNESSES.get(name).needs
    versions |= {need.distribution: need.below for need in needs}
    with pytest.warns(UserWarning, match="tested with") as warned:
        parse_harness(name)
    for need, told in zip(needs, warned, strict=True):
        assert (
            f"tested with {need.distribution} from {need.tested} to below {need.below},"
            f" and {need.below} is installed" in str(told.message)
        )


@pytest.mark.parametrize("name", [name for name in FRAMEWORKS if HARNESSES.get(name).extra])
def test_what_is_missing_is_installed_by_an_extra_in_the_version_that_was_tested(
    versions: dict[str, str], name: str
) -> None:
    spec = HARNESSES.get(name)
    with pytest.raises(ParameterError, match=rf"pip install 'constraintrot\[{spec.extra}\]'"):
        parse_harness(name)
    extras = tomllib.loads(PROJECT.read_text())["project"]["optional-dependencies"]
    wanted = {Requirement(text).name: Requirement(text) for text in extras[spec.extra]}
    for need in spec.needs:
        (least,) = wanted[need.distribution].specifier
        assert (least.operator, Version(least.version)) == (">=", Version(need.tested))
