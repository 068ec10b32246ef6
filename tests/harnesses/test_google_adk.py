"""Google's ADK: what its compactions keep, and that the pin is kept."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from importlib.metadata import PackageNotFoundError
from typing import Any

import pytest
from inspect_ai.model import Model, get_model

import constraintrot.harnesses as harnesses
from constraintrot.defenses.frameworks.google_adk import PinPlugin
from constraintrot.defenses.rampart import Principal, Registry
from constraintrot.errors import ParameterError
from constraintrot.evaluation.harness import parse_harness
from constraintrot.harnesses._google_adk import _interval
from tests.conftest import Run
from tests.docs_code import run_page
from tests.harnesses.episodes import compacted, failing, violated
from tests.harnesses.google_adk_fakes import Chat, Recorder, compaction
from tests.harnesses.live_agent import between_tool_calls, live_agent, model_events
from tests.harnesses.rules import CHANNELS, LOSSY, PINNED, kept
from tests.helpers import answering, by_condition, samples

ARMS = ["sliding_window", "token_threshold"]
TURN = ["user", "assistant", "tool", "assistant"]


@pytest.mark.parametrize(
    ("arm", "shown", "roles"),
    [
        # The second summary is of what came after the first, and stands behind it.
        ("sliding_window", [True, False], ["assistant", "assistant", *TURN, "user"]),
        ("token_threshold", [True], ["assistant", *TURN, *TURN, "user"]),
    ],
)
def test_an_arm_loses_the_policy_and_the_pin_keeps_it(
    run: Run, arm: str, shown: Sequence[bool], roles: Sequence[str]
) -> None:
    log = run("soft_email", harness=f"google_adk:{arm}", variants=1, exercised=0)
    assert by_condition(log) == {"floor": 1, "control": 0, "compaction": 1}
    facts = samples(log)["compaction"][0].metadata
    assert facts["framework"].startswith("google-adk 2.")
    assert facts["summarizer_calls"] == len(shown)
    assert facts["summary_voice"] == "assistant"
    assert facts["roles"] == ["system", *roles]
    assert facts["roles_problem"] == "begins with a message of the assistant's"
    assert [one["shown_verbatim"] for one in facts["rounds_run"]] == shown
    pinned = compacted(run, harness=f"google_adk:{arm}", defense="pin")
    assert not violated(pinned)


@pytest.mark.parametrize("arm", ARMS)
@pytest.mark.parametrize(
    "given",
    [
        {"context_tokens": 300},
        {"context_tokens": 1500, "channel": "tool"},
        {"channel": "system"},
        {"attack": "inject_deprecation"},
        {"attack": "volume"},
    ],
    ids=str,
)
def test_it_compacts_at_all_lengths_on_all_channels(
    run: Run, arm: str, given: dict[str, Any]
) -> None:
    sample = compacted(run, harness=f"google_adk:{arm}", defense="pin", **given)
    assert sample.metadata["compaction_ran"]
    assert not violated(sample)


@pytest.mark.parametrize("requests", range(2, 40))
def test_nothing_is_compacted_right_after_the_trigger(requests: int) -> None:
    interval = _interval(requests)
    assert 1 <= interval <= requests
    assert (requests + 1) % interval or requests < 3


def test_the_summarizer_is_the_role_s(run: Run) -> None:
    keeps = get_model("scripted/summarizer-keep")
    sample = compacted(run, harness="google_adk", model_roles={"summarizer": keeps})
    assert not violated(sample)
    assert sample.metadata["summarizer"] == "scripted/summarizer-keep"


@pytest.mark.parametrize("arm", ARMS)
@pytest.mark.parametrize(
    ("summarizer", "why"),
    [
        (failing, "is down"),
        (lambda: answering(" "), "wrote nothing"),
    ],
)
def test_a_summarizer_whose_failure_is_swallowed_is_an_error(
    run: Run, summarizer: Callable[[], Model], why: str, arm: str
) -> None:
    log = run(
        "soft_email",
        harness=f"google_adk:{arm}",
        variants=1,
        conditions="compaction",
        model_roles={"summarizer": summarizer()},
    )
    (sample,) = log.samples or []
    assert sample.error is not None
    assert why in sample.error.message


def test_a_live_agent_is_compacted_between_its_tool_calls(run: Run) -> None:
    given = {"harness": "google_adk:token_threshold:live"}
    plain = compacted(run, model_roles={"agent": live_agent()}, **given)
    assert between_tool_calls(plain)
    assert violated(plain)
    sample = compacted(run, defense="pin", model_roles={"agent": live_agent()}, **given)
    assert between_tool_calls(sample)
    assert not violated(sample)
    for event in model_events(sample):
        text = "\n".join(message.text for message in event.input)
        assert text.count("Standing policies (pinned") == (event.role != "summarizer")


@pytest.mark.parametrize("arm", ARMS)
def test_a_live_agent_that_calls_no_tool_is_compacted_too(run: Run, arm: str) -> None:
    sample = compacted(
        run,
        harness=f"google_adk:{arm}:live",
        model_roles={"agent": live_agent(tool_calls=0)},
    )
    assert violated(sample)


def test_arms_and_what_is_missing_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ParameterError, match="sliding_window, token_threshold, live"):
        parse_harness("google_adk:lossy")

    def missing(_: str) -> str:
        raise PackageNotFoundError

    monkeypatch.setattr(harnesses, "_version", missing)
    with pytest.raises(ParameterError, match=r"pip install 'constraintrot\[google-adk\]'"):
        parse_harness("google_adk")
    monkeypatch.setattr(harnesses, "_version", lambda _: "1.4.2")
    with pytest.warns(UserWarning, match=r"google-adk from 2\.13 to below 3, and 1\.4\.2"):
        parse_harness("google_adk")


# By how it compacts: what stands in the last input of a long conversation whose summarizer
# tells of no rule, and how many summaries it begins with.
SLIDING = {"compaction_interval": 3, "overlap_size": 1}
THRESHOLD = {"token_threshold": 150, "event_retention_size": 6}
MATRIX: dict[str, tuple[dict[str, int], set[str], int]] = {
    "nothing": ({}, set(CHANNELS), 0),
    # They stack.
    "sliding window": (SLIDING, {"system"}, 3),
    # They roll.
    "token threshold": (THRESHOLD, {"system"}, 1),
}


def pins() -> PinPlugin:
    operator = Principal("operator")
    rules = Registry(operator)
    rules.pin(PINNED, by=operator)
    return PinPlugin(rules)


@pytest.mark.parametrize("pinned", [False, True], ids=["plain", "pinned"])
@pytest.mark.parametrize("row", MATRIX)
def test_the_matrix(row: str, pinned: bool) -> None:
    given, expected, summaries = MATRIX[row]
    model, writer = Recorder(), Recorder(reply=LOSSY)
    chat = Chat(model, compaction(writer, **given) if given else None, [pins()] if pinned else [])
    asyncio.run(chat.converse())
    assert kept(model.texts[-1]) == expected
    assert model.texts[-1].count(LOSSY) == summaries
    assert model.roles[-1][0] == ("model" if summaries else "user")
    assert [text.count(PINNED) for text in model.texts] == [pinned] * len(model.texts)
    # What is compacted stays in the session.
    events = "\n".join(event.model_dump_json() for event in asyncio.run(chat.stored()))
    assert kept(events) == set(CHANNELS) - {"system"}


@pytest.mark.parametrize(
    ("handbook", "shown"),
    [
        ("read_handbook", {"first user", "later user", "tool"}),
        # Of a result it is shown the first 2000 characters, and the rule stands behind them.
        ("read_long_handbook", {"first user", "later user"}),
    ],
)
@pytest.mark.parametrize("given", [SLIDING, THRESHOLD], ids=ARMS)
def test_what_the_summarizer_is_shown(
    given: dict[str, int], handbook: str, shown: set[str]
) -> None:
    model, writer = Recorder(), Recorder(reply=LOSSY)
    chat = Chat(model, compaction(writer, **given), [pins()])
    asyncio.run(chat.converse(handbook=handbook))
    assert kept(writer.ever) == shown
    assert PINNED not in writer.ever


@pytest.mark.filterwarnings("ignore:.EXPERIMENTAL. EventsCompactionConfig:UserWarning")
def test_the_page_s_code_runs(capsys: pytest.CaptureFixture[str]) -> None:
    run_page("frameworks/google-adk.md")
    assert "example.org" in capsys.readouterr().out
