"""Microsoft's agent-framework: an Agent with one of the framework's compaction strategies.

Instructions travel beside the messages, and no strategy touches them. The rest is
compacted before each call, anew from the whole history, which is kept.

The framework reports a summarizer that failed, or wrote nothing, as a warning and
goes on with the whole history; here the sample errors.

========================== =====================================================
mode                       what it does with what is old
========================== =====================================================
``truncation``             leaves it out, oldest first
``truncation_first_user``  the same, and keeps the first request
                           (``preserve_first_user_group``): in an episode that
                           is the neutral one before the policy's
``sliding_window``         keeps the last groups
``summarization``          has it summarised in at most five sentences; the
                           summary speaks as the assistant, so what is sent does
                           not begin with a request
``tool_result``            puts the results of tools into the assistant's mouth;
                           requests and replies stay
``token_budget``           ``tool_result``, then ``sliding_window``, until a
                           budget is kept
========================== =====================================================
"""

from __future__ import annotations

from typing import Any

from constraintrot.episode.episode import Episode
from constraintrot.evaluation.play_settings import PlaySettings
from constraintrot.harnesses import FRAMEWORK_HOOKS, Harness, Needs, Played, harness


@harness(
    "agent_framework",
    hooks=FRAMEWORK_HOOKS,
    modes=(
        "truncation",
        "truncation_first_user",
        "sliding_window",
        "summarization",
        "tool_result",
        "token_budget",
    ),
    needs=(Needs("agent-framework-core", "1.23", "2"),),
    extra="agent-framework",
)
def agent_framework(mode: str, live: bool) -> Harness:
    """Play an episode with an Agent that compacts by a strategy."""

    async def play(episode: Episode, plan: PlaySettings) -> Played:
        from constraintrot.harnesses.session import Session

        session = Session(episode, plan, live=live, distribution="agent-framework-core")
        return await session.run(_conversation(session, mode))

    return play


def _conversation(session: Any, mode: str) -> Any:
    from agent_framework import Agent

    from constraintrot.harnesses import _agent_framework as ours

    strategy: Any = ours.strategy(session, mode) if session.compacts else None
    if session.pins is not None:
        from constraintrot.defenses.frameworks.agent_framework import PinnedStrategy

        strategy = PinnedStrategy(session.pins, strategy)
    agent: Any = Agent(
        client=ours.SessionClient(session, "agent"),
        instructions=session.system,
        tools=ours.tools(session),
        compaction_strategy=strategy,
    )
    thread = agent.create_session()

    async def say(text: str) -> None:
        await agent.run(text, session=thread)

    return say
