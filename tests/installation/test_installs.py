"""Each way to install, on each Python, into an environment of its own; asks the package index."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from tests.installation.conftest import Built
from tests.small_install import ROOT, distributions

pytestmark = pytest.mark.soak
VERSIONS = ("3.11", "3.12", "3.13")
KINDS = ("wheel", "sdist", "editable")
# The wheel has 35, of which the three adapters are 30; the rest is compiled files and what it needs.
MEGABYTES = 85
FACTS = """
import json, sys
from importlib.metadata import distribution
from pathlib import Path
import constraintrot

where = Path(constraintrot.__file__).parent
files = [distribution(name).locate_file(file) for name in sys.argv[1:]
         for file in distribution(name).files]
print(json.dumps({
    "where": str(where),
    "linked": [(where / name / "__init__.py").is_file()
               for name in ("attacks", "defenses", "harnesses", "tasks")],
    "bytes": sum(Path(file).stat().st_size for file in files if Path(file).is_file()),
}))
"""
_VERSION = "import sys; print('%d.%d' % sys.version_info[:2])"
PINNED = """
from constraintrot.defenses.pinning.pinned_block import PinnedBlock
from constraintrot.defenses.rampart import Principal, Registry

operator = Principal("operator")
rules = Registry(operator)
rules.pin("Send email only to addresses at example.org.", by=operator)
print(rules.compile(budget=100).prompt)
"""


@cache
def interpreter(version: str) -> str:
    """A Python of that version that is on the path and runs; a shim may only be a name."""
    folders = os.environ.get("PATH", "").split(os.pathsep)
    for folder in folders:
        found = shutil.which(f"python{version}", path=folder)
        if found and _output(found, "-c", _VERSION, check=False).strip() == version:
            return found
    pytest.skip(f"there is no python{version} on the path that runs: installs on it are NOT TESTED")


def _output(*command: str, check: bool = True, cwd: Path | None = None) -> str:
    done = _run(*command, cwd=cwd)
    assert not check or done.returncode == 0, done.stderr
    return done.stdout


def _run(*command: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(
        command, env=clean, cwd=cwd, capture_output=True, text=True, check=False, timeout=1500
    )


@pytest.fixture(scope="module", params=VERSIONS)
def python(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The interpreter of a fresh environment."""
    folder = tmp_path_factory.mktemp(f"python{request.param}")
    _output(interpreter(request.param), "-m", "venv", str(folder))
    made = str(folder / "bin" / "python")
    # What an editable install is built with, and so the question whether there is an index.
    asked = _run(made, "-m", "pip", "install", "--quiet", "hatchling", "editables")
    if asked.returncode:
        last = asked.stderr.strip().splitlines()[-1]
        pytest.skip(f"no package index can be had, so installs are NOT TESTED: {last}")
    return made


@pytest.fixture(scope="module", params=KINDS)
def installed(
    request: pytest.FixtureRequest,
    python: str,
    built: Built,
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[str, Callable[..., str]]:
    """The kind of install, and what runs a command of the environment outside of this checkout."""
    _run(python, "-m", "pip", "uninstall", "--quiet", "--yes", "constraintrot")
    given = {
        "wheel": [str(built.wheel)],
        "sdist": [str(built.sdist)],
        "editable": ["-e", str(ROOT)],
    }
    more = [] if request.param == "wheel" else ["--no-build-isolation"]
    _output(python, "-m", "pip", "install", "--quiet", *more, *given[request.param])
    elsewhere = tmp_path_factory.mktemp("elsewhere")

    def run(name: str, *arguments: str) -> str:
        return _output(str(Path(python).with_name(name)), *arguments, cwd=elsewhere)

    return request.param, run


def test_an_install_is_whole_and_small(
    installed: tuple[str, Callable[..., str]],
) -> None:
    kind, run = installed
    facts = json.loads(run("python", "-c", FACTS, "constraintrot", *distributions()))
    assert facts["linked"] == [True] * 4
    assert (facts["where"] == str(ROOT / "constraintrot")) == (kind == "editable")
    assert facts["bytes"] < MEGABYTES * 1_000_000
    assert run("constraintrot", "--version").startswith("constraintrot, version ")
    assert "Send email only to addresses at example.org." in run("python", "-c", PINNED)
    assert "key.pub" in run("constraintrot", "operator", "keygen", "key")


def test_an_install_names_what_it_lacks(installed: tuple[str, Callable[..., str]]) -> None:
    _, run = installed
    code = "import runpy, sys; sys.argv[1:] = ['show', 'soft_email']; runpy.run_module('constraintrot')"
    with pytest.raises(AssertionError, match=r"pip install 'constraintrot\[eval\]'"):
        run("python", "-c", code)
