"""Installed coding agents: where they are, which version, and how they come there."""

from __future__ import annotations

import ctypes
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import warnings
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from filelock import FileLock

from constraintrot.coding_agents.catalogue import Package
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
    modules = folder() / package.agent / package.version / "node_modules"
    program = modules / ".bin" / package.program
    try:
        said = json.loads((modules / package.npm / "package.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    if not os.access(program, os.X_OK):
        return None
    return Installed(package, program, str(said.get("version")))


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
    """Install an agent from npm into the cache, in the version that was tried.

    npm's own configuration says from where. Nothing is installed twice.

    Raises:
        ConstraintRotError: npm or a recent enough Node.js is missing, or npm failed;
            the message says what npm said.
    """
    installed = kept(package)
    if installed is not None:
        return installed
    npm = _npm(package)
    place = folder() / package.agent
    place.mkdir(parents=True, exist_ok=True)
    with FileLock(place / "install.lock"):
        staging = place / f"{package.version}.partial"
        shutil.rmtree(staging, ignore_errors=True)
        staging.mkdir()
        (staging / "package.json").write_text('{"private": true}\n', encoding="utf-8")
        try:
            _run(npm, package, staging)
        except BaseException:
            shutil.rmtree(staging, ignore_errors=True)
            raise
        target = place / package.version
        shutil.rmtree(target, ignore_errors=True)
        staging.rename(target)
    return needed(package)


def newest(package: Package) -> Package:
    """Return an agent in the newest version that npm has.

    Raises:
        ConstraintRotError: npm is missing, or does not say.
    """
    asked = [_npm(package), "view", package.npm, "version"]
    said = subprocess.run(asked, capture_output=True, text=True, timeout=_SECONDS, check=False)
    found = VERSION.search(said.stdout)
    if said.returncode or not found:
        raise ConstraintRotError(
            f"npm does not say which {package.npm} is the newest: {said.stderr}"
        )
    return package.at(found[0])


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


def _end_with_parent() -> None:
    """Have the system end this process with the one that started it, however that one ends."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def _run(npm: str, package: Package, place: Path) -> None:
    done = subprocess.run(
        [npm, "install", "--no-audit", "--no-fund", "--loglevel=error", "--save-exact", *package.wanted],
        cwd=place,
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        check=False,
        # An npm that went on alone would write into the folder of the next installation.
        preexec_fn=_end_with_parent if sys.platform == "linux" else None,
    )  # fmt: skip
    if done.returncode != 0:
        said = "\n".join((done.stderr or done.stdout).strip().splitlines()[-_LINES:])
        raise ConstraintRotError(f"npm could not install {', '.join(package.wanted)}:\n{said}")
