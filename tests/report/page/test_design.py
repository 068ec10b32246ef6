"""Which episodes belong together."""

from typing import Any

import pandas as pd
import pytest

from constraintrot.evaluation.conditions import CONDITIONS
from constraintrot.report.page import counted, design, drawing, frames, harnesses, headline
from constraintrot.report.page.figure import Series, dots
from constraintrot.report.page.html import html
from constraintrot.report.page.markdown import markdown
from constraintrot.report.page.sweep import sweeps
from constraintrot.report.page.view import NOT_MEASURED, Cells, Missing, Table
from constraintrot.stats.rate import rate
from tests.report.page.helpers import arm, of, paged, row, shown


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


@pytest.mark.parametrize("order", [1, -1])
def test_of_settings_as_common_the_main_one_is_a_task_s_own(order: int) -> None:
    """The first screen of a sweep over compactors was about ``head_tail``, where nothing decays."""
    parts = [arm("compaction", 3, 1, compactor=one) for one in ("head_tail", "summarize")]
    frame = design.prepared(of([row for part in parts[::order] for row in part]).frame)
    assert design.commonest(frame)["compactor"] == "summarize"


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


# One name, one subject: a model with its scaffold and the reader of its rules.


def both(**facts: Any) -> list[dict[str, Any]]:
    return [*arm("control", 8, 0, **facts), *arm("compaction", 8, 8, **facts)]


REVIEW = both(scaffold="review", rule_judge_by="adapter")
DECLINES = [*arm("control", 8, 0), *arm("compaction", 8, 0)]


def test_two_scaffolds_of_one_model_are_two_names_everywhere() -> None:
    page = paged(REVIEW, DECLINES)
    names = ["a/model, direct", "a/model, review"]
    assert list(dict.fromkeys(answer.agent for answer in page.answers)) == names
    (table,) = [one for one in page.sections[0].blocks if getattr(one, "rows", None)][:1]
    assert [str(name) for name in table.columns[:2]] == names  # type: ignore[union-attr]
    assert headline.MEAN not in markdown(page)
    assert page.figure is not None
    assert {row["series"] for row in page.figure.data} == set(names)
    assert not [line for line in page.pooled if "mean" in line]


@pytest.mark.parametrize(
    ("readers", "names"),
    [
        (("adapter", "prompt"), ["a/model, rules by adapter", "a/model, rules by prompt"]),
        (("adapter", None), ["a/model"]),
    ],
)
def test_the_reader_is_a_part_of_the_subject(readers: tuple[str, str], names: list[str]) -> None:
    rows = [{**one, "rule_judge_by": by} for by in readers for one in both(scaffold="review")]
    frame = design.subjects(design.prepared(frames.tidy(pd.DataFrame(rows))))
    assert sorted(set(frame["agent"])) == names
    assert set(frame["model"]) == {"a/model"}


def test_a_mean_is_over_models_of_one_scaffold() -> None:
    other = [{**one, "agent": "b/model"} for one in DECLINES]
    assert headline.MEAN in markdown(paged(DECLINES, other))
    assert headline.MEAN not in markdown(paged(REVIEW, other))


def test_a_fifth_subject_has_a_style_of_its_own() -> None:
    styles = {(at % 4, (at + at // 4) % 4) for at in range(16)}
    assert len(styles) == 16
    assert len(drawing.SERIES) == len(drawing.MARKERS) == len(drawing.LINES) == 4


def test_the_papers_figures_do_not_stand_beside_somebodys_own_rule() -> None:
    own = [{**one, "family": "my_rule"} for one in REVIEW]
    told = markdown(paged(own)) + html(paged(own))
    assert "30 % (0 to 59)" not in told
    assert "Table 2" not in told
    assert "paper" not in markdown(paged(own)).partition("## How it was run")[0].lower()
    assert "30 % (0 to 59)" in markdown(paged(REVIEW)).replace("\\", "")


# Rows of tables: every harness with its control and pin, and single episodes together.

OWN: dict[str, Any] = {"compactor": "own", "prompt": "none", "budget_words": "none"}
FRAME = design.prepared(
    of(
        [
            *arm("control", 6, 1), *arm("compaction", 6, 6), *arm("defense_pin", 6, 2, defense="pin"),
            *arm("compaction", 4, 4, budget_words=15),
            *arm("compaction", 5, 5, harness="langgraph", **OWN),
            *arm("defense_pin", 5, 2, harness="langgraph", defense="pin", **OWN),
            # A buffer has no summarizer.
            *arm("compaction", 5, 4, harness="autogen", **(OWN | {"summarizer": "none"})),
            *(
                one for name in ("forged_rescind", "forged_order", "genuine_rescind")
                for one in arm(name, 1, 0, defense="operator_channel", attack=CONDITIONS[name].attack or "none")
            ),
        ]
    ).frame
)  # fmt: skip


def test_every_harness_has_a_row_with_control_compaction_and_pin() -> None:
    section = harnesses.harnesses(Cells(FRAME), FRAME)
    (table,) = (block for block in section.blocks if isinstance(block, Table))
    assert table.columns[:4] == ("control", "compaction", "pin", "policy survived")
    assert {row.heads[1]: [shown(one) for one in row.cells[:3]] for row in table.rows} == {
        "autogen": [NOT_MEASURED, (4, 5), NOT_MEASURED],
        "langgraph": [NOT_MEASURED, (5, 5), (2, 5)],
        "replay": [(1, 6), (6, 6), (2, 6)],
    }
    missing = [block for block in section.blocks if isinstance(block, Missing)]
    assert [one.what for one in missing] == [
        "control of autogen, langgraph",
        "defense_pin of autogen",
    ]
    assert all("-T harness=HARNESS" in one.command for one in missing)


def test_conditions_with_one_episode_are_one_row_and_named_below() -> None:
    rows = counted.bundles(FRAME)
    assert rows[-2:] == [
        ("forged_…, defense operator_channel (2 conditions)",
         ("forged_order, defense operator_channel", "forged_rescind, defense operator_channel")),
        ("genuine_rescind, defense operator_channel", ("genuine_rescind, defense operator_channel",)),
    ]  # fmt: skip
    (table,) = (one for one in counted.counted(FRAME).blocks if isinstance(one, Table))
    assert [row.cells[1] for row in table.rows if "forged" in row.heads[1]] == ["2"]
    assert table.notes[0].endswith("one episode each: forged_order, forged_rescind.")


def test_labels_of_a_drawing_are_whole() -> None:
    name = "compaction, attack inject_deprecation, defense system_channel, 15 other rules"
    series = [Series("violation", [rate([1.0, 0.0], [0, 1])])]
    drawn = dots([name], series, "By condition").svg
    assert "…" not in drawn
    assert all(word in drawn for word in name.split())
