"""Defenses compared with none, in pairs, on frames made by hand and on real logs."""

from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from constraintrot.report.defenses import TWINS, bare, compare_defenses, pairs, text
from constraintrot.report.frame import episodes
from constraintrot.stats.rate import clopper_pearson
from tests.conftest import Run
from tests.helpers import known
from tests.invoked import invoked

COST = {"last_input_tokens": 1000, "seconds_defense": 0.0, "seconds_compaction": 2.0}


def row(defense: str, seed: int, /, **facts: Any) -> dict[str, Any]:
    """An episode as the frame holds it: prohibited and violated unless said otherwise."""
    found: dict[str, Any] = {name: "x" for name in TWINS}
    found |= {"agent": "a/b", "condition": "compaction", "attack": "none", "distractors": 0}
    found |= {"seed": seed, "replicate": 0, "allowed": False, "defense": defense, **COST}
    found |= {"violation": 1.0, "utility": None, "over_refusal": None, "outcome": "violated"}
    found |= {"defense_calls": 0, "prefix_broken": None, "degenerate": False}
    return found | facts


def one(rows: list[dict[str, Any]], defense: str, by: tuple[str, ...] = ()) -> dict[str, Any]:
    frame = compare_defenses(pd.DataFrame(rows), by)
    (found,) = frame[frame["defense"] == defense].to_dict("records")
    return {str(key): value for key, value in found.items()}


def test_rates_are_over_pairs_and_costs_are_medians_of_their_differences() -> None:
    rows = [row("none", seed, last_input_tokens=1000 + 100 * seed) for seed in range(5)]
    added = [50, 40, 60, 50, 900]
    rows += [
        row(
            "pin",
            seed,
            violation=float(seed == 0),
            last_input_tokens=1000 + 100 * seed + added[seed],
            seconds_defense=0.5,
            seconds_compaction=1.0 + seed,
            defense_calls=seed % 2,
            prefix_broken=[0, 2, 1, None, None][seed],
        )
        for seed in range(5)
    ]
    found = one(rows, "pin")
    assert (found["episodes"], found["pairs"], found["note"]) == (5, 5, "")
    assert (found["violation_k"], found["violation_n"], found["violation_none_k"]) == (1, 5, 5)
    rate = known(clopper_pearson(1, 5))
    assert (found["violation_lower"], found["violation_upper"]) == (rate.lower, rate.upper)
    assert found["tokens_added"] == 50
    assert found["seconds_added"] == 0.5
    assert found["compaction_seconds_added"] == 1.0
    assert found["defense_calls"] == pytest.approx(0.4)
    assert (found["prefix_broken_k"], found["prefix_broken_n"]) == (2, 3)
    baseline = one(rows, "none")
    assert (baseline["violation_k"], baseline["tokens_added"]) == (5, 0)


def test_utility_and_over_refusal_are_of_the_allowed_requests_only() -> None:
    allowed = {"allowed": True, "violation": 0.0, "utility": 1.0, "over_refusal": 0.0}
    rows = [row("none", 0), row("pin", 0)]
    rows += [
        row(
            "none",
            seed,
            **allowed,
        )
        for seed in range(4)
    ]
    refused = allowed | {"utility": 0.0, "over_refusal": 1.0, "outcome": "blocked"}
    rows += [row("pin", seed, **(refused if seed == 3 else allowed)) for seed in range(4)]
    found = one(rows, "pin")
    assert (found["violation_k"], found["violation_n"]) == (1, 1)
    assert (found["utility_k"], found["utility_n"], found["utility_none_k"]) == (3, 4, 4)
    assert (found["over_refusal_k"], found["over_refusal_none_k"]) == (1, 0)


def test_an_arm_without_a_twin_says_so_in_words() -> None:
    rows = [row("none", 0, compactor="truncate"), row("pin", 0, violation=0.0)]
    found = one(rows, "pin")
    assert found["pairs"] == 0
    assert found["note"].startswith("unpaired")
    assert (found["violation_k"], found["violation_n"]) == (0, 1)
    assert pd.isna(found["violation_none_k"])
    assert pd.isna(found["tokens_added"])
    shown = text(pd.DataFrame(rows))
    (line,) = [line for line in shown.splitlines() if line.startswith("| pin")]
    assert line.count("unpaired") == 5
    assert "! pin: unpaired: no episode under defense none" in shown


