"""deepagents: create_deep_agent with its summarization, files and subagents.

Its summarization does not change the state's messages: each request has the last summary,
in a user message, and the messages after it. The evicted messages are written to a file, and
the summary's message names its path. The agent is offered the framework's own tools (some
1,400 tokens) beside the episode's. A live one can call them: read the file back, or hand a
task to a subagent, which uses the agent's model too.
"""

from typing import Any

from deepagents import create_deep_agent
from deepagents.backends import StateBackend
from deepagents.middleware.summarization import SummarizationMiddleware
from langgraph.checkpoint.memory import InMemorySaver

from constraintrot.harnesses.deepagents.pins import PinMiddleware, pinned_subagents
from constraintrot.harnesses.langchain_family import client
from constraintrot.harnesses.session import Say, Session, playing

# Newest messages that are not summarised: the setting for a model of unknown size.
KEEP = 6


def _conversation(session: Session, mode: str) -> Say:
    backend = StateBackend()
    # It replaces the framework's own of the same name, whose threshold no episode reaches.
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
    # As create_deep_agent sets it: without trimming, unlike the constructor's default.
    return SummarizationMiddleware(
        client.summarizer(session),
        backend=backend,
        trigger=("messages", client.due(session)),
        keep=("messages", KEEP),
        trim_tokens_to_summarize=None,
    )


deepagents = playing("deepagents", _conversation)
