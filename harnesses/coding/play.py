"""Play an episode in a coding agent, turn by turn, as a person drives it."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, cast

import anyio
from inspect_ai.util import concurrency

from constraintrot.coding_agents.answering import serve
from constraintrot.coding_agents.box import Box, background, opened
from constraintrot.coding_agents.catalogue import Mode
from constraintrot.coding_agents.drivers.agent import Agent, Dialogue, Place
from constraintrot.coding_agents.install import Installed, needed
from constraintrot.episode.channels.file import READ_FILE
from constraintrot.episode.episode import Episode
from constraintrot.errors import EpisodeError
from constraintrot.evaluation.harness import HarnessFactory
from constraintrot.evaluation.play_settings import PlaySettings
from constraintrot.harnesses import Harness, Played
from constraintrot.harnesses.coding import files
from constraintrot.harnesses.coding.files import install_pins
from constraintrot.harnesses.coding.session import CodingSession
from constraintrot.harnesses.session import Say

# Seconds that a turn may take, with the calls of slow models in it.
TURN = 900
_LEAST_AT_ONCE = 2


def playing(agent: Agent) -> HarnessFactory:
    """The harness of a coding agent."""

    def factory(mode: str, live: bool) -> Harness:
        async def play(episode: Episode, settings: PlaySettings) -> Played:
            installed = needed(agent.package)
            session = CodingSession(
                episode, settings, agent, installed.version, mode=cast("Mode", mode), live=live
            )
            async with _turn_to_run(), opened(settings.network) as box:
                place = _place(session, box, installed)
                if place.reads_files:
                    session.reading = files.Reading(agent, box.work)
                files.write(episode, agent, place)
                place.write_tools()
                agent.prepare(place)
                if session.pins is not None:
                    session.pinned = install_pins(session.pins, agent, place)
                async with serve(session, box.socket):
                    return await session.run(await _started(session, place))

        return play

    return factory


@asynccontextmanager
async def _turn_to_run() -> AsyncIterator[None]:
    """Wait until the machine has room for one more agent."""
    at_once = max(_LEAST_AT_ONCE, os.cpu_count() or 1)
    async with cast("Any", concurrency("coding agents", at_once)):
        yield


def _place(session: CodingSession, box: Box, installed: Installed) -> Place:
    # The agent reads files by a tool of its own; a scenario may have one of the same name.
    scenarios = {tool.name for tool in session.offered}
    tools = tuple(one for one in session.tools if one.name != READ_FILE or one.name in scenarios)
    reads = files.read_in(session.episode)
    return Place(box, installed, session.system, tools, session.threshold, reads)


async def _started(session: CodingSession, place: Place) -> Say:
    """Start the agent; what has it answer a request."""
    async with ended_at_fault(session.agent.package.title, session.failed):
        dialogue = await session.agent.start(place)
    return partial(_say, session, dialogue)


async def _say(session: CodingSession, dialogue: Dialogue, text: str) -> None:
    """Have the agent answer a request; before the trigger it may have to compact."""
    manual = session.compacts and session.mode == "manual"
    async with ended_at_fault(session.agent.package.title, session.failed):
        if manual and session.is_due:
            await dialogue.compact()
        session.turn += 1
        await dialogue.say(text)


@asynccontextmanager
async def ended_at_fault(title: str, failed: anyio.Event) -> AsyncIterator[None]:
    """Stop where something went wrong, which the agent would try again for minutes, or late."""

    async def watch(scope: anyio.CancelScope) -> None:
        await failed.wait()
        scope.cancel()

    try:
        with anyio.fail_after(TURN):
            async with background() as group:
                group.start_soon(watch, group.cancel_scope)
                yield
    except TimeoutError as error:
        raise EpisodeError(f"{title} took more than {TURN} s for a turn") from error
