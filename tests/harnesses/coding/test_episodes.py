"""An episode in a coding agent: a program that speaks a model API, in a box."""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.log import EvalSample, resolve_sample_attachments

from constraintrot.coding_agents.box import PREFIX
from tests.conftest import Run
from tests.harnesses.coding.fakes import NETWORK, commands
from tests.harnesses.episodes import compacted, error, failing, violated
from tests.helpers import by_condition, samples

GIVEN: dict[str, Any] = {"network": NETWORK, "context_tokens": 300, "variants": 1}
pytestmark = pytest.mark.filterwarnings("ignore:network=host")


def kinds(sample: EvalSample) -> list[str]:
    return [request["kind"] for request in sample.metadata["agent_requests"]]


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder for temporary files, whose path is short enough for a socket, and nobody else's."""
    with tempfile.TemporaryDirectory(prefix="own-") as name:
        monkeypatch.setattr(tempfile, "tempdir", name)
        yield Path(name)
        monkeypatch.undo()


def test_an_agent_plays_the_floor_the_control_and_the_compaction(run: Run) -> None:
    log = run("soft_email", harness="fake_chat", **GIVEN)
    assert log.status == "success", log.error
    assert by_condition(log) == {"floor": 1, "control": 0, "compaction": 1}
    (sample,) = samples(log)["compaction"]
    facts = sample.metadata
    assert facts["framework"] == "Fake agent 1.2.3"
    assert facts["rounds_run"][0]["shown_verbatim"]
    assert facts["summarizer_calls"] == 1
    assert kinds(sample)[-2:] == ["summary", "agent"]
    assert next(e.role for e in sample.events if e.event == "model") == "summarizer"
    sizes = [request["tokens"] for request in facts["agent_requests"]]
    assert sizes[-1] < sizes[-3]
    # The system message survives, and every call of the history was a real one.
    assert facts["roles"][0] == "system"
    (control,) = samples(log)["control"]
    assert kinds(control) == ["agent"] * len(kinds(control))


def test_without_a_declared_policy_there_is_no_pin(run: Run) -> None:
    conditions = "floor,compaction,defense_pin"
    log = run("soft_email", harness="fake_chat", defense="pin", conditions=conditions, **GIVEN)
    assert log.status == "success", log.error
    (floor,) = samples(log)["floor"]
    assert floor.error is None
    assert not any(one.get("pin_in") for one in floor.metadata["agent_requests"])
    assert by_condition(log)["defense_pin"] == 0


@pytest.mark.parametrize("channel", ["user", "file"])
def test_a_scenario_whose_own_tool_reads_files_is_played(run: Run, channel: str) -> None:
    given = {"conditions": "floor,compaction", "channel": channel} | GIVEN
    log = run("hard_secret", harness="fake_chat", **given)
    assert log.status == "success", log.error
    for (sample,) in samples(log).values():
        assert sample.error is None
        assert violated(sample)


@pytest.mark.parametrize("api", ["responses", "gemini"])
def test_an_agent_may_speak_another_api(run: Run, api: str) -> None:
    sample = compacted(run, harness=f"fake_{api}", **GIVEN)
    assert violated(sample)
    assert kinds(sample)[-2:] == ["summary", "agent"]


def test_a_result_of_a_tool_is_summarised_away_and_the_system_prompt_is_not(run: Run) -> None:
    lost = compacted(run, harness="fake_chat", channel="tool", **GIVEN)
    kept = compacted(run, harness="fake_chat", channel="system", **GIVEN)
    assert (violated(lost), violated(kept)) == (True, False)
    holders = [bool(request["policy_in"]) for request in lost.metadata["agent_requests"]]
    assert holders[0] is False
    assert holders[-3:] == [True, True, False]


def test_the_summarizer_is_the_role_s_by_the_fourth_api_too(run: Run) -> None:
    roles = {"summarizer": "scripted/summarizer-keep"}
    sample = compacted(run, harness="fake_messages", model_roles=roles, **GIVEN)
    assert not violated(sample)
    assert sample.metadata["summarizer"] == "scripted/summarizer-keep"


def test_a_summarizer_that_fails_ends_the_sample(run: Run) -> None:
    roles = {"summarizer": failing()}
    assert "is down" in error(run, harness="fake_chat", model_roles=roles, **GIVEN)


def test_an_agent_compacts_as_often_as_it_is_to(run: Run) -> None:
    sample = compacted(run, harness="fake_chat", rounds=2, channel="system", **GIVEN)
    told = kinds(sample)
    assert told.count("summary") == 2
    assert told[-2:] == ["summary", "agent"]
    assert "agent" in told[told.index("summary") : -2]
    assert sample.metadata["agent_compactions"] == 2
    assert not violated(sample)


def test_an_agent_whose_request_is_refused_as_too_long_compacts_and_asks_again(run: Run) -> None:
    lost = compacted(run, harness="fake_refused", rounds=2, channel="tool", **GIVEN)
    told = kinds(lost)
    assert told.count("summary") == lost.metadata["agent_compactions"] == 2
    assert told[-3:] == ["side", "summary", "agent"]
    assert violated(lost)
    # Nothing is refused in an episode without a compaction.
    log = run("soft_email", harness="fake_refused", conditions="control", **GIVEN)
    (control,) = samples(log)["control"]
    assert set(kinds(control)) == {"agent"}


def test_the_pin_is_a_hook_in_the_agent_s_own_settings_that_outlives_its_compaction(
    run: Run,
) -> None:
    log = run("soft_email", harness="fake_chat", conditions="compaction,defense_pin", **GIVEN)
    assert by_condition(log) == {"compaction": 1, "defense_pin": 0}
    (lost,), (pinned,) = samples(log)["compaction"], samples(log)["defense_pin"]
    assert "pin_in" not in lost.metadata["agent_requests"][0]
    *_, summary, after = pinned.metadata["agent_requests"]
    assert (summary["kind"], after["pin_in"]) == ("summary", ["user"])
    whole = resolve_sample_attachments(pinned, "full")
    last = next(e for e in reversed(whole.events) if e.event == "model")
    assert any(m.text.startswith("Hook: Standing policies, pinned by") for m in last.input)


@pytest.mark.parametrize(
    ("misdeed", "why"),
    [
        ("dies", "Fake agent ended with 3: out of luck"),
        ("opaque", "an opaque item: nobody can say what of the policy is in it"),
    ],
)
def test_an_agent_that_misbehaves_is_an_error_of_the_sample(
    run: Run, misdeed: str, why: str
) -> None:
    assert why in error(run, harness=f"fake_{misdeed}", **GIVEN)


def test_an_agent_that_drops_its_hook_s_text_is_no_measurement_of_a_pin(run: Run) -> None:
    assert "asked its model without the pin" in error(
        run, harness="fake_deaf", defense="pin", **GIVEN
    )


def test_an_agent_that_hangs_is_ended_with_all_that_it_left_behind(
    run: Run, monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("constraintrot.harnesses.coding.play.TURN", 1)
        assert "took more than 1 s" in error(run, harness="fake_hangs", **GIVEN)
    compacted(run, harness="fake_daemon", **GIVEN)
    assert list(folder.glob(f"{PREFIX}*")) == []
    # The daemon of the fake agent's.
    assert [one for one in commands(folder) if one.startswith("sleep 600")] == []
