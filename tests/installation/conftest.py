"""What is built of this checkout."""

from __future__ import annotations

import subprocess
import sys
import tarfile
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.small_install import ROOT


@dataclass(frozen=True)
class Built:
    """What a release consists of, and the wheel that somebody makes of the source."""

    wheel: Path
    sdist: Path
    from_sdist: Path


def hatchling(source: Path, target: str, out: Path) -> Path:
    """Build one target of a source tree."""
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", str(out)],
        cwd=source,
        check=True,
        capture_output=True,
    )
    (made,) = out.iterdir()
    return made


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """The wheel and the source distribution of this checkout."""
    folder = tmp_path_factory.mktemp("built")
    sdist = hatchling(ROOT, "sdist", folder / "sdist")
    with tarfile.open(sdist) as archive:
        archive.extractall(folder / "source", filter="data")
    (source,) = (folder / "source").iterdir()
    return Built(
        wheel=hatchling(ROOT, "wheel", folder / "wheel"),
        sdist=sdist,
        from_sdist=hatchling(source, "wheel", folder / "from_sdist"),
    )
