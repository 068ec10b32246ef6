"""The committed precision and recall are what the doctor does."""

from __future__ import annotations

from pathlib import Path

import pytest

from results.tools.doctor import __main__ as accuracy
from results.tools.doctor import script

COMMITTED = Path(__file__).parents[2] / "results" / "doctor.md"


def test_sessions_are_of_all_formats_and_every_rule_has_every_fate() -> None:
    made = script.scripts()
    assert len(made) >= 120
    assert {one.form for one in made} == set(script.FORMATS)
    assert script.scripts() == made
    states = {(truth.rule, truth.states[0]) for one in made for truth in one.truths}
    assert {state for _, state in states} == set(script.FATES.values())
    halves = {one.half: {truth.rule for truth in one.truths} for one in made}
    assert not halves["tuning"] & halves["held_out"]


def test_a_few_sessions_are_told_rightly(tmp_path: Path) -> None:
    chosen = script.scripts()[:7]
    assert {one.form for one in chosen} == set(script.FORMATS)
    said = [each for each in accuracy.said(accuracy.run(chosen, tmp_path)) if each.there]
    lost = [each for each in said if each.truth in ("lost", "partial")]
    assert {each.outcome for each in lost} == {"lost"}
    assert {each.outcome for each in said if each.truth == "verbatim"} <= {"survived"}


@pytest.mark.soak
def test_committed_page_is_what_comes_out(tmp_path: Path) -> None:
    runs = accuracy.run(script.scripts(), tmp_path)
    assert "\n".join(accuracy.report(runs)) + "\n" == COMMITTED.read_text(encoding="utf-8")
