"""A conversation with many rules, by the fake agent, and the survey's rows made of it."""

import csv
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import anyio
import pytest

from constraintrot.coding_agents import install
from constraintrot.coding_agents.catalogue import PACKAGES, package
from constraintrot.errors import EpisodeError, ParameterError
from constraintrot.harnesses.coding import many_rules
from constraintrot.runs import survey
from constraintrot.runs.survey import Session, survey_session
from constraintrot.runs.survey_matrix import Cell, Fate, markdown, read_rows
from tests.harnesses.coding import fakes
from tests.invoked import invoked

PACKAGE = package("codex")
RESULTS = Path(__file__).parents[3] / "results"
pytestmark = pytest.mark.filterwarnings("ignore:network=host")


@pytest.fixture
def _installed(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (many_rules, install):
        monkeypatch.setattr(module, "needed", lambda package: fakes.INSTALLED)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch, _installed: None) -> dict[str, fakes.Fake]:
    """The agent that plays; a survey looks its agents up by name."""
    agents = {"codex": fakes.Fake("chat")}
    monkeypatch.setattr(survey, "DRIVERS", agents)
    return agents


def surveyed(folder: Path, session: Session, known: list[Cell] | None = None) -> list[Cell]:
    return survey_session(
        [PACKAGE], str(folder), lambda line: None, session=session, network=fakes.NETWORK,
        known=known or (),
    )  # fmt: skip


def test_a_sub_agent_is_told_what_is_in_every_system_prompt_and_nothing_that_was_said(
    tmp_path: Path, asked: dict[str, fakes.Fake]
) -> None:
    cells = surveyed(tmp_path, "sub-agent")
    assert {cell.channel: cell.fate for cell in cells} == {
        "system": "told", "user": "not told", "file": "not told", "tool": "not told",
        # The fake agent loads no rule files.
        "root_file": "not given", "memory_file": "not given", "nested_file": "not given",
    }  # fmt: skip
    text = markdown(cells)
    assert "or in a sub-agent's first request" in text
    assert "- Codex CLI 1.2.3, sub-agent, user's turn: #7 -> #8" in text
    asked.clear()  # Nothing is played again: by the record, or by an earlier table.
    assert surveyed(tmp_path, "sub-agent") == cells
    assert surveyed(tmp_path / "elsewhere", "sub-agent", cells) == []


