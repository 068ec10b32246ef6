"""LangGraph: a memory of one's own, and the pin in graphs built by hand."""

import asyncio
import threading
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inspect_ai.model import get_model
from langchain_core.messages import AIMessage, BaseMessage, ChatMessage, HumanMessage, SystemMessage
from langchain_core.runnables import RunnableLambda
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langsmith.utils import tracing_is_enabled

from constraintrot.defenses.pinning.pinned_block import HEADING, PinnedBlock, Receipt
from constraintrot.defenses.rampart import Registry
from constraintrot.errors import ParameterError
from constraintrot.langgraph import pin_node, pinned
from tests.conftest import Run
from tests.harnesses.episodes import compacted, violated
from tests.harnesses.langchain_fakes import ASK, POLICY, Recorder, rules
from tests.harnesses.rules import OPERATOR
from tests.helpers import playing


def test_bulk_in_a_document_right_before_the_request_leaves_the_pin_and_the_roles(run: Run) -> None:
    attack = "volume:position=recent,channel=document"
    sample = compacted(run, harness="langgraph", defense="pin", attack=attack)
    assert sample.metadata["compaction_ran"]
    assert sample.metadata["roles_problem"] is None
    assert not violated(sample)


def test_an_environment_that_traces_is_not_told(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LANGSMITH_TRACING", "LANGCHAIN_TRACING_V2"):
        monkeypatch.setenv(name, "true")
    traced: list[bool] = []

    def answer(*_: Any) -> tuple[str, dict[str, Any]]:
        traced.append(bool(tracing_is_enabled()))
        return "decline", {"reason": "A policy."}

    agent = playing(answer)
    writes = get_model("scripted/summarizer-drop")
    compacted(run, harness="langgraph", model_roles={"agent": agent, "summarizer": writes})
    assert traced == [False]


THREAD: Any = {"configurable": {"thread_id": "1"}}


class State(MessagesState):
    to_send: list[Any]


def board(registry: Registry) -> PinnedBlock:
    return PinnedBlock(registry, report=lambda _: None)


def graph(model: Recorder, registry: Registry | PinnedBlock, **given: Any) -> Any:
    """A memory's node that sends the last three messages, the pin, the model."""

    def memory(state: State) -> dict[str, Any]:
        return {"to_send": [SystemMessage("Be brief."), *state["messages"][-3:]]}

    def call_model(state: State) -> dict[str, Any]:
        return {"messages": [model.invoke(state["to_send"])]}

    built = StateGraph(State)
    built.add_node("memory", memory)
    built.add_node("pin", pin_node(registry, key="to_send", **given))
    built.add_node("call_model", call_model)
    built.add_edge(START, "memory")
    built.add_edge("memory", "pin")
    built.add_edge("pin", "call_model")
    return built.compile(checkpointer=InMemorySaver())


def test_sync_async_and_streaming_runs_are_pinned() -> None:
    model = Recorder()
    agent = graph(model, rules())
    agent.invoke(ASK, THREAD)
    asyncio.run(agent.ainvoke(ASK, THREAD))
    assert list(agent.stream(ASK, THREAD, stream_mode="messages"))

    async def astream() -> list[Any]:
        return [chunk async for chunk in agent.astream(ASK, THREAD, stream_mode="messages")]

    assert asyncio.run(astream())
    assert len(model.calls) == 4
    for sent in model.calls:
        assert sent[0].text.startswith("Be brief.\n\n")
        assert "\n".join(message.text for message in sent).count(POLICY) == 1
    # The same bytes each time, so that a prefix cache keeps hitting.
    assert len({sent[0].text for sent in model.calls}) == 1


def test_an_async_run_pins_in_its_own_thread() -> None:
    threads: list[int] = []
    agent = graph(Recorder(), rules(), report=lambda _: threads.append(threading.get_ident()))
    asyncio.run(agent.ainvoke(ASK, THREAD))
    assert threads == [threading.get_ident()]


def test_a_graph_within_a_graph_has_a_pin_of_its_own() -> None:
    registry, inner, outer = rules(), Recorder(), Recorder()
    sub = graph(inner, registry)
    agent: Any = StateGraph(MessagesState)
    agent.add_node("sub", lambda state: {"messages": sub.invoke(state, THREAD)["messages"][-1:]})
    agent.add_node("call_model", lambda state: {"messages": [outer.invoke(state["messages"])]})
    agent.add_edge(START, "sub")
    agent.add_edge("sub", "call_model")
    compiled: Any = agent.compile()
    compiled.invoke(ASK)
    assert inner.said().count(POLICY) == 1
    # A node that has no pin before it sends none.
    assert POLICY not in outer.said()


def test_without_pins_nothing_changes() -> None:
    messages = [SystemMessage("Be brief."), HumanMessage("Hello")]
    empty = board(Registry(OPERATOR))
    assert pinned(messages, empty) == messages
    assert pinned(messages[1:], empty) == messages[1:]
    assert pinned([], empty) == []
    parts = [SystemMessage([{"type": "text", "text": "Be brief."}]), HumanMessage("Hello")]
    assert pinned(parts, empty) == parts


def test_a_context_without_a_system_message_gets_one() -> None:
    sent = pinned([HumanMessage("Hello")], board(rules()))
    assert [message.type for message in sent] == ["system", "human"]
    assert POLICY in sent[0].text
    assert [message.type for message in pinned([], board(rules()))] == ["system"]


def test_what_is_given_stays_as_it_is() -> None:
    messages = [SystemMessage("Be brief.", id="s"), HumanMessage("Hello", id="h")]
    sent = pinned(messages, board(rules()))
    assert [message.text for message in messages] == ["Be brief.", "Hello"]
    assert [message.id for message in sent] == ["s", "h"]


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=80)


