"""Every framework's live agent: it is compacted amid its work, and pinned at each call."""

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from inspect_ai.log import EvalSample

from tests.conftest import Run
from tests.harnesses.episodes import compacted, violated
from tests.harnesses.live_agent import (
    PINNED,
    between_requests,
    between_tool_calls,
    delegated_between_tool_calls,
    evicted_between_tool_calls,
    in_a_tool_loop,
    left_with_system_messages,
    live_agent,
    model_events,
)
from tests.harnesses.modes import FRAMEWORKS

pytestmark = pytest.mark.early


class Live(NamedTuple):
    """A live agent in a mode that compacts amid its work.

    Attributes:
        amid: whether a compaction came where it is to come.
        tool_calls: how many calls the agent makes a request.
        given: other parameters of the task; a short history will not do everywhere.
        delegates: the agent hands a task to a subagent.
    """

    amid: Callable[[EvalSample], bool]
    tool_calls: int = 2
    given: dict[str, Any] = {}  # noqa: RUF012  # read only
    delegates: bool = False


LIVE = {
    "langgraph": Live(between_tool_calls, 3),
    "langmem:headroom": Live(left_with_system_messages, given={"context_tokens": 640}),
    "langchain": Live(between_tool_calls, given={"context_tokens": 800}),
    "deepagents": Live(delegated_between_tool_calls, given={"context_tokens": 800}, delegates=True),
    "autogen": Live(evicted_between_tool_calls, 3),
    "openai_agents:compaction": Live(between_requests, 1, {"channel": "tool"}),
    "agent_framework:summarization": Live(between_tool_calls),
    "google_adk:token_threshold": Live(between_tool_calls),
    "inspect_react": Live(in_a_tool_loop, 6, {"context_tokens": 500}),
}


def test_every_framework_has_a_live_agent() -> None:
    assert sorted(name.split(":")[0] for name in LIVE) == FRAMEWORKS


@pytest.mark.parametrize("harness", LIVE)
def test_a_live_agent_is_compacted_amid_its_work_and_pinned_at_each_call(
    run: Run, harness: str
) -> None:
    live = LIVE[harness]
    agent = live_agent(live.tool_calls, delegates=live.delegates)
    given = {"harness": f"{harness}:live", "model_roles": {"agent": agent}, "context_tokens": 300}
    # Its last act is a call too, as all that it does before.
    given |= {"decline_tool": True, **live.given}
    plain = compacted(run, **given)
    assert violated(plain)
    assert live.amid(plain)
    pinned = compacted(run, defense="pin", **given)
    assert not violated(pinned)
    assert live.amid(pinned)
    for event in model_events(pinned):
        text = "\n".join(message.text for message in event.input)
        assert text.count(PINNED) == (event.role != "summarizer")


@pytest.mark.parametrize(
    ("harness", "tool_calls"),
    [
        ("autogen:token_limited", 1),
        ("autogen:head_and_tail", 1),
        ("autogen:memory", 1),
        ("openai_agents:session_limit", 2),
        ("openai_agents:input_callback", 2),
        ("openai_agents:trimmer", 2),
        ("openai_agents:summary_input", 2),
    ],
)
def test_a_live_agent_in_other_modes(run: Run, harness: str, tool_calls: int) -> None:
    agent = {"agent": live_agent(tool_calls)}
    sample = compacted(run, harness=f"{harness}:live", defense="pin", model_roles=agent)
    assert sample.metadata["dropped"] > 0
    assert not violated(sample)


@pytest.mark.parametrize(
    "harness",
    [
        "agent_framework:truncation",
        "agent_framework:truncation_first_user",
        "agent_framework:token_budget",
        "google_adk:sliding_window",
        "google_adk:token_threshold",
    ],
)
def test_a_live_agent_that_calls_no_tool_is_compacted_too(run: Run, harness: str) -> None:
    agent = {"agent": live_agent(tool_calls=0)}
    assert violated(compacted(run, harness=f"{harness}:live", model_roles=agent))
