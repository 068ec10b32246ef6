"""LangMem's SummarizationNode: what it keeps, what its summarizer sees, and the pin."""

from __future__ import annotations

from typing import Any

import pytest
from inspect_ai.log import EvalSample
from inspect_ai.model import get_model
from langchain_core.messages import AnyMessage, HumanMessage, SystemMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

from constraintrot.defenses.frameworks.langgraph import pin_node
from constraintrot.defenses.rampart import Principal, Registry
from constraintrot.harnesses._langmem import RunningSummary, SummarizationNode
from tests.conftest import Run
from tests.harnesses.episodes import compacted, violated
from tests.harnesses.langchain_fakes import Recorder, converse, say, tools
from tests.harnesses.live_agent import live_agent, model_events
from tests.harnesses.rules import CHANNELS, FIRST_USER, LOSSY, PINNED, SYSTEM, kept
from tests.helpers import by_condition, samples

ARMS = ["langmem", "langmem:headroom"]


def shown(sample: EvalSample) -> list[bool]:
    """Whether the policy stood in what the summarizer was shown, call by call."""
    return [one["shown_verbatim"] for one in sample.metadata["rounds_run"]]


@pytest.mark.parametrize("harness", ARMS)
def test_a_summary_loses_the_policy_and_the_pin_keeps_it(run: Run, harness: str) -> None:
    log = run("soft_email", harness=harness, variants=1)
    assert by_condition(log) == {"floor": 1, "control": 0, "compaction": 1}
    facts = samples(log)["compaction"][0].metadata
    assert facts["framework"].startswith("langmem 0.0.")
    assert facts["summarizer_calls"] == 1
    # The summary is a second system message, and what is left begins with the agent's reply
    # to the request that was summarised: a strict chat template takes neither.
    assert facts["summary_voice"] == "system"
    assert facts["roles"][:4] == ["system", "system", "assistant", "user"]
    assert facts["roles_problem"] == "a system message at 1, not at the start"
    pinned = compacted(run, harness=harness, defense="pin")
    assert not violated(pinned)
    # The pin adds no message of its own.
    assert pinned.metadata["roles"] == facts["roles"]


@pytest.mark.parametrize("channel", ["user", "tool"])
def test_by_default_the_first_turns_are_gone_before_the_summarizer_sees_them(
    run: Run, channel: str
) -> None:
    keeps = {"summarizer": get_model("scripted/summarizer-keep")}
    lost = compacted(run, harness="langmem", channel=channel, model_roles=keeps)
    assert shown(lost) == [False]
    assert violated(lost)
    seen = compacted(run, harness="langmem:headroom", channel=channel, model_roles=keeps)
    assert shown(seen) == [True]
    assert not violated(seen)
    assert seen.metadata["summarizer"] == "scripted/summarizer-keep"


@pytest.mark.parametrize(
    ("channel", "loses"), [("system", False), ("memory", True), ("tool", True)]
)
def test_all_but_the_system_message_is_lost_and_the_pin_keeps_it(
    run: Run, channel: str, loses: bool
) -> None:
    assert violated(compacted(run, harness="langmem", channel=channel)) is loses
    assert not violated(compacted(run, harness="langmem", channel=channel, defense="pin"))


@pytest.mark.parametrize(
    "given",
    [
        {"harness": "langmem", "context_tokens": 300},
        {"harness": "langmem:headroom", "context_tokens": 300, "channel": "tool"},
        {"harness": "langmem", "context_tokens": 1500},
        {"harness": "langmem:headroom", "attack": "inject_deprecation"},
        {"harness": "langmem", "attack": "volume"},
        {"harness": "langmem:headroom", "attack": "volume:position=recent,size=400"},
    ],
    ids=str,
)
def test_it_compacts_at_all_lengths_and_under_attack(run: Run, given: dict[str, Any]) -> None:
    sample = compacted(run, defense="pin", **given)
    assert sample.metadata["summarizer_calls"] == 1
    assert not violated(sample)


@pytest.mark.filterwarnings("ignore:Failed to trim messages:RuntimeWarning")
def test_bulk_right_before_the_request_is_summarised_with_all_before_it(run: Run) -> None:
    # One result above the limit: no request stands within the last max_tokens, and
    # LangMem falls back to showing everything.
    given = {"harness": "langmem", "attack": "volume:position=recent"}
    sample = compacted(run, **given)
    assert shown(sample) == [True]
    assert sample.metadata["roles"] == ["system", "system", "assistant", "user"]


def test_where_langmem_would_never_summarise_the_sample_says_so(run: Run) -> None:
    log = run(
        "soft_email",
        harness="langmem",
        variants=1,
        conditions="compaction",
        channel="system",
        distractors=50,
    )
    (sample,) = log.samples or []
    assert sample.error is not None
    assert "LangMem never summarises where the system message" in sample.error.message


