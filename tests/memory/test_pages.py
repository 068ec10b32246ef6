"""The pages' code runs and prints what they show, and their figures are those of the tables."""

from pathlib import Path
from types import ModuleType

import pytest

from results.tools.docs_figures import FOLDER
from results.tools.pipeline import figures as of_pipeline
from results.tools.playbook import figures as of_playbook
from results.tools.wiki import figures as of_wiki
from tests.docs_code import DOCS, run_page

ROOT = DOCS.parent


@pytest.mark.parametrize("page", ["pipeline", "playbook", "wiki"])
def test_a_page_runs_and_shows_what_it_prints(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    names = run_page(f"{page}.md")
    if page == "playbook":
        assert names["again"].plain() == names["playbook"].plain()
    if page == "wiki":
        assert names["done"].pages == ("acme",)
    assert capsys.readouterr().out.strip() in (DOCS / f"{page}.md").read_text("utf-8")


@pytest.mark.parametrize(
    "figures", [of_playbook, of_wiki, pytest.param(of_pipeline, marks=pytest.mark.soak)]
)
def test_the_figures_are_drawn_from_the_committed_tables(figures: ModuleType) -> None:
    for name, text in figures.texts(ROOT / "results").items():
        made = f"python -m {figures.__package__} figures"
        assert (ROOT / FOLDER / name).read_text("utf-8") == text, made
