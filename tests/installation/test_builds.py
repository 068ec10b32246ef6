"""What a wheel and a source distribution hold, and when they are refused."""

from __future__ import annotations

import email
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from constraintrot._links import FAULT, LINKED
from tests.installation.conftest import Built
from tests.small_install import ROOT, project

EDITABLE = "from hatchling.build import build_editable; build_editable('out')"
BUILDS = {
    "wheel": ("-m", "hatchling", "build", "-t", "wheel", "-d", "out"),
    "sdist": ("-m", "hatchling", "build", "-t", "sdist", "-d", "out"),
    "editable": ("-c", EDITABLE),
}
SENTENCE = FAULT.format("attacks")


@pytest.fixture
def unlinked(tmp_path: Path) -> Path:
    """This tree as git writes it where it writes no symbolic links."""
    copy = tmp_path / "copy"
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "constraintrot", copy / "constraintrot", symlinks=True, ignore=ignored)
    for name in ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE", "CHANGELOG.md"):
        shutil.copy(ROOT / name, copy)
    for name in LINKED:
        link = copy / "constraintrot" / name
        target = os.readlink(link)
        link.unlink()
        link.write_text(target)
    return copy


def python(
    *arguments: str, source: Path, cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    shown = {"INSPECT_LOG_LEVEL": "warning", "INSPECT_DISPLAY": "plain", "COLUMNS": "1000"}
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=cwd or source,
        env={**os.environ, **shown, "PYTHONPATH": str(source)},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def test_the_links_are_all_that_the_package_has() -> None:
    links = {path.name for path in (ROOT / "constraintrot").iterdir() if path.is_symlink()}
    assert links == set(LINKED)


@pytest.mark.parametrize("kind", BUILDS)
def test_nothing_is_built_without_the_links(unlinked: Path, kind: str) -> None:
    done = python(*BUILDS[kind], source=unlinked)
    assert done.returncode != 0
    assert done.stderr.strip() == SENTENCE
    assert not list((unlinked / "out").glob("constraintrot*"))


def test_nothing_is_built_where_a_link_is_missing(unlinked: Path) -> None:
    for name in LINKED:
        (unlinked / "constraintrot" / name).unlink()
    done = python(*BUILDS["wheel"], source=unlinked)
    assert (done.returncode, done.stderr.strip()) == (1, SENTENCE)


def test_nothing_is_imported_without_the_links(unlinked: Path, tmp_path: Path) -> None:
    done = python("-c", "import constraintrot", source=unlinked, cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == f"ImportError: {SENTENCE}"


def test_inspect_says_it_too(unlinked: Path, tmp_path: Path) -> None:
    done = python(
        "-c", "from inspect_ai._cli.main import main; main()",
        "eval", "constraintrot/soft_email", "--model", "mockllm/model",
        source=unlinked, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode != 0
    assert SENTENCE in " ".join((done.stdout + done.stderr).split())


def test_the_wheel_is_the_same_from_the_source_distribution(built: Built) -> None:
    held = [
        {name: wheel.read(name) for name in wheel.namelist() if not name.endswith("RECORD")}
        for wheel in map(zipfile.ZipFile, (built.wheel, built.from_sdist))
    ]
    assert held[0] == held[1]
    for name in LINKED:
        assert f"constraintrot/{name}/__init__.py" in held[0]


def test_what_maintains_this_repository_does_not_travel(built: Built) -> None:
    tops = {name.split("/")[0] for name in zipfile.ZipFile(built.wheel).namelist()}
    assert {name.split("-")[0] for name in tops} == {"constraintrot"}
    with tarfile.open(built.sdist) as archive:
        source = [name.partition("/")[2] for name in archive.getnames()]
    assert "tests/conftest.py" in source
    assert not [name for name in source if name.startswith(("results", "tests/results"))]


def test_the_metadata_is_ready_for_an_index(built: Built) -> None:
    with zipfile.ZipFile(built.wheel) as wheel:
        (name,) = (name for name in wheel.namelist() if name.endswith("/METADATA"))
        facts = email.message_from_bytes(wheel.read(name))
    assert facts["Author"] == "ConstraintRot contributors"
    assert facts["License-Expression"] == "Apache-2.0"
    assert facts["Description-Content-Type"] == "text/markdown"
    assert set(facts.get_all("Provides-Extra", [])) == set(project()["optional-dependencies"])
    urls = dict(text.split(", ") for text in facts.get_all("Project-URL", []))
    assert urls == project()["urls"]
