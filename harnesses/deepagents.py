"""deepagents: create_deep_agent with its summarization, files and subagents.

Its summarization leaves the state's messages alone: each request is made of the
last summary, in a message of the user's, and what came after; what it evicted
is written to a file whose path the summary's message tells. The agent is
offered the framework's own tools beside the episode's, some 1,400 tokens of
them, and a live one can call them: read the file back, or hand a task to a
subagent, whose calls are the agent's model's too.
"""

from __future__ import annotations

from typing import Any

from constraintrot.episode.episode import Episode
from constraintrot.evaluation.play_settings import PlaySettings
from constraintrot.harnesses import FRAMEWORK_HOOKS, Harness, Needs, Played, harness

# Messages that stay as they are behind a summary, as it is set for a model of unknown size.
KEEP = 6


@harness(
    "deepagents",
    hooks=FRAMEWORK_HOOKS,
    modes=("summarization",),
    needs=(Needs("deepagents", "0.7.32", "0.8"), Needs("langchain", "1.4.7", "2")),
    extra="deepagents",
)
def deepagents(mode: str, live: bool) -> Harness:
    """Play an episode with create_deep_agent."""

    async def play(episode: Episode, plan: PlaySettings) -> Played:
        from constraintrot.harnesses.session import Session

        session = Session(episode, plan, live=live, distribution="deepagents")
        return await session.run(_conversation(session))

    return play


def _conversation(session: Any) -> Any:
    from deepagents import (
        create_deep_agent,  # pyright: ignore[reportUnknownVariableType]  # its generics are open
    )
    from deepagents.backends import StateBackend
    from langgraph.checkpoint.memory import InMemorySaver

    from constraintrot.harnesses import _langchain

    backend = StateBackend()
    # Of the same name as its own, whose threshold no episode reaches, it takes that one's place.
    middleware = [_manager(session, backend)] if session.compacts else []
    subagents = None
    if session.pins is not None:
        from constraintrot.defenses.frameworks.deepagents import PinMiddleware, pinned_subagents

        pin = PinMiddleware(session.pins)
        subagents = pinned_subagents(pin, inherited=middleware)
        middleware = [*middleware, pin]
    agent: Any = create_deep_agent(
        _langchain.agent(session),
        tools=_langchain.tools(session),
        system_prompt=session.system,
        middleware=middleware,
        subagents=subagents,
        backend=backend,
        checkpointer=InMemorySaver(),
    )
    return _langchain.said_to(agent)


def _manager(session: Any, backend: Any) -> Any:
    from deepagents.middleware.summarization import SummarizationMiddleware

    from constraintrot.harnesses import _langchain

    # What create_deep_agent makes has no trimming, unlike the constructor's default.
    return SummarizationMiddleware(
        _langchain.summarizer(session),
        backend=backend,
        trigger=("messages", _langchain.due(session)),
        keep=("messages", KEEP),
        trim_tokens_to_summarize=None,
    )
