"""The table of simulated reproductions: every decision in it is right often enough, and re-made alike."""

from __future__ import annotations

import csv
from pathlib import Path

from results.tools import deciding, deciding_whole

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
    assert "by construction" not in told_of.casefold(), "a subject that is no script"
