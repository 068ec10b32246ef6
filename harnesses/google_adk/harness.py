"""Google's Agent Development Kit: an App with one of its two ways to compact a session's events.

A compaction is an event of the session that replaces others, which stay in the
session and are left out of what is sent. The agent's instruction is no event. Of a
tool's arguments and results the summarizer is shown the first 2,000 characters
each, so what comes later in them is lost unseen. A summary has the role of the model.

ADK reports a summarizer that failed as a warning and goes on with the whole
history; here the sample errors.

==================== ==========================================================
mode                 when it compacts
==================== ==========================================================
``sliding_window``   after each ``compaction_interval`` requests, and all of them;
                     the next summary does not replace it but follows it,
                     so what is sent begins with two messages of the model
``token_threshold``  when what is sent grew to a size, all but the last events;
                     the next summary takes this one up, so there is one
==================== ==========================================================
"""

from __future__ import annotations

from google.adk.agents import LlmAgent
from google.adk.apps import App
from google.adk.plugins.base_plugin import BasePlugin
from google.adk.runners import Runner
from google.adk.sessions.in_memory_session_service import InMemorySessionService
from google.genai import types

from constraintrot.episode.episode import Episode
from constraintrot.evaluation.play_settings import PlaySettings
from constraintrot.harnesses import Harness, Played
from constraintrot.harnesses.google_adk.client import SessionLlm, compaction, tools
from constraintrot.harnesses.google_adk.pins import PinPlugin
from constraintrot.harnesses.session import Say, Session


def google_adk(mode: str, live: bool) -> Harness:
    """Play an episode in an App whose events are compacted."""

    async def play(episode: Episode, settings: PlaySettings) -> Played:
        session = Session(episode, settings, live=live, distribution="google-adk")
        return await session.run(_conversation(session, mode))

    return play


def _conversation(session: Session, mode: str) -> Say:
    plugins: list[BasePlugin] = []
    if session.pins is not None:
        plugins.append(PinPlugin(session.pins))
    agent = LlmAgent(
        name="assistant",
        model=SessionLlm(session=session, part="agent"),
        # As a function: of a text, ADK would fill in what is in braces.
        instruction=lambda _: session.system,
        tools=list(tools(session)),
    )
    app = App(
        name="constraintrot",
        root_agent=agent,
        plugins=plugins,
        events_compaction_config=compaction(session, mode),
    )
    runner = Runner(app=app, session_service=InMemorySessionService(), auto_create_session=True)

    async def say(text: str) -> None:
        message = types.Content(role="user", parts=[types.Part(text=text)])
        async for _ in runner.run_async(user_id="user", session_id="episode", new_message=message):
            pass

    return say
