"""The page of texts that were scored anew is of the committed answers."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from constraintrot.report.page import frames
from constraintrot.rule_text.reader import Reading, Rule
from constraintrot.rule_text.survival import SURVIVED
from constraintrot.rule_text.survival.states import EVERY_STATE
from results.tools import rescored
from results.tools.reading import rows
from results.tools.rescored import CASES, FILE, PAGE, page, texts


def test_the_page_is_of_the_committed_answers() -> None:
    assert page() == PAGE.read_text(encoding="utf-8")


def test_each_answer_is_of_a_committed_text_and_in_keeping_with_its_probability() -> None:
    known = {(one.source, one.item): one for one in texts()}
    answers = rows(FILE)
    assert len({(row["source"], row["item"]) for row in answers}) == len(answers) > 100
    for row in answers:
        one = known[row["source"], row["item"]]
        assert (row["label"], row["old"]) == (one.label, one.old)
        assert row["new"] in EVERY_STATE
        assert (row["new"] in SURVIVED) == (float(row["bound"]) >= 0.5)
        assert bool(row["label"]) == (row["source"] == CASES)
        assert one.text or row["new"] == "lost"


def test_equal_questions_are_asked_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = next(iter(texts()))
    given = [replace(one, item=str(at)) for at in range(3)] + [
        replace(one, item="x", text="Other.")
    ]
    monkeypatch.setattr(rescored, "texts", lambda: iter(given))
    asked: list[str] = []

    class Counting:
        name = "counting"

        async def states(self, rules: Sequence[Rule], parts: Sequence[str]) -> list[Reading]:
            asked.extend(parts)
            return [Reading("lost", 0.1)]

    for _ in range(2):
        asyncio.run(rescored.ask(Counting(), tmp_path / "some.csv", 1, 9.0))  # type: ignore[arg-type]  # states alone is asked
    assert sorted(asked) == sorted(["Other.", one.text])
    assert [row["new"] for row in rows(tmp_path / "some.csv")] == ["lost"] * 4


# The answers to "is this a test?" on the page of the measurement are the committed ones.

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
