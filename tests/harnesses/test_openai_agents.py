"""The OpenAI Agents SDK's Runner: what it keeps of a session, and that the pin is kept."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError
from typing import Any

import pytest
from agents import RunConfig, SQLiteSession
from agents.exceptions import UserError
from agents.extensions import ToolOutputTrimmer
from agents.memory import OpenAIResponsesCompactionSession, SessionSettings
from inspect_ai.log import EvalSample
from inspect_ai.model import Model, get_model

import constraintrot.harnesses as harnesses
from constraintrot.defenses.frameworks.openai_agents import pin_filter
from constraintrot.defenses.rampart import Principal, Registry
from constraintrot.errors import ParameterError
from constraintrot.evaluation.harness import parse_harness
from constraintrot.harnesses.openai_agents.client import as_dicts
from tests.conftest import Run
from tests.harnesses.episodes import compacted, failing, violated
from tests.harnesses.live_agent import live_agent, model_events
from tests.harnesses.openai_agents_fakes import Compact, Recorder, converse, made, quiet
from tests.harnesses.rules import CHANNELS, PINNED, kept
from tests.helpers import answering, by_condition, samples

ARMS = ("session_limit", "input_callback", "compaction", "trimmer", "summary_input")
IN_A_ROW = "two messages of the user's in a row"


@pytest.mark.parametrize(
    ("arm", "channel", "loses", "voice", "problem"),
    [
        ("session_limit", "user", True, None, None),
        ("input_callback", "user", True, None, None),
        # The endpoint keeps what the user wrote, and its stand-in does; a tool's text it does not.
        ("compaction", "user", False, "assistant", IN_A_ROW),
        ("compaction", "tool", True, "assistant", IN_A_ROW),
        # Only what tools returned is shortened.
        ("trimmer", "user", False, None, None),
        ("trimmer", "tool", True, None, None),
        ("summary_input", "user", True, "user", IN_A_ROW),
    ],
)
def test_an_arm_loses_or_keeps_the_policy_and_the_pin_keeps_it(
    run: Run, arm: str, channel: str, loses: bool, voice: str | None, problem: str | None
) -> None:
    given = {"harness": f"openai_agents:{arm}", "channel": channel}
    log = run("soft_email", variants=1, **given)
    assert by_condition(log) == {"floor": 1, "control": 0, "compaction": loses}
    facts = samples(log)["compaction"][0].metadata
    assert facts["framework"].startswith("openai-agents 0.24.")
    assert facts["summarizer_calls"] == (voice is not None)
    assert facts["summary_voice"] == voice
    assert facts["roles_problem"] == problem
    assert [shown["shown_verbatim"] for shown in facts["rounds_run"]] == [True]
    assert not violated(compacted(run, defense="pin", **given))


@pytest.mark.parametrize("arm", ARMS)
@pytest.mark.parametrize(
    "given",
    [
        {"context_tokens": 300},
        {"context_tokens": 1500, "channel": "tool"},
        {"channel": "memory", "attack": "inject_deprecation"},
    ],
    ids=str,
)
def test_it_compacts_at_all_lengths_on_all_channels(
    run: Run, arm: str, given: dict[str, Any]
) -> None:
    sample = compacted(run, harness=f"openai_agents:{arm}", defense="pin", **given)
    assert sample.metadata["compaction_ran"]
    assert not violated(sample)


@pytest.mark.parametrize(("arm", "channel"), [("compaction", "tool"), ("summary_input", "user")])
def test_the_summarizer_is_the_role_s(run: Run, arm: str, channel: str) -> None:
    keeps = get_model("scripted/summarizer-keep")
    sample = compacted(
        run,
        harness=f"openai_agents:{arm}",
        channel=channel,
        model_roles={"summarizer": keeps},
    )
    assert not violated(sample)
    assert sample.metadata["summarizer"] == "scripted/summarizer-keep"


@pytest.mark.parametrize("arm", ["compaction", "summary_input"])
@pytest.mark.parametrize(
    ("summarizer", "why"),
    [
        (failing, "is down"),
        (lambda: answering(" "), "wrote nothing"),
    ],
)
def test_a_summarizer_that_fails_is_an_error(
    run: Run, summarizer: Callable[[], Model], why: str, arm: str
) -> None:
    log = run(
        "soft_email",
        harness=f"openai_agents:{arm}",
        variants=1,
        conditions="compaction",
        model_roles={"summarizer": summarizer()},
    )
    (sample,) = log.samples or []
    assert sample.error is not None
    assert why in sample.error.message


def test_a_live_agent_s_session_is_compacted_between_its_turns_of_tool_calls(run: Run) -> None:
    # Within a run the SDK sends all that was said since the request; it compacts where a run ends.
    given: dict[str, Any] = {
        "harness": "openai_agents:compaction:live",
        "channel": "tool",
        "model_roles": {"agent": live_agent(1)},
    }
    plain = compacted(run, **given)
    assert violated(plain)
    # A tool gave the policy, and the first summarizer read it there.
    assert plain.metadata["rounds_run"][0]["shown_verbatim"]
    before, after = around_the_summaries(plain)
    assert any(event.output.message.tool_calls for event in before)
    assert any(event.output.message.tool_calls for event in after)
    sample = compacted(run, defense="pin", **given)
    assert not violated(sample)
    for event in model_events(sample):
        text = "\n".join(message.text for message in event.input)
        assert text.count("Standing policies (pinned") == (event.role != "summarizer")


def around_the_summaries(sample: EvalSample) -> tuple[list[Any], list[Any]]:
    """A sample's calls of models before its first summary and after its last."""
    events = model_events(sample)
    written = [at for at, event in enumerate(events) if event.role == "summarizer"]
    return events[: written[0]], events[written[-1] + 1 :]


