"""The page of texts that were scored anew is of the committed answers."""

from __future__ import annotations

from constraintrot.rule_text.survival import SURVIVED
from constraintrot.rule_text.survival.states import EVERY_STATE
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