@given(
    TEXTS,
    st.lists(TEXTS, max_size=3),
    st.lists(TEXTS.filter(str.strip), min_size=1, max_size=3, unique=True),
)
def test_the_block_stands_once_whatever_stands_there(
    text: str, others: list[str], policies: list[str]
) -> None:
    pins_of = board(rules(*policies))
    messages = [SystemMessage(text), *map(SystemMessage, others), HumanMessage("Hello")]
    once = pinned(messages, pins_of)
    assert "\n".join(message.text for message in once).count(pins_of.text.rstrip("\n")) == 1
    assert pinned(once, pins_of) == once
    assert [message.text for message in once[1:]] == [*others, "Hello"]


def test_earlier_revisions_go_wherever_the_framework_kept_them() -> None:
    registry = rules()
    (pin,) = registry.pins()
    old = board(registry).text
    registry.amend(pin.id, "Send email to nobody.", by=OPERATOR)
    sent = pinned(
        [
            SystemMessage(f"Be brief.\n\n{old}"),
            SystemMessage(f"So far: work.\n\n{old}"),
            SystemMessage([{"type": "text", "text": old}, {"type": "text", "text": "More."}]),
            HumanMessage(f"Look: {POLICY}"),
            AIMessage(old),
        ],
        board(registry),
    )
    assert [POLICY in message.text for message in sent] == [False, False, False, True, True]
    assert sent[1].text == "So far: work."
    assert sent[2].content == [{"type": "text", "text": "More."}]
    assert "Send email to nobody." in sent[0].text


def test_parts_of_a_system_message_keep_their_marks() -> None:
    marked: Any = {"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}
    pins_of = board(rules())
    once = pinned([SystemMessage([marked, "And kind."])], pins_of)
    content: Any = once[0].content
    *kept, block = content
    assert kept == [marked, "And kind."]
    assert isinstance(block, dict)
    assert block["text"] == pins_of.text.rstrip("\n")
    assert pinned(once, pins_of) == once


def test_receipts_say_what_was_done() -> None:
    found: list[Receipt] = []
    registry = rules()
    report = PinnedBlock(registry, report=found.append)
    contents: list[Any] = ["Be brief.", [{"type": "text", "text": "Be brief."}]]
    for content in contents:
        pinned(pinned([SystemMessage(content)], report), report)
    assert [receipt.state for receipt in found] == ["injected", "verified"] * 2
    assert {receipt.manifest for receipt in found} == {registry.manifest()}
    assert all(receipt.at == 0 and receipt.where == "call" for receipt in found)


def test_a_heading_and_a_board_are_taken() -> None:
    model = Recorder()
    graph(model, rules(), heading="Rules of the house:").invoke(ASK, THREAD)
    assert "Rules of the house: [" in model.said()
    assert HEADING not in model.said()
    found: list[Receipt] = []
    graph(model, PinnedBlock(rules(), report=found.append)).invoke(ASK, THREAD)
    assert len(found) == 1


def test_the_history_s_own_key_is_refused() -> None:
    with pytest.raises(ParameterError, match="store the pins in the history"):
        pin_node(rules(), key="messages")


def test_one_hook_runs_the_memory_s_node_and_keeps_all_that_it_writes() -> None:
    """Or a summary would be forgotten at each call, and written again at the next."""
    written: list[str] = []

    def memory(state: Any) -> dict[str, Any]:
        written.append(state.get("context", ""))
        return {"to_send": state["messages"], "context": "A summary."}

    node = pin_node(rules(), key="to_send", after=RunnableLambda(memory))
    first = node.invoke(ASK)
    second = asyncio.run(node.ainvoke({**ASK, **first}))
    assert written == ["", "A summary."]
    for update in (first, second):
        assert [POLICY in message.text for message in update["to_send"]] == [True, False]
        assert update["context"] == "A summary."


def test_a_node_that_is_not_given_its_key_says_what_to_do() -> None:
    built = StateGraph(MessagesState)
    built.add_node("pin", pin_node(rules(), key="to_send"))
    built.add_edge(START, "pin")
    with pytest.raises(ParameterError, match=r"not given 'to_send'.*input_schema="):
        built.compile().invoke(ASK)


@pytest.mark.parametrize(
    "system",
    [
        {"role": "system", "content": "Hi\n\n{}"},
        ("system", "Hi\n\n{}"),
        ("developer", "Hi\n\n{}"),
        {"role": "developer", "content": "Hi\n\n{}"},
        ChatMessage(role="developer", content="Hi\n\n{}"),
        ChatMessage(role="system", content="Hi\n\n{}"),
        SystemMessage("Hi\n\n{}"),
    ],
    ids=str,
)
def test_messages_of_any_form_lose_an_earlier_revision(system: Any) -> None:
    registry = rules()
    pins_of = board(registry)
    old = pins_of.text
    registry.amend(registry.pins()[0].id, "Send no email at all.", by=OPERATOR)

    def said(text: str) -> Any:
        if isinstance(system, tuple):
            return (system[0], text)
        if isinstance(system, dict):
            return {**system, "content": text}
        return system.model_copy(update={"content": text})

    sent = pinned([said(f"Hi\n\n{old}"), ("user", old)], pins_of)
    assert [message.text for message in sent] == [f"Hi\n\n{pins_of.text}", old]
    assert all(isinstance(message, BaseMessage) for message in sent)


def test_a_text_is_no_list_of_messages() -> None:
    """Its letters were sent, each a message."""
    with pytest.raises(TypeError, match="messages are a list"):
        pinned("hi", board(rules()))
