"""Committed reproductions: their pages are what their episodes make."""

import shutil
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

from constraintrot.errors import ParameterError
from constraintrot.evaluation import harness
from constraintrot.runs.reproduce import beside, corrections, kept, page, registration
from constraintrot.runs.reproduce.play import QUALIFICATION

ROOT = Path(__file__).parents[2]
FOLDERS = sorted(path.parent for path in (ROOT / "results/reproduce").glob("*/registration.yaml"))


def test_all_reproductions_are_there() -> None:
    assert [folder.name for folder in FOLDERS] == [
        "acting-1.5b",
        "acting-1.5b-compactors",
        "acting-1.5b-impersonated",
        "acting-1.5b-languages",
        "acting-1.5b-pin-stress",
        "acting-1.5b-pins-and-back",
        "acting-1.5b-rounds",
        "acting-1.5b-rule-first",
        "acting-1.5b-wordings",
        "local-1.5b",
    ]


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_the_page_is_what_its_episodes_make(folder: Path, tmp_path: Path) -> None:
    for name in (registration.FILE, QUALIFICATION, kept.EPISODES, kept.FACTS, corrections.FILE):
        if (folder / name).exists():
            shutil.copy(folder / name, tmp_path)
    page.write(tmp_path, registration.read(tmp_path / registration.FILE))
    for name in page.NAMES:
        made = (tmp_path / name).read_text(encoding="utf-8")
        assert made == (folder / name).read_text(encoding="utf-8"), name


def test_a_page_needs_no_framework_that_was_played(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def missing(distribution: str) -> str:
        raise PackageNotFoundError(distribution)

    monkeypatch.setattr(harness, "_version", missing)
    with pytest.raises(ParameterError, match="needs langgraph, which is not installed"):
        harness.parse_harness("langgraph")
    folder = tmp_path / "copied"
    shutil.copytree(ROOT / "results/reproduce/local-1.5b", folder)
    page.write(folder, registration.read(folder / registration.FILE))
    assert "LangGraph's summary node decays" in (folder / "claims.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_its_seeds_are_held_out_from_the_qualification(folder: Path) -> None:
    episodes = kept.raw(folder)
    assert set(episodes["split"]) == {"held_out"}
    assert not set(episodes["seed"]) & {60, 61, 62}


def test_the_verdicts_stand_side_by_side(tmp_path: Path) -> None:
    """As ``reproduce page`` writes them of all folders, the first subject's first."""
    order = sorted(FOLDERS, key=lambda folder: folder.name != "local-1.5b")
    for folder in order:
        shutil.copytree(folder, tmp_path / folder.name)
    beside.side_by_side([tmp_path / folder.name for folder in order])
    for name in beside.BESIDE:
        made = (tmp_path / "local-1.5b" / name).read_text(encoding="utf-8")
        assert made == (order[0] / name).read_text(encoding="utf-8"), name
