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
                           summary has the role of the assistant, so what is sent
                           does not begin with a request
``tool_result``            rewrites the results of tools as assistant messages;
                           requests and replies stay
``token_budget``           ``tool_result``, then ``sliding_window``, until a
                           budget is kept
========================== =====================================================
"""

from __future__ import annotations

from typing import Any

from agent_framework import Agent

from constraintrot.episode.episode import Episode
from constraintrot.evaluation.play_settings import PlaySettings
from constraintrot.harnesses import Harness, Played
from constraintrot.harnesses.agent_framework.client import SessionClient, strategy, tools
from constraintrot.harnesses.agent_framework.pins import pinned_client
from constraintrot.harnesses.session import Say, Session


def agent_framework(mode: str, live: bool) -> Harness:
    """Play an episode with an Agent that compacts by a strategy."""

    async def play(episode: Episode, settings: PlaySettings) -> Played:
        session = Session(episode, settings, live=live, distribution="agent-framework-core")
        return await session.run(_conversation(session, mode))

    return play


def _conversation(session: Session, mode: str) -> Say:
    compaction = strategy(session, mode) if session.compacts else None
    client = SessionClient(session, "agent")
    if session.pins is not None:
        client = pinned_client(client, session.pins)
    agent: Any = Agent(
        client=client,
        instructions=session.system,
        tools=tools(session),
        compaction_strategy=compaction,
    )
    thread = agent.create_session()

    async def say(text: str) -> None:
        await agent.run(text, session=thread)

    return say