def test_a_live_agent_is_compacted_between_its_tool_calls(run: Run) -> None:
    given: dict[str, Any] = {
        "harness": "langmem:headroom:live",
        "context_tokens": 500,
        "exercised": 0,
    }
    plain = compacted(run, **given, model_roles={"agent": live_agent()})
    assert violated(plain)
    # The request and the result that it waited for are summarised too, so that the
    # model is sent nothing but system messages.
    assert ["system", "system"] in amid_tool_calls(plain)
    sample = compacted(run, **given, defense="pin", model_roles={"agent": live_agent()})
    assert amid_tool_calls(sample)
    assert not violated(sample)
    for event in model_events(sample):
        text = "\n".join(message.text for message in event.input)
        # The summarizer's own calls are not pinned.
        assert text.count("Standing policies (pinned") == (event.role != "summarizer")


def amid_tool_calls(sample: EvalSample) -> list[list[str]]:
    """The roles that the agent was sent after each summary for which its tool call waited."""
    events = model_events(sample)
    return [
        [message.role for message in after.input]
        for before, event, after in zip(events, events[1:], events[2:], strict=False)
        if event.role == "summarizer" and before.output.message.tool_calls
    ]


# The node by itself.


class State(MessagesState):
    context: dict[str, Any]
    summarized_messages: list[AnyMessage]


def agent(model: Recorder, writer: Recorder, registry: Registry | None = None, **given: Any) -> Any:
    """A graph with a SummarizationNode, as LangMem's guide builds it, and the pin's node."""

    def call_model(state: State) -> dict[str, Any]:
        return {"messages": [model.invoke(state["summarized_messages"])]}

    settings: dict[str, Any] = {"max_tokens": 600, "max_summary_tokens": 64} | given
    graph = StateGraph(State)
    graph.add_node("summarize", SummarizationNode(model=writer, **settings))
    graph.add_node("call_model", call_model)
    graph.add_node("tools", ToolNode(tools()))
    graph.add_edge(START, "summarize")
    if registry is None:
        graph.add_edge("summarize", "call_model")
    else:
        graph.add_node("pin", pin_node(registry, key="summarized_messages"))
        graph.add_edge("summarize", "pin")
        graph.add_edge("pin", "call_model")
    graph.add_conditional_edges("call_model", tools_condition)
    graph.add_edge("tools", "summarize")
    serde = JsonPlusSerializer(allowed_msgpack_modules=[RunningSummary])
    return graph.compile(checkpointer=InMemorySaver(serde=serde))


def rules() -> Registry:
    operator = Principal("operator")
    registry = Registry(operator)
    registry.pin(PINNED, by=operator)
    return registry


# What stands in the last input of a long conversation whose summarizer tells of no rule.
MATRIX: dict[str, tuple[dict[str, Any], set[str]]] = {
    "never": ({"max_tokens": 10**6}, set(CHANNELS)),
    "default": ({}, {"system"}),
    "headroom": ({"max_tokens": 1200, "max_tokens_before_summary": 600}, {"system"}),
}


@pytest.mark.parametrize("case", MATRIX)
@pytest.mark.parametrize("pinned", [False, True])
def test_the_matrix_of_what_is_kept(case: str, pinned: bool) -> None:
    settings, channels = MATRIX[case]
    model, writer = Recorder(), Recorder(reply=LOSSY)
    compiled = agent(model, writer, rules() if pinned else None, **settings)
    _open(compiled)
    converse(compiled, model)
    assert kept(model.said()) == channels
    assert bool(writer.calls) == (case != "never")
    assert [said.count(PINNED) for said in map(model.said, range(len(model.calls)))] == [
        int(pinned)
    ] * len(model.calls)
    # Neither the summarizer nor the history ever sees the pin.
    assert PINNED not in writer.ever()
    history = compiled.get_state({"configurable": {"thread_id": "1"}}).values["messages"]
    assert PINNED not in "\n".join(message.text for message in history)
    assert FIRST_USER in "\n".join(message.text for message in history)


def _open(compiled: Any) -> None:
    compiled.update_state(
        {"configurable": {"thread_id": "1"}}, {"messages": [SystemMessage(SYSTEM)]}
    )


@pytest.mark.parametrize(("settings", "seen"), [("default", False), ("headroom", True)])
def test_what_the_first_summarizer_call_is_shown(settings: str, seen: bool) -> None:
    model, writer = Recorder(), Recorder(reply=LOSSY)
    compiled = agent(model, writer, **MATRIX[settings][0])
    converse(compiled, model)
    assert (FIRST_USER in writer.said(0)) is seen


def test_a_request_that_reaches_the_limit_is_summarised_itself() -> None:
    model, writer = Recorder(), Recorder(reply=LOSSY)
    compiled = agent(model, writer, rules(), **MATRIX["headroom"][0])
    say(compiled, model, "Read this: " + "work " * 600)
    assert [message.type for message in model.calls[-1]] == ["system"]
    # Without a system message of one's own, the pin stands behind the summary.
    assert LOSSY in model.said()
    assert model.said().count(PINNED) == 1


def test_a_long_system_message_keeps_langmem_from_ever_summarising() -> None:
    model, writer = Recorder(), Recorder(reply=LOSSY)
    compiled = agent(model, writer)
    first: Any = {"messages": [SystemMessage("Be brief. " * 300), HumanMessage("Hello")]}
    compiled.invoke(first, {"configurable": {"thread_id": "1"}})
    converse(compiled, model)
    assert not writer.calls
    assert FIRST_USER in model.said()
