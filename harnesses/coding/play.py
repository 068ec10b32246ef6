"""Play an episode in a coding agent, turn by turn, as a person drives it."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, cast

import anyio
from inspect_ai.util import concurrency

from constraintrot.episode.episode import Episode
from constraintrot.errors import EpisodeError
from constraintrot.evaluation.harness import HarnessFactory
from constraintrot.evaluation.play_settings import PlaySettings
from constraintrot.harnesses import Harness, Played
from constraintrot.harnesses.coding import install
from constraintrot.harnesses.coding.agent import Agent, Mode, Place
from constraintrot.harnesses.coding.box import Box, Command, opened
from constraintrot.harnesses.coding.endpoint import serve
from constraintrot.harnesses.coding.session import CodingSession

# Seconds that a turn may take, with the calls of slow models in it.
TURN = 900
_LEAST_AT_ONCE = 2


def playing(agent: Agent) -> HarnessFactory:
    """The harness of a coding agent."""

    def factory(mode: str, live: bool) -> Harness:
        async def play(episode: Episode, settings: PlaySettings) -> Played:
            installed = install.needed(agent.package)
            session = CodingSession(
                episode, settings, agent, installed.version, mode=cast(Mode, mode), live=live
            )
            async with _turn_to_run(), opened(settings.network) as box:
                place = Place(
                    box, installed, session.system, tuple(session.tools), session.threshold
                )
                place.write_tools()
                agent.prepare(place)
                async with serve(session, box.socket):
                    return await session.run(_Driver(session, place).say)

        return play

    return factory


@asynccontextmanager
async def _turn_to_run() -> AsyncIterator[None]:
    """Wait until the machine has room for one more agent."""
    at_once = max(_LEAST_AT_ONCE, os.cpu_count() or 1)
    async with cast(Any, concurrency("coding agents", at_once)):
        yield


class _Driver:
    """Says a conversation's requests to the agent, one after the other."""

    def __init__(self, session: CodingSession, place: Place) -> None:
        self._session, self._place = session, place

    async def say(self, text: str) -> None:
        """Have the agent answer a request; before the trigger it may have to compact."""
        session, agent = self._session, self._session.agent
        if session.turn == len(session.script) and session.compacts and session.mode == "manual":
            await self._run(agent.compact(self._place), "compaction")
        session.turn += 1
        first = session.turn == 1
        await self._run(agent.say(self._place, text, first=first), f"turn {session.turn}")

    async def _run(self, command: Command, what: str) -> None:
        session, box = self._session, self._place.box
        async with anyio.create_task_group() as group:
            group.start_soon(_end_at_fault, session, box)
            ended = await box.run(command, TURN)
            group.cancel_scope.cancel()
        if session.failed.is_set():
            return  # Which the session raises.
        if ended.late:
            raise EpisodeError(f"{session.agent.package.title} took more than {TURN} s for {what}")
        if ended.code != 0:
            raise EpisodeError(
                f"{session.agent.package.title} ended with {ended.code} in {what}: {ended.output}"
            )


async def _end_at_fault(session: CodingSession, box: Box) -> None:
    """End the agent where something went wrong, which it would try again for minutes."""
    await session.failed.wait()
    await box.end()
