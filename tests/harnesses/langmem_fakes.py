"""A graph with LangMem's SummarizationNode and the pin's node, in LangChain's conversation."""

from collections.abc import Callable
from typing import Any

from langchain_core.messages import AnyMessage, SystemMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

from constraintrot.defenses.rampart import Registry
from constraintrot.harnesses.langgraph.pins import pin_node
from constraintrot.harnesses.langmem.short_term import RunningSummary, SummarizationNode
from tests.harnesses.arms import EVERYTHING, SYSTEM_ONLY, Arm, Row, Seen
from tests.harnesses.langchain_fakes import ASK, Recorder, converse, in_turn, stored, tools
from tests.harnesses.rules import LOSSY, SYSTEM

THREAD: Any = {"configurable": {"thread_id": "1"}}


class State(MessagesState):
    context: dict[str, Any]
    summarized_messages: list[AnyMessage]


def agent_of(
    model: Recorder,
    writer: Recorder,
    rules: Registry | None = None,
    called: list[Any] | None = None,
    **given: Any,
) -> Any:
    """A graph with a SummarizationNode, as LangMem's guide builds it, and the pin's node."""

    def call_model(state: State) -> dict[str, Any]:
        return {"messages": [model.invoke(state["summarized_messages"])]}

    settings: dict[str, Any] = {"max_tokens": 600, "max_summary_tokens": 64} | given
    graph = StateGraph(State)
    graph.add_node("summarize", SummarizationNode(model=writer, **settings))
    graph.add_node("call_model", call_model)
    graph.add_node("tools", ToolNode(tools() if called is None else called))
    graph.add_edge(START, "summarize")
    if rules is None:
        graph.add_edge("summarize", "call_model")
    else:
        graph.add_node("pin", pin_node(rules, key="summarized_messages"))
        graph.add_edge("summarize", "pin")
        graph.add_edge("pin", "call_model")
    graph.add_conditional_edges("call_model", tools_condition)
    graph.add_edge("tools", "summarize")
    serde = JsonPlusSerializer(allowed_msgpack_modules=[RunningSummary])
    return graph.compile(checkpointer=InMemorySaver(serde=serde))


HEADROOM: dict[str, Any] = {"max_tokens": 1200, "max_tokens_before_summary": 600}
MATRIX = {
    "nothing": Row({"max_tokens": 10**6}, EVERYTHING),
    # By default the first turns are gone before the summarizer sees them.
    "default": Row({}, SYSTEM_ONLY, summaries=1, shown=frozenset()),
    "headroom": Row(HEADROOM, SYSTEM_ONLY, summaries=1, shown=EVERYTHING - SYSTEM_ONLY),
}


def play(given: dict[str, Any], rules: Registry | None, *, streamed: bool) -> Seen:
    model, writer = Recorder(), Recorder(reply=LOSSY)
    agent = agent_of(model, writer, rules, **given)
    agent.update_state(THREAD, {"messages": [SystemMessage(SYSTEM)]})
    converse(agent, model)
    return Seen(model.texts, stored(agent), writer.ever())


def in_a_loop(rules: Registry, called: list[Callable[[], str]]) -> list[str]:
    model = in_turn(called)
    agent_of(model, Recorder(), rules, called).invoke(ASK, THREAD)
    return model.texts


ARM = Arm(MATRIX, play, in_a_loop, streams=False)
