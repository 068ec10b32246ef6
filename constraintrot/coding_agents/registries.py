"""The registries that coding agents come from, npm and PyPI, each asked by its own client."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Final, Protocol

from constraintrot.coding_agents.catalogue import Package
from constraintrot.errors import ConstraintRotError


class Registry(Protocol):
    """A registry; its client's own configuration says where it is."""

    def program(self, place: Path, package: Package) -> Path:
        """The program of an agent that was installed into a folder."""
        ...

    def version(self, place: Path, package: Package) -> str | None:
        """Return the installed version; None if the installation is missing or incomplete."""
        ...

    def prepare(self, place: Path) -> None:
        """Write what the client needs in an empty folder before it installs into it."""
        ...

    def install(self, package: Package) -> list[list[str]]:
        """The commands that install an agent into the folder that they are started in.

        Raises:
            ConstraintRotError: the client is missing. The message says what to do.
        """
        ...

    def newest(self, package: Package) -> tuple[list[str], str]:
        """The command that prints the newest version, and what it reads.

        Raises:
            ConstraintRotError: as ``install``.
        """
        ...


class _Npm:
    def program(self, place: Path, package: Package) -> Path:
        return place / "node_modules" / ".bin" / package.program

    def version(self, place: Path, package: Package) -> str | None:
        path = place / "node_modules" / package.published / "package.json"
        try:
            said = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return str(said.get("version"))

    def prepare(self, place: Path) -> None:
        (place / "package.json").write_text('{"private": true}\n', encoding="utf-8")

    def install(self, package: Package) -> list[list[str]]:
        quiet = ("--no-audit", "--no-fund", "--loglevel=error")
        return [[_npm(package), "install", *quiet, "--save-exact", *package.wanted]]

    def newest(self, package: Package) -> tuple[list[str], str]:
        return [_npm(package), "view", package.published, "version"], ""


def _npm(package: Package) -> str:
    npm, node = shutil.which("npm"), shutil.which("node")
    if npm is None or node is None:
        raise ConstraintRotError(
            f"{package.title} comes from npm, and npm and node are not both on the PATH; install"
            " Node.js 20 or newer"
        )
    said = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout
    major = int(said.strip().lstrip("v").split(".")[0] or 0)
    if major < package.node:
        raise ConstraintRotError(
            f"{package.title} needs Node.js {package.node} or newer, and {said.strip()} is installed"
        )
    return npm


class _PyPI:
    """An environment of its own, by uv: pip takes many minutes to find versions that go together."""

    def program(self, place: Path, package: Package) -> Path:
        return place / "bin" / package.program

    def version(self, place: Path, package: Package) -> str | None:
        pattern = f"lib/python*/site-packages/{package.published}-*.dist-info"
        found = [path.name for path in place.glob(pattern)]
        return found[0].removesuffix(".dist-info").rpartition("-")[2] if found else None

    def prepare(self, place: Path) -> None:
        """Nothing: uv makes what it needs."""

    def install(self, package: Package) -> list[list[str]]:
        uv = _uv(package)
        # Its folder is renamed afterwards.
        made = [uv, "venv", "--quiet", "--relocatable", "--python", package.python, "."]
        into = ("--quiet", "--compile-bytecode", "--python", "bin/python")
        return [made, [uv, "pip", "install", *into, *package.wanted]]

    def newest(self, package: Package) -> tuple[list[str], str]:
        words = ("pip", "compile", "--quiet", "--no-deps", "--python-version", package.python, "-")
        return [_uv(package), *words], package.published


def _uv(package: Package) -> str:
    uv = shutil.which("uv")
    if uv is None:
        raise ConstraintRotError(
            f"{package.title} comes from PyPI by uv, which is not on the PATH: pip install uv"
        )
    return uv


REGISTRIES: Final[Mapping[str, Registry]] = {"npm": _Npm(), "PyPI": _PyPI()}
