"""LangChain: create_agent with a middleware that keeps its context small.

``SummarizationMiddleware`` runs before the model is called and rewrites the
state: what it has summarised is gone, and the summary stands in its place as a
message of the user's. ``ContextEditingMiddleware`` leaves the state alone and
clears old results of tools in each request.
"""

from __future__ import annotations

from typing import Any

from constraintrot.episode.episode import Episode
from constraintrot.evaluation.play_settings import PlaySettings
from constraintrot.harnesses import FRAMEWORK_HOOKS, Harness, Needs, Played, harness

# Messages that stay as they are behind a summary: the last two turns, about.
KEEP = 6


@harness(
    "langchain",
    hooks=FRAMEWORK_HOOKS,
    modes=("summarization", "no_trim", "clear_tools"),
    needs=(Needs("langchain", "1.4.7", "2"), Needs("langgraph", "1.2.22", "2")),
    extra="langchain",
)
def langchain(mode: str, live: bool) -> Harness:
    """Play an episode with create_agent.

    The modes are ``SummarizationMiddleware`` as it is by default, which shows its
    summarizer no more than the last 4000 tokens; the same with
    ``trim_tokens_to_summarize=None``; and ``ContextEditingMiddleware`` with
    ``ClearToolUsesEdit``, which keeps the last three results of tools.
    """

    async def play(episode: Episode, plan: PlaySettings) -> Played:
        from constraintrot.harnesses.session import Session

        session = Session(episode, plan, live=live, distribution="langchain")
        return await session.run(_conversation(session, mode))

    return play


def _conversation(session: Any, mode: str) -> Any:
    from langchain.agents import (
        create_agent,  # pyright: ignore[reportUnknownVariableType]  # its generics are open
    )
    from langgraph.checkpoint.memory import InMemorySaver

    from constraintrot.harnesses import _langchain

    middleware = [_manager(session, mode)] if session.compacts else []
    if session.pins is not None:
        from constraintrot.defenses.frameworks.langchain import PinMiddleware

        middleware.append(PinMiddleware(session.pins))
    agent: Any = create_agent(
        _langchain.agent(session),
        tools=_langchain.tools(session),
        system_prompt=session.system,
        middleware=middleware,
        checkpointer=InMemorySaver(),
    )
    return _langchain.said_to(agent)


def _manager(session: Any, mode: str) -> Any:
    from langchain.agents.middleware import (
        ClearToolUsesEdit,
        ContextEditingMiddleware,
        SummarizationMiddleware,
    )

    from constraintrot.harnesses import _langchain

    if mode == "clear_tools":
        # A live agent may write less than the script has; half of that it will reach.
        half = session.size(_langchain.approximately) // 2
        return ContextEditingMiddleware(edits=[ClearToolUsesEdit(trigger=half)])
    given: dict[str, Any] = {"trim_tokens_to_summarize": None} if mode == "no_trim" else {}
    return SummarizationMiddleware(
        _langchain.summarizer(session),
        trigger=("messages", _langchain.due(session)),
        keep=("messages", KEEP),
        **given,
    )
