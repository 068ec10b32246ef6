"""LangChain: create_agent with a middleware that keeps its context small.

``SummarizationMiddleware`` runs before the model is called and rewrites the state: a user
message with the summary replaces the summarised messages. ``ContextEditingMiddleware``
does not change the state; it clears old results of tools in each request.

================= ================================================================
mode              the middleware
================= ================================================================
``summarization`` ``SummarizationMiddleware`` as it is by default, which shows its
                  summarizer no more than the last 4000 tokens
``no_trim``       the same with ``trim_tokens_to_summarize=None``
``clear_tools``   ``ContextEditingMiddleware`` with ``ClearToolUsesEdit``, which
                  keeps the last three results of tools
================= ================================================================
"""

from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import (
    ClearToolUsesEdit,
    ContextEditingMiddleware,
    SummarizationMiddleware,
)
from langgraph.checkpoint.memory import InMemorySaver

from constraintrot.harnesses.langchain.pins import PinMiddleware
from constraintrot.harnesses.langchain_family import client
from constraintrot.harnesses.session import Say, Session, playing

# Newest messages that are not summarised: about the last two turns.
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
        # Half of the script's size, which a live agent reaches too.
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
