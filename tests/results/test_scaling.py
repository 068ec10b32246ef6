"""The simulation of a sweep against what can be computed by hand, and its page."""

from dataclasses import replace
from typing import Any

import pytest

from results.tools.scaling import scenarios
from results.tools.scaling.simulation import Costs, simulate

FREE = Costs(
    episodes=10, calls=0, at_once=5, import_seconds=0.0, cell_seconds=2.0, episode_seconds=0.1,
    start_seconds=0.0, end_seconds=0.0,
)  # fmt: skip
MEASURED: dict[str, Any] = {
    "machine": {"cores": 2, "processor": "x", "load": 0.5},
    "costs": {
        "import_seconds": 4.0, "cell_seconds": 1.0, "episode_seconds": 0.05,
        "folder_store_seconds": 0.02,
    },
    "runs": [
        {
            "workers": 1, "cells": 12, "episodes": 120, "seconds": 24.0,
            "driver_start": 0.001, "driver_end": 0.004,
        }
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("costs", "workers", "cells", "seconds"),
    [
        (FREE, 1, 4, 4 * (2 + 1)),
        (FREE, 4, 4, 3),
        (replace(FREE, import_seconds=5.0), 2, 4, 5 + 2 * 3),
        # One store, one put at a time: the second worker's log waits.
        (replace(FREE, store_seconds=1.0, store_at_once=1), 2, 2, 3 + 2),
        (replace(FREE, store_seconds=1.0), 2, 2, 3 + 1),
        # Ten calls of a second through five slots; all of the processor's time lies before them.
        (replace(FREE, calls=1, episode_seconds=0.0, call_seconds=1.0, slots=5), 1, 1, 2 + 2),
        (replace(FREE, calls=1, episode_seconds=0.0, call_seconds=1.0), 1, 1, 2 + 2),
        # No more at once than the cell's own limit, whoever has slots.
        (replace(FREE, calls=1, episode_seconds=0.0, call_seconds=1.0, at_once=1), 1, 1, 2 + 10),
        # A budget of a call a second, shared by both.
        (replace(FREE, calls=1, episode_seconds=0.0, reserve_seconds=1.0), 2, 2, 2 + 20),
    ],
)
def test_it_takes_what_it_takes_by_hand(
    costs: Costs, workers: int, cells: int, seconds: float
) -> None:
    assert simulate(costs, workers, cells).seconds == pytest.approx(seconds)


def test_a_driver_that_is_always_busy_sets_the_pace() -> None:
    came = simulate(replace(FREE, start_seconds=0.1, end_seconds=0.2), 100, 1000)
    assert came.rate == pytest.approx(10 / 0.3, rel=0.02)
    assert came.used["driver"] > 0.97
    assert came.used["workers"] < 0.2


def test_the_table_and_its_page_say_where_it_ends_and_why() -> None:
    rows = scenarios.lines(MEASURED, (1, 4, 1000))
    assert len(rows) == 3 * len(scenarios.SCENARIOS)
    scripts = [row for row in rows if row["scenario"] == "scripts"]
    assert scripts[0]["episodes_a_second"] == pytest.approx(40 / (4 * 1.525 + 4), rel=0.01)
    assert scripts[1]["of_linear"] > scenarios.LINEAR > scripts[2]["of_linear"]
    assert scripts[2]["busiest"] == "driver"
    budget = rows[-1]
    assert budget["busiest"] == "budget"
    assert budget["episodes_a_second"] <= scenarios.PER_MINUTE / 60 / scenarios.CALLS
    text = scenarios.page(MEASURED, rows)
    assert "| 1 | 12 | 120 | 24.0 | 5.0 | 1.00 |" in text
    assert "| 4 |" in next(one for one in text.splitlines() if one.startswith("| scripts"))
