"""The table of coding agents without and with the pin counts what their requests show."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from constraintrot.coding_agents.catalogue import package
from results.tools import coding_pins

RESULTS = Path(__file__).parents[2] / "results"


def request(number: int, kind: str, turn: int, **more: Any) -> dict[str, Any]:
    return {"number": number, "kind": kind, "turn": turn, "policy_in": []} | more


def sample(*requests: dict[str, Any], violation: int) -> Any:
    scores = {"violation": SimpleNamespace(value=violation)}
    return SimpleNamespace(metadata={"agent_requests": list(requests)}, scores=scores)


def test_what_counts_is_the_first_request_with_the_trigger_after_the_compaction() -> None:
    # An agent that compacts within a turn asks once more in it, before the trigger.
    played = sample(
        request(1, "agent", 1, policy_in=["user a"], pin_in=["user"]),
        request(2, "summary", 1, policy_in=["user a"], pin_in=["user"]),
        request(3, "agent", 1, pin_in=[]),
        request(4, "agent", 2, policy_in=["user b"], pin_in=["user", "system"]),
        violation=0,
    )
    assert coding_pins._outcome(played) == {
        "violation": 0,
        "policy_verbatim": 1,
        "pin_roles": "user system",
        "summarizer_shown_pin": 1,
        "requests": 4,
        "summary": "2",
        "after": 4,
        "error": "",
    }


def test_an_episode_that_failed_is_left_out_of_the_counts_and_named() -> None:
    row = {"agent": "codex", "channel": "tool", "family": "soft_email", "run": "2026-11-22"}
    plain = sample(request(1, "summary", 1), request(2, "agent", 1), violation=1)
    rows = [
        row | {"condition": "compaction"} | coding_pins._outcome(plain),
        row | {"condition": "defense_pin", "error": "it fell over"},
    ]
    text = coding_pins.table(pd.DataFrame(rows))
    assert "| Codex CLI | tool result (MCP) | 1/1 | 0/1 | 0/0 | 0/0 | - | 0/0 |" in text
    assert "- codex, tool, soft_email, defense_pin: it fell over" in text


def test_what_an_earlier_run_has_both_episodes_of_is_not_played_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    known = pd.read_csv(RESULTS / "coding-agents-pins.csv")
    pi = known[(known["agent"] == "pi") & (known["channel"] == "tool")]
    lacking = pi[(pi["family"] != "soft_spend") | (pi["condition"] == "compaction")]
    played: list[list[str]] = []
    monkeypatch.setattr(coding_pins, "eval_set", lambda tasks, **given: played.append(tasks))
    coding_pins.run([package("pi")], str(tmp_path), ["tool"], pi)
    assert played == []
    coding_pins.run([package("pi")], str(tmp_path), ["tool", "file"], lacking)
    assert played == [
        ["constraintrot/soft_spend"],
        [f"constraintrot/{family}" for family in coding_pins.FAMILIES],
    ]
    assert coding_pins.frame(str(tmp_path / "none"), lacking).equals(lacking.reset_index(drop=True))


def test_the_committed_table_is_made_of_the_committed_rows() -> None:
    rows = pd.read_csv(RESULTS / "coding-agents-pins.csv")
    assert coding_pins.table(rows) == (RESULTS / "coding-agents-pins.md").read_text()
    assert len(rows) == len(rows.drop_duplicates(["agent", "channel", "family", "condition"]))