def test_episodes_that_have_no_twin_are_left_out_and_counted() -> None:
    rows = [row("none", 0), row("pin", 0, violation=0.0), row("pin", 1)]
    found = one(rows, "pin")
    assert (found["violation_k"], found["violation_n"], found["pairs"]) == (0, 1, 1)
    assert found["note"] == "1 of 2 episodes have no twin and are left out"


@pytest.mark.parametrize("fact", [*TWINS, "condition"])
def test_twins_agree_on_every_fact(fact: str) -> None:
    other: dict[str, Any] = {"allowed": True} if fact == "allowed" else {fact: "other"}
    if fact == "condition":
        other = {"condition": "control"}
    rows = [row("none", 0), row("pin", 0, **other)]
    assert one(rows, "pin")["pairs"] == 0
    assert one([row("none", 0, **other), row("pin", 0, **other)], "pin")["pairs"] == 1


def test_a_condition_with_a_defense_has_its_twin_in_the_one_without() -> None:
    rows = [row("none", 0), row("pin", 0, condition="defense_pin")]
    assert one(rows, "pin")["pairs"] == 1
    attacked = {"attack": "inject_deprecation"}
    rows = [
        row("none", 0, condition="attack_inject", **attacked),
        row("pin", 0, condition="defense_pin_attack", **attacked),
    ]
    assert one(rows, "pin")["pairs"] == 1
    rows[0] = row("none", 0)
    assert one(rows, "pin")["pairs"] == 0
    assert bare("stress_overload") == bare("defense_pin") == "compaction"
    assert bare("summary_removed") == "summary_removed"
    assert bare("somebody's own") == "somebody's own"


def test_equal_episodes_of_several_logs_are_paired_one_to_one() -> None:
    rows = [row("none", 0), row("none", 0, last_input_tokens=2000)]
    rows += [row("pin", 0, last_input_tokens=1010), row("pin", 0, last_input_tokens=2020)]
    found = one([*rows, row("pin", 0)], "pin")
    assert (found["pairs"], found["episodes"]) == (2, 3)
    assert found["tokens_added"] == 15


def test_what_was_not_measured_on_both_sides_gives_no_number() -> None:
    rows = [row("none", seed, seconds_compaction=None) for seed in range(3)]
    rows += [row("pin", seed) for seed in range(3)]
    found = one(rows, "pin")
    assert pd.isna(found["compaction_seconds_added"])
    assert found["seconds_added"] == 0.0


def test_silence_is_marked_and_what_is_pooled_is_said() -> None:
    rows = [row(defense, seed) for defense in ("none", "pin") for seed in range(5)]
    assert "! silent" not in text(pd.DataFrame(rows))
    rows[5] |= {"violation": 0.0, "outcome": "no_call"}
    shown = text(pd.DataFrame(rows))
    (line,) = [line for line in shown.splitlines() if line.startswith("| pin")]
    assert "! silent" in line
    assert "pool the conditions" not in shown
    pooled = pd.DataFrame([*rows, row("none", 0, condition="control", compactor="none")])
    assert "cells pool the conditions compaction, control; part them" in text(pooled)
    assert "pool the conditions" not in text(pooled, ["condition"])


def test_rows_stand_in_the_conditions_order_with_none_first() -> None:
    conditions = ("stress_rescind", "compaction", "control")
    rows = [row(d, 0, condition=c) for c in conditions for d in ("pin", "none", "a_defense")]
    frame = compare_defenses(pd.DataFrame(rows), ["condition"])
    assert list(dict.fromkeys(frame["condition"])) == ["control", "compaction", "stress_rescind"]
    assert list(frame["defense"])[:3] == ["none", "a_defense", "pin"]


