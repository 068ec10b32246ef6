"""LangMem's SummarizationNode: what its summarizer sees, and where it never summarises."""

from __future__ import annotations

from typing import Any

import pytest
from inspect_ai.log import EvalSample
from langchain_core.messages import AnyMessage, HumanMessage, SystemMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

from constraintrot.defenses.rampart import Principal, Registry
from constraintrot.harnesses.langgraph.pins import pin_node
from constraintrot.harnesses.langmem.short_term import RunningSummary, SummarizationNode
from tests.conftest import Run
from tests.harnesses.episodes import compacted, error, kept_by_summarizer, violated
from tests.harnesses.langchain_fakes import Recorder, converse, say, tools
from tests.harnesses.rules import CHANNELS, FIRST_USER, LOSSY, PINNED, SYSTEM, kept


def shown(sample: EvalSample) -> list[bool]:
    """Whether the policy stood in what the summarizer was shown, call by call."""
    return [one["shown_verbatim"] for one in sample.metadata["rounds_run"]]


@pytest.mark.parametrize("channel", ["user", "tool"])
def test_by_default_the_first_turns_are_gone_before_the_summarizer_sees_them(
    shared_run: Run, channel: str
) -> None:
    lost = kept_by_summarizer(shared_run, "langmem:default", channel)
    assert shown(lost) == [False]
    assert violated(lost)
    seen = kept_by_summarizer(shared_run, "langmem:headroom", channel)
    assert shown(seen) == [True]
    assert not violated(seen)


@pytest.mark.parametrize("attack", ["inject_deprecation", "volume:position=recent,size=400"])
def test_the_room_for_the_summarizer_leaves_one_call_under_attack(run: Run, attack: str) -> None:
    sample = compacted(run, harness="langmem:headroom", defense="pin", attack=attack)
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
    why = error(run, harness="langmem", channel="system", distractors=50)
    assert "LangMem never summarises where the system message" in why


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
