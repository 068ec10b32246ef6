"""LangChain: create_agent with a middleware that keeps its context small.

``SummarizationMiddleware`` runs before the model is called and rewrites the
state: what it has summarised is gone, and the summary is in its place as a
message of the user's. ``ContextEditingMiddleware`` leaves the state alone and
clears old results of tools in each request.

================= ================================================================
mode              what keeps the context small
================= ================================================================
``summarization`` ``SummarizationMiddleware`` as it is by default, which shows its
                  summarizer no more than the last 4000 tokens
``no_trim``       the same with ``trim_tokens_to_summarize=None``
``clear_tools``   ``ContextEditingMiddleware`` with ``ClearToolUsesEdit``, which
                  keeps the last three results of tools
================= ================================================================
"""

from typing import Any

from langchain.agents import (
    create_agent,
)
from langchain.agents.middleware import (
    ClearToolUsesEdit,
    ContextEditingMiddleware,
    SummarizationMiddleware,
)
from langgraph.checkpoint.memory import InMemorySaver

from constraintrot.harnesses.langchain.pins import PinMiddleware
from constraintrot.harnesses.langchain_family import client
from constraintrot.harnesses.session import Say, Session, playing

# Messages that stay as they are behind a summary: the last two turns, about.
KEEP = 6


def _conversation(session: Session, mode: str) -> Say:
    middleware = [_manager(session, mode)] if session.compacts else []
    if session.pins is not None:
        middleware.append(PinMiddleware(session.pins))
    agent: Any = create_agent(
        client.agent(session),
        tools=client.tools(session),
        system_prompt=session.system,
        middleware=middleware,
        checkpointer=InMemorySaver(),
    )
    return client.said_to(agent)


def _manager(session: Session, mode: str) -> Any:
    if mode == "clear_tools":
        # A live agent may write less than the script has; half of that it will reach.
        half = session.size(client.approximately) // 2
        return ContextEditingMiddleware(edits=[ClearToolUsesEdit(trigger=half)])
    given: dict[str, Any] = {"trim_tokens_to_summarize": None} if mode == "no_trim" else {}
    return SummarizationMiddleware(
        client.summarizer(session),
        trigger=("messages", client.due(session)),
        keep=("messages", KEEP),
        **given,
    )


langchain = playing("langchain", _conversation)