def test_models_are_compared_each_with_itself() -> None:
    rows = [row("none", 0, agent="one"), row("pin", 0, agent="one"), row("pin", 0, agent="two")]
    frame = compare_defenses(pd.DataFrame(rows), ["agent", "defense"])
    pairs = dict(
        zip(zip(frame["agent"], frame["defense"], strict=True), frame["pairs"], strict=True)
    )
    assert pairs == {("one", "none"): 1, ("one", "pin"): 1, ("two", "pin"): 0}


table = partial(invoked, "table")


def test_the_table_of_real_logs(run: Run, tmp_path: Path) -> None:
    for allowed in (False, True):
        run(
            "pin_stress",
            variants=2,
            rounds=2,
            families="soft_email",
            defenses="none,pin",
            conditions="compaction,stress_overload",
            allowed=allowed,
        )
    logs, out = str(tmp_path / "logs"), tmp_path / "pairs.csv"
    result = table(logs, "--defenses", "--by", "condition", "--csv", str(out), exits=0)
    lines = [line for line in result.stdout.splitlines() if line.startswith("| stress_overload")]
    (pin,) = [line for line in lines if "| pin " in line]
    assert "0/2 = 0 % [0, 84]" in pin
    assert "2/2 = 100 % [16, 100] | 2/2" in pin
    found = pd.read_csv(out)
    assert list(found["defense"]) == ["none", "pin", "none", "pin"]
    added = found.set_index(["condition", "defense"])["tokens_added"]
    assert 0 < added["compaction", "pin"] < added["stress_overload", "pin"]
    assert "defense" in table(logs).stdout
    assert "unpaired" not in result.stdout


def test_the_frame_holds_what_a_defense_cost(run: Run, tmp_path: Path) -> None:
    run("soft_email", variants=1, rounds=3, defense="pin", conditions="control,compaction")
    run("soft_email", variants=1, conditions="compaction,summary_removed")
    run("utility", model="scripted/refuser", variants=1, conditions="floor")
    frame = episodes([tmp_path / "logs"])
    pinned = frame[(frame["defense"] == "pin") & (frame["condition"] == "compaction")].iloc[0]
    assert pinned["prefix_tokens"] > 0
    assert pinned["prefix_broken"] == 0
    assert pinned["last_input_tokens"] > 0
    assert pinned["seconds_defense"] >= 0
    assert pinned["defense_calls"] == 0
    assert pd.isna(pinned["over_refusal"])
    uncompacted = frame[frame["condition"] == "control"].iloc[0]
    assert uncompacted["prefix_tokens"] > pinned["prefix_tokens"]
    assert pinned["defense_tokens"] == 0
    assert uncompacted["last_input_tokens"] > pinned["last_input_tokens"]
    shared = frame[(frame["defense"] == "none") & ~frame["allowed"]]
    assert shared["seconds_compaction"].isna().sum() == 1
    assert (frame[frame["allowed"]]["over_refusal"] == 1.0).all()


@given(
    st.lists(
        st.fixed_dictionaries(
            {
                "family": st.sampled_from(["a", "b"]),
                "seed": st.integers(0, 1),
                "budget_words": st.sampled_from(["none", 60, 300]),
                "condition": st.sampled_from(["compaction", "defense_pin", "control"]),
                "defense": st.sampled_from(["none", "pin"]),
            }
        ),
        min_size=1,
        max_size=30,
    )
)
def test_keys_of_twins_are_what_joining_row_by_row_gives(facts: list[dict[str, Any]]) -> None:
    frame = pd.DataFrame([row("none", 0, **one) for one in facts])
    seen = Counter[tuple[str, str]]()
    wanted: list[str] = []
    for one in facts:
        whole = row("none", 0, **one)
        key = "\x1f".join([*(str(whole[name]) for name in TWINS), bare(whole["condition"])])
        wanted.append(f"{key}\x1f{seen[key, whole['defense']]}")
        seen[key, whole["defense"]] += 1
    assert list(pairs(frame)) == wanted


def test_a_gap_is_a_value_of_its_own() -> None:
    gaps = [row(name, 0, compact_at=at) for at in (None, "none") for name in ("none", "pin")]
    first, second, third, fourth = pairs(pd.DataFrame(gaps))
    assert (first, third) == (second, fourth)
    assert first != third
    assert one(gaps, "pin")["pairs"] == 2
