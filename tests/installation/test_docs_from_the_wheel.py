"""The commands of the docs from the wheel, with the extras that their page names; asks the index.

``tests/test_commands.py`` runs the same in the checkout. What neither runs, and why, is listed in
``tests/test_docs_commands.py``.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from tests.installation.conftest import Built
from tests.small_install import ROOT
from tests.test_commands import RUNNABLE

pytestmark = pytest.mark.soak
_EXTRAS = re.compile(r"pip install '?constraintrot\[([\w,]+)\]")


def extras_of(page: str) -> str:
    """The extras that a page names first; the README's where it names none."""
    found = _EXTRAS.search((ROOT / page).read_text(encoding="utf-8"))
    return found[1] if found else extras_of("README.md")


@pytest.fixture(scope="module")
def environment(built: Built, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Make the folder of the programs of an environment that holds the wheel with some extras."""

    @cache
    def made(extras: str) -> Path:
        folder = tmp_path_factory.mktemp("wheel")
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        python = str(folder / "bin" / "python")
        uv = shutil.which("uv") or shutil.which("uv", path=str(Path(sys.executable).parent))
        installer = [uv, "pip", "install", "--python", python] if uv else [python, "-m", "pip"]
        command = [*installer, *([] if uv else ["install"]), f"{built.wheel}[{extras}]"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            last = done.stderr.strip().splitlines()[-1]
            pytest.skip(f"the wheel's packages cannot be had, so its commands are NOT RUN: {last}")
        return folder / "bin"

    return made


@pytest.mark.parametrize("name", RUNNABLE)
def test_commands_run_from_the_wheel(
    name: str, environment: Callable[[str], Path], tmp_path: Path
) -> None:
    programs = environment(extras_of(name.partition(":")[0]))
    clean = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    clean |= {"HOME": str(tmp_path), "INSPECT_DISPLAY": "none"}
    for line in RUNNABLE[name]:
        program, *arguments = shlex.split(line.removeprefix("$ "))
        done = subprocess.run(
            [str(programs / program), *arguments],
            cwd=tmp_path, env=clean, capture_output=True, text=True,
            stdin=subprocess.DEVNULL, timeout=1500,
        )  # fmt: skip
        assert done.returncode == 0, f"{line}\n{done.stdout}\n{done.stderr}"