def test_of_a_long_session_the_fake_agent_keeps_nothing(
    tmp_path: Path, asked: dict[str, fakes.Fake], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(many_rules, "LONG_TURNS", 3)
    (cell,) = surveyed(tmp_path, "long")
    assert (cell.fate, cell.detail, cell.evidence) == ("summarizer only", "", "#3, #4 -> #5")
    assert 5_000 < cell.tokens < 10_000
    assert surveyed(tmp_path / "elsewhere", "long", [cell]) == []


def test_a_long_session_may_be_ended_by_a_refusal(
    tmp_path: Path, asked: dict[str, fakes.Fake], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(many_rules, "LONG_TURNS", 3)
    asked["codex"] = fakes.Refused("chat")
    (cell,) = surveyed(tmp_path, "long")
    assert (cell.fate, cell.evidence) == ("summarizer only", "#3, #5 -> #6")


def test_an_agent_without_sub_agents_has_a_row_that_says_so(
    tmp_path: Path, asked: dict[str, fakes.Fake]
) -> None:
    asked["codex"] = fakes.Fake("responses", "deaf")
    cells = surveyed(tmp_path, "sub-agent")
    assert {cell.fate for cell in cells} == {"no sub-agents"}
    assert markdown(cells).count("| no sub-agents") == len(cells) == 7


def request(number: int, kind: str, *turns: int) -> dict[str, Any]:
    rules = {f"turn_{turn}": [f"user {turn}"] for turn in turns}
    return {"number": number, "kind": kind, "rules": rules}


@pytest.mark.parametrize(
    ("kept", "told"),
    [
        (range(1, 21), "verbatim"),
        ((), "summarizer only"),
        ((1, 2, 9, 20), "in part: turns 1 to 2, 9, 20 of 20"),
    ],
)
def test_a_kept_tail_is_told_by_its_turns(
    kept: range | tuple[int, ...], told: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path,
    asked: dict[str, fakes.Fake],
) -> None:  # fmt: skip
    everything = range(1, 21)
    played = [
        request(1, "agent", *everything), request(2, "summary", *everything),
        request(3, "agent", *kept),
    ]  # fmt: skip

    async def converse(*given: object) -> list[dict[str, Any]]:
        return played

    monkeypatch.setattr(many_rules, "converse", converse)
    (cell,) = surveyed(tmp_path, "long")
    assert (cell.told, cell.evidence) == (told, "#1, #2 -> #3")


def test_what_went_wrong_is_a_cell_and_is_tried_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, asked: dict[str, fakes.Fake]
) -> None:
    async def converse(*given: object) -> None:
        raise EpisodeError("it fell over")

    monkeypatch.setattr(many_rules, "converse", converse)
    (cell,) = surveyed(tmp_path, "long")
    assert (cell.fate, cell.error) == ("error", "it fell over")
    assert list(tmp_path.iterdir()) == []


def test_the_rows_of_a_survey_are_read_again(tmp_path: Path) -> None:
    cells = [
        Cell("A", "1", "auto", "user", "in part", "1", "2", "3", run="2026-11-22", detail="turn 9"),
        Cell("A", "1", "sub-agent", "user", "no sub-agents", tokens=9),
    ]
    path = tmp_path / "rows.csv"
    with path.open("w", newline="") as file:
        rows = csv.DictWriter(file, cells[0].row)
        rows.writeheader()
        rows.writerows(cell.row for cell in cells)
    assert read_rows(path) == cells
    for wrong in ("a,b\n1,2\n", path.read_text().replace("in part", "mostly")):
        path.write_text(wrong)
        with pytest.raises(ParameterError, match=r"rows\.csv holds no rows of a survey"):
            read_rows(path)


def test_the_command_goes_on_with_an_earlier_table_and_plays_what_it_lacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: dict[str, fakes.Fake]
) -> None:
    version = replace(fakes.INSTALLED, version=PACKAGE.version)
    monkeypatch.setattr(install, "needed", lambda package: version)
    table, rows = tmp_path / "table.md", RESULTS / "coding-agents.csv"
    words = ["agents", "survey", "codex", "--from", str(rows), "--log-dir", str(tmp_path / "logs")]
    words += ["--network", fakes.NETWORK, "--markdown", str(table), "--session", "sub-agent"]
    asked.clear()  # Who played would fail.
    done = invoked(*words, exits=0)
    assert table.read_text() == (RESULTS / "coding-agents.md").read_text()
    # Without the rows of sub-agents, those alone are played.
    asked["codex"] = fakes.Fake("chat")
    kept = tmp_path / "rows.csv"
    lines = rows.read_text().splitlines(keepends=True)
    kept.write_text("".join(line for line in lines if "Codex CLI,0.169.0,sub-agent" not in line))
    done = invoked(*[word if word != str(rows) else str(kept) for word in words], exits=0)
    assert "Codex CLI 0.169.0, sub-agent, user: not told #7 -> #8" in done.stderr


@pytest.mark.parametrize("name", ["coding-agents", "coding-agents-sessions"])
def test_a_committed_matrix_is_made_of_its_rows(name: str) -> None:
    cells = read_rows(RESULTS / f"{name}.csv")
    assert markdown(cells) == (RESULTS / f"{name}.md").read_text(encoding="utf-8")
    assert all(cell.fate in get_args(Fate) for cell in cells)
    assert "error" not in {cell.fate for cell in cells}
    assert {cell.agent for cell in cells} == {package.title for package in PACKAGES}


@pytest.mark.usefixtures("_installed")
def test_an_agent_that_does_not_do_what_is_looked_at_gives_no_row(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(fakes.Fake, "full", 1)
    monkeypatch.setattr(many_rules, "LONG_TURNS", 1)
    with pytest.raises(EpisodeError, match="Fake agent did not compact"):
        anyio.run(many_rules.converse, fakes.Fake("chat"), "long", fakes.NETWORK)
