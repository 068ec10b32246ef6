"""A pin's way through each agent is told as it was."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import platformdirs
import pytest

from constraintrot.coding_agents import install
from constraintrot.coding_agents.catalogue import PACKAGES, Package
from constraintrot.coding_agents.sandbox import without_network
from results.tools import pin_round_trip
from results.tools.pin_round_trip import Trip, table

RESULTS = Path(__file__).parents[2] / "results"
AGENTS = Path(platformdirs.user_cache_dir("constraintrot")) / "agents"
WELL = Trip("A 1", ".a/hooks.json", 4, 5, "user", False, "PROVED with the agent", ())


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"roles": ""}, "| NOT there (#4 -> #5) |"),
        ({"differs": (".a/hooks.json",)}, "| differ: .a/hooks.json |"),
        ({"status": "NOT PROVED: the agent did not compact"}, "| NOT PROVED: the agent did not"),
    ],
)
def test_a_pin_that_does_not_hold_or_leaves_something_is_told(
    wrong: dict[str, Any], told: str
) -> None:
    assert WELL.well
    assert "| role user (#4 -> #5) | gone | PROVED with the agent | as before |" in table([WELL])
    trip = replace(WELL, **wrong)
    assert not trip.well
    assert told in table([trip])


def test_the_committed_table_has_each_agent_and_nothing_that_went_wrong() -> None:
    text = (RESULTS / "pin-round-trip.md").read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if line.startswith("| ")][1:]
    assert {row.split("|")[1].strip() for row in rows} == {
        f"{package.title} {package.version}" for package in PACKAGES
    }
    assert all(row.endswith("| PROVED with the agent | as before |") for row in rows)


@pytest.mark.soak
@pytest.mark.parametrize("which", PACKAGES, ids=lambda which: which.agent)
def test_a_pin_comes_and_goes(which: Package, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(install, "folder", lambda: AGENTS)
    if install.kept(which) is None or without_network(processes=False) is None:
        pytest.skip(f"{which.title} is not installed, or this system has no network namespaces")
    trip = anyio.run(pin_round_trip.travel, which, "none")
    assert trip.well, trip
