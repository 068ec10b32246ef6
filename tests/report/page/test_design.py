"""Which episodes belong together."""

from __future__ import annotations

import pytest

from constraintrot.evaluation.conditions import CONDITIONS
from constraintrot.report.page import design
from constraintrot.report.page.sweep import sweeps
from tests.report.page.helpers import arm, of, row


@pytest.mark.parametrize(
    ("given", "name"),
    [
        (("floor", "none", "none"), "floor"),
        (("compaction", "none", "none"), "compaction"),
        (("defense_pin", "none", "pin"), "defense_pin"),
        (("compaction", "none", "pin"), "defense_pin"),
        (("attack_inject", "inject_deprecation", "none"), "attack_inject"),
        (("compaction", "inject_deprecation", "pin"), "defense_pin_attack"),
        (("compaction", "inject_budget", "none"), "compaction, attack inject_budget"),
        (("compaction", "none", "spotlight"), "compaction, defense spotlight"),
        (("stress_rescind", "rescind_notice", "pin"), "stress_rescind, defense pin"),
        (("stress_overload", "none", "none", "15"), "stress_overload"),
        (("compaction", "none", "none", "5"), "compaction, 5 other rules"),
        (("of somebody else's", "none", "none"), "of somebody else's"),
    ],
)
def test_arms_have_the_paper_s_names(given: tuple[str, ...], name: str) -> None:
    assert design.arm(*given) == name


def test_no_two_known_conditions_fall_together() -> None:
    names = [
        design.arm(c.name, c.attack or "none", c.defense or "none", str(c.distractors))
        for c in CONDITIONS.values()
    ]
    assert len(set(names)) == len(names)


def test_the_main_setting_is_the_most_common_and_keeps_controls() -> None:
    rows = [
        *arm("control", 3, 0), *arm("compaction", 3, 1), *arm("compaction", 2, 1, channel="memory"),
        *arm("control", 2, 1, channel="memory"), *arm("compaction", 2, 0, agent="b", summarizer="b", channel="tool"),
    ]  # fmt: skip
    frame = design.prepared(of(rows).frame)
    main, said = design.main(frame)
    assert len(main) == 8
    assert "channel user" in said["a/model"]
    assert "channel tool" in said["b"]


def test_a_sweep_holds_the_rest() -> None:
    rows = [
        *arm("control", 3, 0), *arm("control", 3, 0, channel="memory"),
        *arm("compaction", 3, 1), *arm("compaction", 3, 2, channel="memory"),
        *arm("compaction", 3, 2, channel="memory", budget_words=15),
    ]  # fmt: skip
    frame = design.prepared(of(rows).frame)
    (channels,) = sweeps(frame, "channel")
    assert channels.values == ("memory", "user")
    assert len(channels.frame) == 6
    assert set(channels.frame["budget_words"]) == {60}
    (budgets,) = sweeps(frame, "budget_words")
    assert budgets.values == (15, 60)
    assert set(budgets.frame["channel"]) == {"memory"}
    assert not sweeps(frame, "locale")
    assert not sweeps(frame, "varied")


def test_compactors_come_with_their_prompt_and_budget() -> None:
    bare = {"prompt": "none", "budget_words": "none", "summarizer": "none"}
    rows = [
        *arm("compaction", 2, 1), *arm("compaction", 2, 1, budget_words=300),
        *arm("compaction", 2, 1, compactor="truncate", **bare),
    ]  # fmt: skip
    (found,) = sweeps(design.prepared(of(rows).frame), "varied")
    assert found.values == (
        "summarize, prompt tight, 60 words", "summarize, prompt tight, 300 words", "truncate",
    )  # fmt: skip


def test_who_wrote_the_summary() -> None:
    rows = [row(), row(summarizer="b", seed=1), row(condition="control")]
    assert list(design.prepared(of(rows).frame)["summary_by"]) == ["the agent", "b", "none"]
