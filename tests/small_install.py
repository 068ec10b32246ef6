"""Python as it is where only some extras are installed; everything else cannot be imported.

What the distributions of this environment say that they need decides what can be, so
a dependency that somebody adds shows here, and no package is downloaded.
"""

import json
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from functools import cache
from importlib.metadata import PackageNotFoundError, packages_distributions, requires
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent
_BLOCK = """
import json, sys

hidden = frozenset(json.loads(sys.argv.pop(1)))

class Hiding:
    def __init__(self, finder):
        self.finder = finder

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] not in hidden:
            return self.finder.find_spec(name, path, target)

    def __getattr__(self, name):
        return getattr(self.finder, name)

sys.meta_path[:] = map(Hiding, sys.meta_path)
"""
_COMMAND = "from constraintrot.cli.main import main\nmain(prog_name='constraintrot')"


@cache
def project() -> dict[str, Any]:
    """The table ``project`` of pyproject.toml."""
    table: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return table


def distributions(*extras: str, beside: Iterable[str] = ()) -> frozenset[str]:
    """What an install with some extras, and other requirements, brings here, by canonical name."""
    declared = [*project()["dependencies"], *beside]
    for extra in extras:
        declared += project()["optional-dependencies"][extra]
    found: dict[str, set[str]] = {}
    for text in declared:
        _add(Requirement(text), found)
    return frozenset(found) - {"constraintrot"}


def _add(requirement: Requirement, found: dict[str, set[str]]) -> None:
    name, extras = canonicalize_name(requirement.name), {"", *requirement.extras}
    new = extras - found.setdefault(name, set())
    if not new:
        return
    found[name] |= new
    for needed in _needs(name):
        marker = needed.marker
        if any(marker is None or marker.evaluate({"extra": extra}) for extra in new):
            _add(needed, found)


@cache
def _needs(name: str) -> list[Requirement]:
    if name == "constraintrot":
        # From pyproject.toml: an editable install's metadata is as old as the install.
        return [
            Requirement(f"{text}{' and' if ';' in text else ';'} extra == '{extra}'")
            for extra, texts in project()["optional-dependencies"].items()
            for text in texts
        ]
    try:
        return [Requirement(text) for text in requires(name) or []]
    except PackageNotFoundError:
        # For another platform, or a part of an extra that nobody asked for.
        return []


def blocked(*extras: str, beside: Iterable[str] = ()) -> list[str]:
    """The modules of this environment that an install with some extras does not bring."""
    there = distributions(*extras, beside=beside) | {"constraintrot"}
    return sorted(
        module
        for module, names in packages_distributions().items()
        if not there & {canonicalize_name(name) for name in names}
    )


def python(
    code: str, *arguments: str, modules: list[str], stdin: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run code where some modules cannot be imported."""
    return subprocess.run(
        [sys.executable, "-c", f"{_BLOCK}\n{code}", json.dumps(modules), *arguments],
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def command(
    *arguments: str, modules: list[str], stdin: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run ``constraintrot`` where some modules cannot be imported."""
    return python(_COMMAND, *arguments, modules=modules, stdin=stdin)
