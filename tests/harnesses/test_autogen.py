"""AutoGen's AssistantAgent: what its model contexts keep, and that the pin is kept."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError
from itertools import pairwise
from typing import Any

import pytest
from autogen_core.memory import ListMemory, MemoryContent
from autogen_core.model_context import (
    BufferedChatCompletionContext,
    ChatCompletionContext,
    HeadAndTailChatCompletionContext,
    TokenLimitedChatCompletionContext,
    UnboundedChatCompletionContext,
)
from inspect_ai.model import ModelOutput, get_model

import constraintrot.harnesses as harnesses
from constraintrot.defenses.frameworks.autogen import PinnedContext
from constraintrot.defenses.rampart import Principal, Registry
from constraintrot.errors import ParameterError
from constraintrot.evaluation.harness import parse_harness
from tests.conftest import Run
from tests.harnesses.autogen_fakes import Recorder, converse, made
from tests.harnesses.episodes import compacted, violated
from tests.harnesses.live_agent import live_agent, model_events
from tests.harnesses.rules import CHANNELS, PINNED, kept
from tests.helpers import by_condition, samples


@pytest.mark.parametrize(
    ("arm", "loses", "problem"),
    [
        ("buffered", True, None),
        # Between the head and the tail stands "Skipped N messages.", as the user's.
        ("head_and_tail", True, "two messages of the user's in a row"),
        # It takes out what is in the middle, and the policy stands near the beginning.
        ("token_limited", False, None),
    ],
)
def test_an_arm_loses_or_keeps_the_policy_and_the_pin_keeps_it(
    run: Run, arm: str, loses: bool, problem: str | None
) -> None:
    log = run("soft_email", harness=f"autogen:{arm}", variants=1, exercised=0)
    assert by_condition(log) == {"floor": 1, "control": 0, "compaction": loses}
    facts = samples(log)["compaction"][0].metadata
    assert facts["framework"].startswith("autogen-agentchat 0.7.")
    assert facts["roles_problem"] == problem
    # Nobody summarises: what the context left out, it left out by itself.
    assert (facts["summarizer_calls"], facts["summary_voice"]) == (0, None)
    assert [shown["shown_verbatim"] for shown in facts["rounds_run"]] == [True]
    assert facts["dropped"] > 0
    assert not violated(compacted(run, harness=f"autogen:{arm}", defense="pin"))


@pytest.mark.parametrize("channel", ["user", "tool"])
def test_what_a_memory_holds_is_kept_by_itself(run: Run, channel: str) -> None:
    # AutoGen's last message is the memory, so a model that reads the last one only would
    # see no request; this one looks for the user's.
    given = {"harness": "autogen:memory", "channel": channel}
    log = run("soft_email", variants=1, model_roles={"agent": live_agent()}, **given)
    assert by_condition(log) == {"floor": 1, "control": 0, "compaction": 0}
    facts = samples(log)["compaction"][0].metadata
    assert facts["roles"][-2:] == ["user", "system"]
    assert facts["roles"].count("system") == 4
    assert "a system message at" in facts["roles_problem"]
    sample = compacted(run, defense="pin", model_roles={"agent": live_agent()}, **given)
    assert not violated(sample)


@pytest.mark.parametrize("arm", ["buffered", "token_limited", "head_and_tail", "memory"])
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
    sample = compacted(run, harness=f"autogen:{arm}", defense="pin", **given)
    assert sample.metadata["compaction_ran"]
    assert not violated(sample)


def test_a_live_agent_is_compacted_between_its_tool_calls(run: Run) -> None:
    given = {"harness": "autogen:live", "model_roles": {"agent": live_agent(3)}}
    plain = compacted(run, **given)
    assert violated(plain)
    # A call follows a tool's result, and what began the input before it is gone.
    events = model_events(plain)
    assert any(
        now.input[-1].role == "tool" and before.input[1].text not in [m.text for m in now.input]
        for before, now in pairwise(events)
    )
    sample = compacted(run, defense="pin", **given)
    assert not violated(sample)
    for event in model_events(sample):
        text = "\n".join(message.text for message in event.input)
        assert text.count("Standing policies (pinned") == 1


@pytest.mark.parametrize("arm", ["token_limited", "head_and_tail", "memory"])
def test_a_live_agent_on_each_other_arm(run: Run, arm: str) -> None:
    sample = compacted(
        run, harness=f"autogen:{arm}:live", defense="pin", model_roles={"agent": live_agent(1)}
    )
    assert sample.metadata["dropped"] > 0
    assert not violated(sample)


def test_an_agent_that_fails_is_an_error(run: Run) -> None:
    def fails(*_: Any) -> ModelOutput:
        raise RuntimeError("the agent is down")

    agent = get_model("mockllm/model", custom_outputs=fails, memoize=False)
    log = run(
        "soft_email",
        harness="autogen",
        variants=1,
        conditions="compaction",
        model_roles={"agent": agent},
    )
    (sample,) = log.samples or []
    assert sample.error is not None
    assert "the agent is down" in sample.error.message


def test_arms_and_what_is_missing_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    modes = "buffered, token_limited, head_and_tail, memory, live"
    with pytest.raises(ParameterError, match=modes):
        parse_harness("autogen:unbounded")

    def missing(_: str) -> str:
        raise PackageNotFoundError

    monkeypatch.setattr(harnesses, "_version", missing)
    with pytest.raises(ParameterError, match=r"pip install 'constraintrot\[autogen\]'"):
        parse_harness("autogen")
    monkeypatch.setattr(harnesses, "_version", lambda _: "0.8.1")
    with pytest.warns(UserWarning, match=r"to below 0\.8, and 0\.8\.1") as warned:
        parse_harness("autogen")
    told = [str(one.message) for one in warned]
    assert "tested with autogen-agentchat from 0.7.5 to below 0.8" in told[0]
    assert "tested with autogen-core from 0.7.5 to below 0.8" in told[1]


Contexts = Callable[[Recorder], ChatCompletionContext]
# What stands in the last input of a conversation of 22 requests, and whether its last request does.
MATRIX: dict[str, tuple[Contexts, set[str], bool]] = {
    "Unbounded": (lambda _: UnboundedChatCompletionContext(), set(CHANNELS), True),
    "Buffered(10)": (lambda _: BufferedChatCompletionContext(10), {"system"}, True),
    "HeadAndTail(1, 6)": (
        lambda _: HeadAndTailChatCompletionContext(1, 6),
        {"system", "first user"},
        True,
    ),
    "HeadAndTail(3, 6)": (
        lambda _: HeadAndTailChatCompletionContext(3, 6),
        {"system", "first user", "tool"},
        True,
    ),
    "TokenLimited(400)": (
        lambda client: TokenLimitedChatCompletionContext(client, token_limit=400),
        set(CHANNELS),
        True,
    ),
    # Of the last two messages it takes out the second: the request itself.
    "TokenLimited(60)": (
        lambda client: TokenLimitedChatCompletionContext(client, token_limit=60),
        {"system", "first user"},
        False,
    ),
}


def pins() -> Registry:
    operator = Principal("operator")
    rules = Registry(operator)
    rules.pin(PINNED, by=operator)
    return rules


@pytest.mark.parametrize("pinned", [False, True], ids=["plain", "pinned"])
@pytest.mark.parametrize("row", MATRIX)
def test_the_matrix(row: str, pinned: bool) -> None:
    make, expected, asked = MATRIX[row]
    client = Recorder()
    context = make(client)
    context = PinnedContext(context, pins()) if pinned else context
    asyncio.run(converse(made(client, context), client))
    assert kept(client.texts[-1]) == expected
    assert ("Look at ticket 19." in client.texts[-1]) is asked
    assert [text.count(PINNED) for text in client.texts] == [pinned] * 23


def test_a_list_memory_is_put_into_the_context_anew_at_each_request() -> None:
    client = Recorder()
    memory = ListMemory(memory_contents=[MemoryContent(content=PINNED, mime_type="text/plain")])
    agent = made(client, BufferedChatCompletionContext(10), memory=[memory])
    asyncio.run(converse(agent, client))
    assert kept(client.texts[-1]) == {"system"}
    # Each copy takes a place in the buffer, so fewer requests stay.
    view = ["System", "Assistant", *["User", "System", "Assistant"] * 2, "User", "System"]
    assert [message.type.removesuffix("Message") for message in client.calls[-1]] == [
        "System",
        *view,
    ]
    assert client.texts[-1].count(PINNED) == 4
