"""The table of ``constraintrot table``."""

from typing import Any

import pandas as pd
import pytest

from constraintrot.report.arms import frame_rate
from constraintrot.report.page import frames
from constraintrot.report.table import cells, text
from tests.report.page.helpers import row

UNREAD = {"survived": None, "state": "cannot tell", "measure": "words"}


def frame(kept: int, lost: int, unread: int) -> pd.DataFrame:
    """So many variants whose policy was kept, lost, or could not be read."""
    gone: dict[str, Any] = {"survived": 0.0, "state": "lost"}
    states: list[dict[str, Any]] = [{}] * kept + [gone] * lost + [UNREAD] * unread
    return frames.tidy(pd.DataFrame([row(seed=at, **facts) for at, facts in enumerate(states)]))


@pytest.mark.parametrize(
    ("states", "shown"),
    [
        ((6, 0, 18), "6/6 (18 unscored)"),
        ((1, 2, 1), "1/3 (1 unscored)"),
        ((0, 0, 4), "- (4 unscored)"),
        ((3, 1, 0), "3/4"),
    ],
)
def test_a_policy_that_could_not_be_read_is_not_counted_as_lost(
    states: tuple[int, int, int], shown: str
) -> None:
    given = frame(*states)
    said = text(given)
    (line,) = [line for line in said.splitlines() if line.startswith("| compaction")]
    assert [cell.strip() for cell in line.split("|")][3] == shown
    note = f"! Survival is unscored in {states[2]} of {sum(states)} played episodes"
    assert (note in said) == (states[2] > 0)


def test_without_a_policy_none_is_lost_or_unscored() -> None:
    given = frame(2, 1, 3).assign(condition="floor")
    said = text(given)
    (line,) = [line for line in said.splitlines() if line.startswith("| floor")]
    assert [cell.strip() for cell in line.split("|")][3] == "-"
    assert "unscored" not in said


def test_its_rate_is_that_of_the_report() -> None:
    given = frame(5, 3, 9)
    (one,) = cells(given)
    assert one["survived"] == frame_rate(given, "survived")
    assert (one["survived"].k, one["survived"].n) == (5, 8)
