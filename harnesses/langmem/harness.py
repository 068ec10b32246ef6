"""LangMem: its SummarizationNode before the model's node of a StateGraph.

The node does not change the history in the state. It writes the messages to send under its
own key: the leading system message, a summary as a second system message, and the messages
after the one that reached the limit. It keeps no number of last messages, so if a request
reaches the limit, the request itself is summarised.

The mode ``default`` leaves ``max_tokens_before_summary`` out, so the summarizer sees at most
the limit, and messages beyond it are cut from the start; with ``headroom`` the summarizer may
see twice the limit.
"""

from collections.abc import Iterator
from typing import Any

from langchain_core.messages import HumanMessage, SystemMessage
from langchain_core.messages.utils import count_tokens_approximately
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

from constraintrot.errors import EpisodeError
from constraintrot.harnesses.langchain_family import client
from constraintrot.harnesses.langgraph.pins import pin_node
from constraintrot.harnesses.langmem.short_term import RunningSummary, SummarizationNode
from constraintrot.harnesses.session import Say, Session, playing

# LangMem's default budget for a summary, reduced for a small context.
SUMMARY = 256
# Exchanges after the one that reaches the limit, if there are enough.
KEEP = 2
NEVER = 10**9


class State(MessagesState):
    """The whole conversation, and the messages to send."""

    context: dict[str, Any]
    summarized_messages: list[Any]


def _conversation(session: Session, mode: str) -> Say:
    tools = client.tools(session)
    model = client.agent(session).bind_tools(tools)

    async def call_model(state: State) -> dict[str, Any]:
        return {"messages": [await model.ainvoke(state["summarized_messages"])]}

    graph: Any = StateGraph(State)
    graph.add_node("summarize", _summarization(session, mode))
    graph.add_node("call_model", call_model)
    graph.add_node("tools", ToolNode(tools))
    graph.add_edge(START, "summarize")
    if session.pins is None:
        graph.add_edge("summarize", "call_model")
    else:
        graph.add_node("pin", pin_node(session.pins, key="summarized_messages"))
        graph.add_edge("summarize", "pin")
        graph.add_edge("pin", "call_model")
    graph.add_conditional_edges("call_model", tools_condition)
    graph.add_edge("tools", "summarize")
    serde = JsonPlusSerializer(allowed_msgpack_modules=[RunningSummary])
    compiled = graph.compile(checkpointer=InMemorySaver(serde=serde))
    return client.said_to(compiled, SystemMessage(session.system, id="system"))


def _summarization(session: Session, mode: str) -> Any:
    writer = client.summarizer(session)
    if not session.compacts:
        return SummarizationNode(model=writer, max_tokens=NEVER)
    limit = _limit(session)
    window = limit if mode == "default" else 2 * limit
    budget = min(SUMMARY, limit // 4)
    _check_system_fits(session, window - budget)
    # The node does not enforce the budget; as in LangMem's guide, the model does.
    model = writer.bind(max_tokens=budget)
    before = None if mode == "default" else limit
    return SummarizationNode(
        model=model,
        max_tokens=window,
        max_tokens_before_summary=before,
        max_summary_tokens=budget,
    )


def _check_system_fits(session: Session, limit: int) -> None:
    system = count_tokens_approximately([SystemMessage(session.system)])
    if system > limit:
        raise EpisodeError(
            f"LangMem never summarises where the system message ({system} tokens) and the"
            f" summary's budget do not fit under max_tokens, which leaves {limit}; give a larger"
            " context_tokens"
        )


def _limit(session: Session) -> int:
    """Return a limit that a late exchange reaches, and that the rest does not reach again.

    The agent's first message of that exchange reaches it, usually a tool call, so no request is
    summarised before it is answered. In the mode ``default`` this call and its result are the
    excess that the summarizer does not see. A live conversation may be shorter than its script
    and has a lower limit; if the trigger reaches it, LangMem summarises the trigger, and the
    sample errors.

    Returns:
        Tokens by LangMem's default counter.
    """
    count = count_tokens_approximately
    played = [[count([m]) for m in messages] for messages in client.script(session)]
    trigger = count([HumanMessage(session.trigger)])
    limits = list(_limits(played, trigger))
    limit = next((limit for limit, rest in limits if rest < limit), limits[-1][0])
    return 3 * limit // 4 if session.live else limit


def _limits(played: list[list[int]], trigger: int) -> Iterator[tuple[int, int]]:
    """Yield limits that a late exchange reaches, each with the tokens that follow.

    Each call of an exchange gives a limit: after an early call, a long rest could reach the
    limit again.
    """
    for at in range(max(0, len(played) - 1 - KEEP), len(played)):
        before, after = sum(map(sum, played[:at])), sum(map(sum, played[at + 1 :])) + trigger
        for said in range(1, len(played[at]), 2):
            # A call is summarised together with its result.
            gone = said + (2 if said + 1 < len(played[at]) else 1)
            yield before + sum(played[at][:said]) + 1, sum(played[at][gone:]) + after


langmem = playing("langmem", _conversation)
