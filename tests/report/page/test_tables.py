"""Rows of tables: every harness with its control and pin, and single episodes together."""

from __future__ import annotations

from typing import Any

from constraintrot.evaluation.conditions import CONDITIONS
from constraintrot.report.page import counted, design, harnesses
from constraintrot.report.page.cells import Cells
from constraintrot.report.page.figure import Series, dots
from constraintrot.report.page.view import NOT_MEASURED, Cell, Content, Missing, Table
from constraintrot.stats.rate import rate
from tests.report.page.helpers import arm, of

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


def shown(one: Content) -> tuple[int | None, int] | str:
    return (one.estimate.k, one.estimate.n) if isinstance(one, Cell) else str(one)


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
