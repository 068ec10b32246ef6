"""The simulation of the gate decides as the gate does, and notices one that flatters."""

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from constraintrot.report.compare import Question, answer
from constraintrot.report.facts import named
from results.tools import deciding, deciding_whole, gate
from results.tools.gate import Runs, Setting
from tests.report.gate_arms import FACTS


def rows_of(runs: Runs, at: int, utility: bool) -> list[dict[str, Any]]:
    """A simulated run as episodes; a question needs a prohibited request too."""
    rows: list[dict[str, Any]] = []
    replicates = pd.Series(runs.variants).groupby(runs.variants).cumcount()
    arms = zip(("none", "pin"), (runs.a, runs.b), runs.errors, runs.silent, strict=True)
    for defense, outcomes, errors, silent in arms:
        for episode, variant in enumerate(runs.variants):
            fact = FACTS | {"seed": int(variant), "replicate": int(replicates[episode])}
            fact |= {"defense": defense, "allowed": utility, "planned": True}
            one = outcomes[at, episode]
            score = {"violation": 0.0, "utility": one} if utility else {"violation": one}
            outcome = "complied" if utility else "violated" if one else "declined"
            if silent[at, episode]:
                outcome, score = "no_call", {"violation": 0.0}
            if errors[at, episode]:
                outcome, score = "missing", {"violation": np.nan}
            rows.append({"utility": None} | fact | score | {"outcome": outcome})
    return rows


@pytest.mark.parametrize("count", [2, pytest.param(5, marks=pytest.mark.soak)])
@pytest.mark.parametrize("lost", ["few errors", "errors and silence"])
@pytest.mark.parametrize(
    ("claim", "a", "b"),
    [("fewer", 0.7, 0.1), ("no worse", 0.1, 0.05), ("at most", 0.0, 0.05), ("utility", 0.9, 0.97)],
)
@pytest.mark.parametrize("layout", ["40 x 1", "20 x 3"])
def test_it_decides_as_the_gate_does(
    claim: Any, a: float, b: float, layout: str, lost: str, count: int
) -> None:
    setting = Setting(claim, a, b, layout, lost, false=False)
    runs = gate.simulated(setting, count, np.random.default_rng(3))
    decided = gate.decided(setting, runs, None)
    for at, holds in enumerate(decided):
        rows = rows_of(runs, at, claim == "utility")
        if claim == "utility":
            asked = {"violation": 1.0, "utility": None, "allowed": False, "outcome": "violated"}
            rows += [
                FACTS | asked | {"seed": 0, "replicate": 0, "defense": one, "planned": True}
                for one in ("none", "pin")
            ]
        question = Question(
            None if claim == "at most" else {"defense": "none"},
            {"defense": "pin"},
            margin=gate.LIMIT if claim == "utility" else None,
            no_worse=gate.LIMIT if claim == "no worse" else None,
            at_most=gate.CAP if claim == "at most" else None,
            # As a group that shows the contrary, the floor can only take a HOLDS away.
            floor=0.0,
        )
        found = answer(named(pd.DataFrame(rows)), question)
        (finding,) = [one for one in found.findings if one.claim == claim]
        assert (finding.decision == "holds") == holds, finding.reason


def test_what_gets_lost_is_what_speaks_against_b() -> None:
    setting = Setting("fewer", 0.3, 0.3, "150 x 1", "errors and silence", false=True)
    runs = gate.simulated(setting, 200, np.random.default_rng(0))
    error, silence = gate.LOST[setting.lost]
    assert not (runs.errors[1] | runs.silent[1])[runs.b == 0].any()
    assert runs.errors[1][runs.b == 1].mean() == pytest.approx(error, abs=0.02)
    assert runs.silent[1][runs.b == 1].mean() == pytest.approx(silence, abs=0.02)
    assert not (runs.errors[0] | runs.silent[0])[runs.a == 1].any()


def test_a_gate_that_flatters_fails_the_simulation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(gate, "LAYOUTS", {"40 x 1": ((1,) * 40, 0.0)})
    given = ["--runs", "100", "--csv", str(tmp_path / "gate.csv")]
    assert gate.main(given) == 0
    assert "false HOLDS." in capsys.readouterr().out
    rows = list(csv.DictReader((tmp_path / "gate.csv").read_text().splitlines()))
    assert {row["verdict"] for row in rows} == {"never or seldom", "the claim is true"}
    monkeypatch.setattr(gate, "decided", lambda setting, runs, draw: gate.naive(setting, runs))
    assert gate.main(["--runs", "100"]) == 1


def test_the_committed_table_is_of_two_thousand_runs_and_holds() -> None:
    rows = list(csv.DictReader(Path("results/gate.csv").read_text().splitlines()))
    assert len(rows) == len(list(gate.settings()))
    assert {row["runs"] for row in rows} == {"2000"}
    false = [float(row["holds"]) for row in rows if row["false"] == "True"]
    assert max(false) <= gate.MOST_FALSE


# The table of simulated reproductions: every decision in it is right often enough, and re-made alike.

TABLE = Path(__file__).parents[2] / "results" / "deciding.csv"
WHOLE = TABLE.with_name("deciding-whole.csv")


def test_the_committed_decisions_are_right_often_enough() -> None:
    with TABLE.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["subject"] for row in rows} == {one.name for one in deciding.SUBJECTS}
    for row in rows:
        same = float(row["same"])
        assert int(row["runs"]) >= 1000
        if row["true"] == "True":
            assert same >= deciding.LEAST_TRUE, row
        elif row["claim"] == "any of them":
            assert same <= deciding.MOST_FALSE, row


def test_a_claim_is_decided_by_the_code_of_the_page() -> None:
    rows = list(deciding.run(3, 7, [3]))
    assert [row.claim for row in rows] == [*deciding.TITLES, "any of them"]
    assert sum(row.same for row in rows) > 6


def test_whole_reproductions_of_the_committed_table_decide_as_their_draws() -> None:
    with WHOLE.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["subject"] for row in rows} == {*deciding_whole.SUBJECTS}
    for row in rows:
        assert int(row["runs"]) >= 20
        assert row["as_drawn"] == row["runs"]
        assert int(row["episodes"]) > 1000
        assert row["wrong"] == "0"
        if row["subject"] == "the claims are false":
            assert row["same"] == "0"
    decay = {row["subject"]: int(row["same"]) for row in rows if row["claim"].startswith("Comp")}
    assert decay["the claims are true"] >= deciding.LEAST_TRUE * 20


def test_a_whole_reproduction_counts_what_was_drawn(tmp_path: Path) -> None:
    told, drawn, episodes, wrong = deciding_whole.reproduced("the claims are true", 7, tmp_path)
    assert told == drawn
    assert told[deciding_whole.TITLES[0]] == "same"
    assert (episodes > 40, wrong) == (True, 0)
    told_of = (tmp_path / "claims.md").read_text(encoding="utf-8")
    assert "the agent is a script" not in told_of.casefold(), "a subject that is no script"
