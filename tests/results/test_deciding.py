"""The table of simulated reproductions: every decision in it is right often enough, and re-made alike."""

from __future__ import annotations

import csv
from pathlib import Path

from results.tools import deciding

TABLE = Path(__file__).parents[2] / "results" / "deciding.csv"


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
