"""A matrix of attack and defense, on frames made by hand and on real logs."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from constraintrot.errors import ConstraintRotError
from constraintrot.report.matrix import text
from tests.conftest import Run
from tests.invoked import invoked
from tests.report.test_defenses import row


def cell(attack: str, defense: str, seeds: range, /, **facts: Any) -> list[dict[str, Any]]:
    return [row(defense, seed, attack=attack, **facts) for seed in seeds]


def shown(*rows: list[dict[str, Any]]) -> dict[str, list[str]]:
    """The cells of the table, by the first of a row."""
    frame = pd.DataFrame([episode for found in rows for episode in found])
    lines = [line for line in text(frame, "attack", "defense").splitlines() if "|" in line]
    split = [[part.strip() for part in line.strip("|").split("|")] for line in lines]
    return {first: others for first, *others in split}


def test_cells_are_of_the_variants_that_all_share() -> None:
    found = shown(
        cell("none", "none", range(6), violation=0.0),
        cell("none", "pin", range(2, 8), violation=0.0),
        cell("note", "none", range(1, 5)),
        cell("note", "pin", range(2, 5), violation=0.0),
    )
    assert found["attack \\ defense"] == ["none", "pin"]
    assert [entry.split(" =")[0] for entry in found["none"]] == ["0/3", "0/3"]
    assert found["note"][0].startswith("3/3 = 100 % [29, 100]")
    assert found["note"][1].startswith("0/3 = 0 % [0, 71]")


def test_what_was_not_played_and_what_is_unpaired_say_so() -> None:
    found = shown(
        cell("none", "none", range(4), violation=0.0),
        cell("note", "none", range(4)),
        cell("note", "pin", range(10, 12)),
    )
    assert found["none"] == ["0/4 = 0 % [0, 60]", "-"]
    assert found["note"][0].startswith("4/4")
    assert found["note"][1] == "2/2 = 100 % [16, 100] unpaired"


def test_other_facts_must_be_equal_too() -> None:
    found = shown(
        cell("none", "none", range(3)), cell("note", "none", range(3), compactor="truncate")
    )
    assert found["note"][0].endswith("unpaired")


def test_conditions_that_stand_for_an_attack_or_a_defense_are_paired() -> None:
    found = shown(
        cell("none", "none", range(2)),
        cell("none", "pin", range(2), condition="defense_pin", violation=0.0),
        cell("inject_deprecation", "none", range(2), condition="attack_inject"),
    )
    assert "unpaired" not in str(found)
    assert "pool" not in text(pd.DataFrame(cell("none", "none", range(2))), "attack", "defense")


def test_pooled_conditions_and_left_out_episodes_are_said() -> None:
    rows = [
        *cell("none", "none", range(2)),
        *cell("none", "none", range(2), condition="control"),
        *cell("note", "none", range(1)),
    ]
    found = text(pd.DataFrame(rows), "attack", "defense")
    assert "! cells pool several values of condition" in found
    assert "the 1 episodes that all paired ones share; 3 others are left out" in found


def test_allowed_requests_are_no_violations() -> None:
    rows = cell("none", "none", range(2), allowed=True)
    with pytest.raises(ConstraintRotError, match="no request here is prohibited"):
        text(pd.DataFrame(rows), "attack", "defense")
    found = shown(rows, cell("none", "none", range(2)))
    assert found["none"] == ["2/2 = 100 % [16, 100]"]


@pytest.mark.parametrize("facts", [("attack", "attack"), ("attack", "seed"), ("colour", "defense")])
def test_unknown_facts(facts: tuple[str, str]) -> None:
    with pytest.raises(ConstraintRotError, match="two different facts of family"):
        text(pd.DataFrame(cell("none", "none", range(1))), *facts)


def test_the_command(run: Run, tmp_path: Path) -> None:
    for attack in ("none", "inject_note"):
        run(
            "pin_stress",
            variants=1,
            families="soft_email",
            conditions="compaction",
            defenses="none,pin",
            attack=attack,
            model_roles={"summarizer": "scripted/summarizer-follow"},
        )
    asked = ["table", str(tmp_path / "logs"), "--matrix", "attack", "defense"]
    result = invoked(*asked, exits=0)
    (line,) = [line for line in result.stdout.splitlines() if line.startswith("| inject_note")]
    assert "1/1 = 100 %" in line
    assert "0/1 = 0 %" in line
    assert "unpaired" not in result.stdout
    for other in (["--defenses"], ["--by", "family"]):
        refused = invoked(*asked, *other, exits=2)
        assert f"leave {other[0]} out" in refused.stderr
