"""Installed coding agents: their places and versions, and their installation."""

import ctypes
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final, TypeAlias

from filelock import FileLock

from constraintrot.coding_agents.catalogue import Package
from constraintrot.errors import ConstraintRotError, ParameterError
from constraintrot.models.downloads import cache_folder


class _Npm:
    """npm, which installs into its working folder."""

    def program(self, place: Path, package: Package) -> Path:
        return place / "node_modules" / ".bin" / package.program

    def version(self, place: Path, package: Package) -> str | None:
        """Return the installed version; None if the installation is missing or incomplete."""
        path = place / "node_modules" / package.published / "package.json"
        try:
            said = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return str(said.get("version"))

    def prepare(self, place: Path) -> None:
        (place / "package.json").write_text('{"private": true}\n', encoding="utf-8")

    def install(self, package: Package) -> list[list[str]]:
        """Return the commands that install an agent; raise if the client is missing."""
        quiet = ("--no-audit", "--no-fund", "--loglevel=error")
        return [[_npm(package), "install", *quiet, "--save-exact", *package.wanted]]

    def newest(self, package: Package) -> tuple[list[str], str]:
        """Return the command that prints the newest version, and its standard input."""
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
    """uv, which makes a virtual environment; pip takes many minutes to resolve the versions."""

    def program(self, place: Path, package: Package) -> Path:
        return place / "bin" / package.program

    def version(self, place: Path, package: Package) -> str | None:
        pattern = f"lib/python*/site-packages/{package.published}-*.dist-info"
        found = [path.name for path in place.glob(pattern)]
        return found[0].removesuffix(".dist-info").rpartition("-")[2] if found else None

    def prepare(self, place: Path) -> None:
        """Do nothing: uv needs no files."""

    def install(self, package: Package) -> list[list[str]]:
        uv = _uv(package)
        # Relocatable: the folder is renamed afterwards.
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


Registry: TypeAlias = _Npm | _PyPI
# The registry's address is in the client's own configuration.
REGISTRIES: Final[Mapping[str, Registry]] = {"npm": _Npm(), "PyPI": _PyPI()}


_SECONDS = 1800
_ANSWERS = 30
_LINES = 5
VERSION = re.compile(r"\d+\.\d+\.\d+(?:[\w.+-]*\w)?")
"""The version in a program's output for ``--version``."""
_PR_SET_PDEATHSIG = 1


@dataclass(frozen=True)
class Installed:
    package: Package
    program: Path
    version: str

    @property
    def tried(self) -> bool:
        return self.version == self.package.version


def folder() -> Path:
    """Return the folder of the installed agents in the cache; it may not exist yet."""
    return cache_folder().parent / "agents"


def find(package: Package) -> Installed | None:
    """Return the agent to measure: the version that was tried, else the user's own; None for neither."""
    return kept(package) or of_user(package)


def of_user(package: Package) -> Installed | None:
    """Return the user's own agent, which is on the PATH; None if there is none, or it does not run."""
    program = shutil.which(package.program)
    version = _version(program) if program else None
    return Installed(package, Path(program), version) if program and version else None


@lru_cache
def _version(program: str) -> str | None:
    try:
        said = subprocess.run(
            [program, "--version"],
            stdin=subprocess.DEVNULL,
            # pi prints its version on standard error.
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=_ANSWERS,
            check=True,
        ).stdout
    except (OSError, subprocess.SubprocessError, UnicodeDecodeError):
        return None
    found = VERSION.search(said)
    return found[0] if found else None


def kept(package: Package) -> Installed | None:
    """Return the agent in the cache, in the version that was tried; None if it is not there."""
    place, registry = folder() / package.agent / package.version, REGISTRIES[package.registry]
    program, version = registry.program(place, package), registry.version(place, package)
    if version is None or not os.access(program, os.X_OK):
        return None
    return Installed(package, program, version)


def needed(package: Package) -> Installed:
    """Return the agent to measure."""
    installed = find(package)
    if installed is not None and not installed.tried:
        warnings.warn(
            f"{package.title} {installed.version}, your own, is played; {package.version} is the"
            f" version that was tried: constraintrot agents install {package.agent}",
            stacklevel=2,
        )
    if installed is None:
        raise ParameterError(
            f"harness coding/{package.agent} needs {package.title} {package.version}, which is not"
            f" installed: constraintrot agents install {package.agent}"
        )
    return installed


def install(package: Package) -> Installed:
    """Install an agent from its registry into the cache, in the version that was tried.

    The client's own configuration names the registry. An installed agent is not installed again.
    """
    installed = kept(package)
    if installed is not None:
        return installed
    registry = REGISTRIES[package.registry]
    commands = registry.install(package)
    place = folder() / package.agent
    place.mkdir(parents=True, exist_ok=True)
    with FileLock(place / "install.lock"):
        staging = place / f"{package.version}.partial"
        shutil.rmtree(staging, ignore_errors=True)
        staging.mkdir()
        registry.prepare(staging)
        try:
            for command in commands:
                _run(command, package, staging)
        except BaseException:
            shutil.rmtree(staging, ignore_errors=True)
            raise
        target = place / package.version
        shutil.rmtree(target, ignore_errors=True)
        staging.rename(target)
    return needed(package)


def newest(package: Package) -> Package:
    """Return an agent in the newest version that its registry has."""
    asked, given = REGISTRIES[package.registry].newest(package)
    said = subprocess.run(
        asked, input=given, capture_output=True, text=True, timeout=_SECONDS, check=False
    )
    found = VERSION.search(said.stdout)
    if said.returncode or not found:
        raise ConstraintRotError(
            f"{package.registry} does not say which {package.published} is the newest: {said.stderr}"
        )
    return package.at(found[0])


def _end_with_parent() -> None:
    """Make the kernel kill this process when its parent ends in any way."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def _run(command: Sequence[str], package: Package, place: Path) -> None:
    done = subprocess.run(
        command,
        cwd=place,
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        check=False,
        # A surviving client would write into the folder of the next installation.
        preexec_fn=_end_with_parent if sys.platform == "linux" else None,
    )
    if done.returncode != 0:
        said = "\n".join((done.stderr or done.stdout).strip().splitlines()[-_LINES:])
        client, wanted = Path(command[0]).name, ", ".join(package.wanted)
        # If the machine lacks this Python, uv fetches it from another place than the packages.
        python = f", which needs Python {package.python}" if package.python else ""
        raise ConstraintRotError(f"{client} could not install {wanted}{python}:\n{said}")
