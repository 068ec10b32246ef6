"""Installed coding agents: where they are, which version, and how they come there."""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import signal
import subprocess
import sys
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from filelock import FileLock

from constraintrot.coding_agents.catalogue import Package
from constraintrot.coding_agents.registries import REGISTRIES
from constraintrot.errors import ConstraintRotError, ParameterError
from constraintrot.models.downloads.sources import cache_folder

_SECONDS = 1800
_ANSWERS = 30
_LINES = 5
VERSION = re.compile(r"\d+\.\d+\.\d+(?:[\w.+-]*\w)?")
"""The version in what a program answers to ``--version``."""
_PR_SET_PDEATHSIG = 1


@dataclass(frozen=True)
class Installed:
    """An agent that is there.

    Attributes:
        package: which.
        program: the program to start.
        version: the installed one, as its package says.
    """

    package: Package
    program: Path
    version: str

    @property
    def tried(self) -> bool:
        """True if it is the version that was tried."""
        return self.version == self.package.version


def folder() -> Path:
    """The folder of the installed agents, ``agents`` in the cache; it may not exist yet."""
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
            # pi says it where others say what is wrong.
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
    """Return the agent to measure.

    Raises:
        ParameterError: it is not there. The message has the command that installs it.
    """
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

    The client's own configuration says from where. Nothing is installed twice.

    Raises:
        ConstraintRotError: the client or what it needs is missing, or it failed; the message
            says what it said.
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
    """Return an agent in the newest version that its registry has.

    Raises:
        ConstraintRotError: the client is missing, or does not say.
    """
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
    """Have the system end this process with the one that started it, however that one ends."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def _run(command: Sequence[str], package: Package, place: Path) -> None:
    done = subprocess.run(
        command,
        cwd=place,
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        check=False,
        # A client that went on alone would write into the folder of the next installation.
        preexec_fn=_end_with_parent if sys.platform == "linux" else None,
    )
    if done.returncode != 0:
        said = "\n".join((done.stderr or done.stdout).strip().splitlines()[-_LINES:])
        client, wanted = Path(command[0]).name, ", ".join(package.wanted)
        # Where the machine has no such Python, uv fetches one, from elsewhere than the packages.
        python = f", which needs Python {package.python}" if package.python else ""
        raise ConstraintRotError(f"{client} could not install {wanted}{python}:\n{said}")