@pytest.mark.parametrize("arm", ["session_limit", "input_callback", "trimmer", "summary_input"])
def test_a_live_agent_on_each_other_arm(run: Run, arm: str) -> None:
    sample = compacted(
        run, harness=f"openai_agents:{arm}:live", defense="pin", model_roles={"agent": live_agent()}
    )
    assert sample.metadata["dropped"] > 0
    assert not violated(sample)


def test_arms_and_what_is_missing_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ParameterError, match=", ".join((*ARMS, "live"))):
        parse_harness("openai_agents:unlimited")

    def missing(_: str) -> str:
        raise PackageNotFoundError

    monkeypatch.setattr(harnesses, "_version", missing)
    with pytest.raises(ParameterError, match=r"pip install 'constraintrot\[openai-agents\]'"):
        parse_harness("openai_agents")
    monkeypatch.setattr(harnesses, "_version", lambda _: "0.20.0")
    with pytest.warns(UserWarning, match=r"from 0\.24\.0 to below 0\.25, and 0\.20\.0 is"):
        parse_harness("openai_agents")


def test_why_the_endpoint_is_stood_in_for() -> None:
    store = SQLiteSession("s")
    with pytest.raises(ValueError, match="Unsupported model"):
        OpenAIResponsesCompactionSession("s", store, model="qwen2.5-7b")
    store.close()
    with pytest.raises(UserError, match="compaction"):
        as_dicts([{"type": "compaction", "id": "c", "encrypted_content": "?"}])


def last_six(history: list[Any], new: list[Any]) -> list[Any]:
    return [*history[-6:], *new]


def compacting(store: Any) -> Any:
    client: Any = Compact()
    return OpenAIResponsesCompactionSession("s", store, client=client, compaction_mode="input")


Row = tuple[Callable[[Any], Any], Callable[[], dict[str, Any]], str, set[str]]
USERS = {"system", "first user", "later user"}
SHORT, LONG = "read_handbook", "read_long_handbook"
# What stands in the last input: how the session is made, the run's settings, which handbook.
MATRIX: dict[str, Row] = {
    "nothing": (lambda store: store, dict, SHORT, set(CHANNELS)),
    "SessionSettings(limit=10)": (
        lambda store: store,
        lambda: {"session_settings": SessionSettings(limit=10)},
        SHORT,
        {"system"},
    ),
    "session_input_callback": (
        lambda store: store,
        lambda: {"session_input_callback": last_six},
        SHORT,
        {"system"},
    ),
    "OpenAIResponsesCompactionSession": (compacting, dict, SHORT, USERS),
    "ToolOutputTrimmer, short output": (
        lambda store: store,
        lambda: {"call_model_input_filter": ToolOutputTrimmer()},
        SHORT,
        set(CHANNELS),
    ),
    "ToolOutputTrimmer, long output": (
        lambda store: store,
        lambda: {"call_model_input_filter": ToolOutputTrimmer()},
        LONG,
        USERS,
    ),
}


def pinning(settings: dict[str, Any]) -> RunConfig:
    operator = Principal("operator")
    rules = Registry(operator)
    rules.pin(PINNED, by=operator)
    inner = settings.pop("call_model_input_filter", None)
    return quiet(**settings, call_model_input_filter=pin_filter(rules, inner))


@pytest.mark.parametrize("pinned", [False, True], ids=["plain", "pinned"])
@pytest.mark.parametrize("row", MATRIX)
def test_the_matrix(row: str, pinned: bool) -> None:
    around, settings, handbook, expected = MATRIX[row]
    model, store = Recorder(), SQLiteSession("s")
    config = pinning(settings()) if pinned else quiet(**settings())
    session = around(store)
    asyncio.run(converse(made(model), model, session, config, handbook=handbook))
    assert kept(model.texts[-1]) == expected
    assert [text.count(PINNED) for text in model.texts] == [pinned] * 15
    assert PINNED not in str(asyncio.run(store.get_items()))
    if session is not store:
        assert kept(session.client.shown[0]) == {"first user", "later user", "tool"}
        assert PINNED not in str(session.client.shown)
    store.close()
