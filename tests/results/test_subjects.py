"""The picture of the subjects is of their committed episodes, each point of its own ones."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from constraintrot.report.page import design, frames
from results.tools import docs_figures, subjects
from tests.report.page.helpers import row

ROOT = Path(__file__).parents[2]
ROW = row(condition="control")


def rates(*rows: dict[str, Any]) -> dict[str, Any]:
    given = [one | {"seed": seed} for seed, one in enumerate(rows)]
    return subjects.rates(design.prepared(frames.tidy(pd.DataFrame(given))))


@pytest.mark.parametrize(
    "other",
    [
        {"harness": "langgraph"}, {"allowed": True}, {"attack": "bulk"}, {"rounds": "3"}, {"compactor": "truncate"},
        {"defense": "pin"}, {"condition": "floor"}, {"locale": "es"}, {"violation": None}, {"survived": None, "mentions": None},
    ],
    ids=str,
)  # fmt: skip
def test_other_episodes_are_not_in_a_point(other: dict[str, Any]) -> None:
    mine = ROW | {"violation": 1.0}
    found = rates(mine, ROW, ROW | {"violation": 1.0} | other)
    survived, violated = found["in full view"]
    assert (survived.k, survived.n) == (2, 2)
    unread = other.get("survived", "") is None
    assert (violated.k, violated.n) == ((2, 3) if unread else (1, 2))
    assert list(found) == ["in full view"]


def test_rounds_that_are_written_as_numbers_are_read() -> None:
    rows = [row(condition="compaction", defense=one) for one in ("none", "pin")]
    assert list(rates(*rows)) == [
        "after compaction",
        "after compaction, pinned",
    ]


@pytest.mark.parametrize(("unread", "drawn"), [(1, True), (2, False)])
def test_a_point_that_nobody_could_read_is_not_drawn(unread: int, drawn: bool) -> None:
    rows = [row(condition="compaction", seed=seed) for seed in range(3)]
    rows[:unread] = [one | {"survived": None} for one in rows[:unread]]
    assert bool(rates(*rows)) is drawn


def test_a_reproduction_without_the_agent_in_full_view_is_not_drawn() -> None:
    drawn = subjects.read(ROOT / subjects.FOLDER)
    assert "direct (acting-1.5b)" in drawn
    assert "direct (acting-1.5b-compactors)" not in drawn
    assert "direct (acting-1.5b-languages)" not in drawn
    assert "direct (acting-1.5b-wordings)" not in drawn, "its reader told 2 of 64 summaries"
    assert "direct (acting-1.5b-pins-and-back)" not in drawn, "its reader told 1 of 102 summaries"


def test_the_committed_picture_is_of_the_committed_episodes() -> None:
    made = docs_figures.svgs(
        {subjects.NAME: subjects.picture(subjects.read(ROOT / subjects.FOLDER))}
    )
    for name, text in made.items():
        assert (ROOT / docs_figures.FOLDER / name).read_text(encoding="utf-8") == text
