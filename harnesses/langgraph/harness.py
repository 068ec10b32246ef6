"""LangGraph: a StateGraph built by hand, with a node that keeps a summary as its memory.

The pattern of LangGraph's guide on summarization memory: a node summarises the older part
of a long history, keeps the summary in the state beside the messages, and removes the
summarised messages. The summary reaches the model in the system message.
"""

from typing import Any

from langchain_core.messages import BaseMessage, HumanMessage, RemoveMessage, SystemMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

from constraintrot.harnesses.langchain_family import client
from constraintrot.harnesses.langchain_family.message_pins import pinned
from constraintrot.harnesses.session import Say, Session, playing

# Newest messages that are not summarised.
KEEP = 4


class State(MessagesState):
    """The conversation, and the summary of what was removed from it."""

    summary: str


def _conversation(session: Session, mode: str) -> Say:
    tools = client.tools(session)
    model = client.agent(session).bind_tools(tools)

    async def call_model(state: State) -> dict[str, Any]:
        system = session.system
        if state.get("summary"):
            system += f"\n\nSummary of the conversation so far: {state['summary']}"
        sent: list[BaseMessage] = [SystemMessage(system), *state["messages"]]
        if session.pins is not None:
            sent = pinned(sent, session.pins)
        return {"messages": [await model.ainvoke(sent)]}

    graph: Any = StateGraph(State)
    graph.add_node("summarize", _memory(session))
    graph.add_node("call_model", call_model)
    graph.add_node("tools", ToolNode(tools))
    graph.add_edge(START, "summarize")
    graph.add_edge("summarize", "call_model")
    graph.add_conditional_edges("call_model", tools_condition)
    graph.add_edge("tools", "summarize")
    return client.said_to(graph.compile(checkpointer=InMemorySaver()))


def _memory(session: Session) -> Any:
    """Return the node that summarises all but the last messages of a long history."""
    writer = client.summarizer(session)
    limit = client.due(session) - 1

    async def summarize(state: dict[str, Any]) -> dict[str, Any]:
        messages = state["messages"]
        if not session.compacts or len(messages) <= limit:
            return {}
        # The kept part starts with a request, so every tool's result keeps its call.
        at = len(messages) - KEEP
        while at > 0 and messages[at].type != "human":
            at -= 1
        if at <= 0:
            return {}
        written = await writer.ainvoke([*messages[:at], HumanMessage(_ask(state.get("summary")))])
        gone = [RemoveMessage(id=message.id) for message in messages[:at]]
        return {"summary": written.text, "messages": gone}

    return summarize


def _ask(summary: str | None) -> str:
    if not summary:
        return "Write a summary of the conversation above:"
    return (
        f"This is a summary of the conversation so far: {summary}\n\n"
        "Extend it with the messages above:"
    )


langgraph = playing("langgraph", _conversation)
