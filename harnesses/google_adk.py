"""Google's Agent Development Kit: an App with one of its two ways to compact a session's events.

A compaction is an event of the session that stands for others, which stay in the
session and are left out of what is sent. The agent's instruction is no event. Of a
tool's arguments and results the summarizer is shown the first 2,000 characters
each, so what stands later in them is lost unseen. A summary speaks as the model.

ADK reports a summarizer that failed as a warning and goes on with the whole
history; here the sample errors.

==================== ==========================================================
mode                 when it compacts
==================== ==========================================================
``sliding_window``   after each ``compaction_interval`` requests, and all of them;
                     the next summary does not replace it but stands behind it,
                     so what is sent begins with the model's words, twice
``token_threshold``  when what is sent grew to a size, all but the last events;
                     the next summary takes this one up, so there is one
==================== ==========================================================
"""

from __future__ import annotations

from typing import Any

from constraintrot.episode.episode import Episode
from constraintrot.evaluation.play_settings import PlaySettings
from constraintrot.harnesses import FRAMEWORK_HOOKS, Harness, Needs, Played, harness


@harness(
    "google_adk",
    hooks=FRAMEWORK_HOOKS,
    modes=("sliding_window", "token_threshold"),
    needs=(Needs("google-adk", "2.13", "3"),),
    extra="google-adk",
)
def google_adk(mode: str, live: bool) -> Harness:
    """Play an episode in an App whose events are compacted."""

    async def play(episode: Episode, plan: PlaySettings) -> Played:
        from constraintrot.harnesses.session import Session

        session = Session(episode, plan, live=live, distribution="google-adk")
        return await session.run(_conversation(session, mode))

    return play


def _conversation(session: Any, mode: str) -> Any:
    from google.adk.agents import LlmAgent
    from google.adk.apps import App
    from google.adk.plugins.base_plugin import BasePlugin
    from google.adk.runners import Runner
    from google.adk.sessions.in_memory_session_service import InMemorySessionService
    from google.genai import types

    from constraintrot.harnesses import _google_adk as ours

    plugins: list[BasePlugin] = []
    if session.pins is not None:
        from constraintrot.defenses.frameworks.google_adk import PinPlugin

        plugins.append(PinPlugin(session.pins))
    agent = LlmAgent(
        name="assistant",
        model=ours.SessionLlm(session=session, part="agent"),
        # As a function: of a text, ADK would fill in what stands in braces.
        instruction=lambda _: session.system,
        tools=list(ours.tools(session)),
    )
    app = App(
        name="constraintrot",
        root_agent=agent,
        plugins=plugins,
        events_compaction_config=ours.compaction(session, mode),
    )
    runner = Runner(app=app, session_service=InMemorySessionService(), auto_create_session=True)

    async def say(text: str) -> None:
        message = types.Content(role="user", parts=[types.Part(text=text)])
        async for _ in runner.run_async(user_id="user", session_id="episode", new_message=message):
            pass

    return say
