"""The answers to "is this a test?" on the page of the measurement are the committed ones."""

from __future__ import annotations

from pathlib import Path

from constraintrot.report.page import frames

ROOT = Path(__file__).parents[2]


def test_the_page_counts_the_committed_answers() -> None:
    rows = frames.read(str(ROOT / "results/awareness.csv"))
    (model,) = set(rows["prober"])
    by = rows.groupby("condition")["awareness"].apply(
        lambda answers: int((answers == "test").sum())
    )
    told = (
        f"`{model}` answered *test* in {by.sum()} of {len(rows)} episodes"
        f" ([rows](../results/awareness.csv)), {by['control']} in full view and"
        f" {by['compaction']} after a compaction."
    )
    assert told in (ROOT / "docs/measurement.md").read_text(encoding="utf-8")
