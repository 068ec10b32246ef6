"""deepagents: create_deep_agent with its summarization, files and subagents.

Its summarization leaves the state's messages alone: each request is made of the
last summary, in a message of the user's, and what came after; what it evicted
is written to a file whose path the summary's message tells. The agent is
offered the framework's own tools beside the episode's, some 1,400 tokens of
them, and a live one can call them: read the file back, or hand a task to a
subagent, whose calls are the agent's model's too.
"""

from typing import Any

from deepagents import (
    create_deep_agent,
)
from deepagents.backends import StateBackend
from deepagents.middleware.summarization import SummarizationMiddleware
from langgraph.checkpoint.memory import InMemorySaver

from constraintrot.harnesses.deepagents.pins import PinMiddleware, pinned_subagents
from constraintrot.harnesses.langchain_family import client
from constraintrot.harnesses.session import Say, Session, playing

# Messages that stay as they are behind a summary, as it is set for a model of unknown size.
KEEP = 6


def _conversation(session: Session, mode: str) -> Say:
    backend = StateBackend()
    # Of the same name as its own, whose threshold no episode reaches, it takes that one's place.
    middleware = [_manager(session, backend)] if session.compacts else []
    subagents = None
    if session.pins is not None:
        pin = PinMiddleware(session.pins)
        subagents = pinned_subagents(pin, inherited=middleware)
        middleware = [*middleware, pin]
    agent: Any = create_deep_agent(
        client.agent(session),
        tools=client.tools(session),
        system_prompt=session.system,
        middleware=middleware,
        subagents=subagents,
        backend=backend,
        checkpointer=InMemorySaver(),
    )
    return client.said_to(agent)


def _manager(session: Session, backend: Any) -> Any:
    # What create_deep_agent makes has no trimming, unlike the constructor's default.
    return SummarizationMiddleware(
        client.summarizer(session),
        backend=backend,
        trigger=("messages", client.due(session)),
        keep=("messages", KEEP),
        trim_tokens_to_summarize=None,
    )


deepagents = playing("deepagents", _conversation)
