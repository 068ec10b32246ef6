"""Play an episode in a coding agent, turn by turn, with a session behind its endpoint."""

import os
from collections.abc import AsyncIterator
from concurrent.futures import Future
from contextlib import asynccontextmanager, suppress
from contextvars import Context, copy_context
from functools import partial
from pathlib import Path
from typing import Any, Protocol, cast

import anyio
from anyio.from_thread import BlockingPortal
from inspect_ai.model import ChatMessageAssistant
from inspect_ai.util import concurrency

from constraintrot.coding_agents.box import Box, background, opened
from constraintrot.coding_agents.catalogue import Mode
from constraintrot.coding_agents.drivers.agent import Agent, Dialogue, Place
from constraintrot.coding_agents.endpoint import serving
from constraintrot.coding_agents.install import Installed, needed
from constraintrot.coding_agents.wire.answers import Answer, Json
from constraintrot.coding_agents.wire.conversation import Request
from constraintrot.coding_agents.wire.messages import ModelRequest, Usage, answer_of
from constraintrot.episode.channels.file import PATHS, READ_FILE
from constraintrot.episode.episode import Episode
from constraintrot.errors import EpisodeError
from constraintrot.evaluation.harness import HarnessFactory
from constraintrot.evaluation.play_settings import PlaySettings
from constraintrot.harnesses import Harness, Played
from constraintrot.harnesses.coding import files
from constraintrot.harnesses.coding.files import install_pins
from constraintrot.harnesses.coding.session import CodingSession
from constraintrot.harnesses.session import Say
from constraintrot.tokens import count


class Answering(Protocol):
    """The source of a coding agent's model answers and tool results."""

    async def reply(self, request: ModelRequest) -> tuple[ChatMessageAssistant, Usage]: ...

    def tool(self, name: str, arguments: Json) -> str: ...

    def broke(self, error: Exception) -> None: ...


@asynccontextmanager
async def serve(session: Answering, socket: Path) -> AsyncIterator[None]:
    """Answer the requests at a Unix socket with a session's answers."""
    fault: Exception | None = None
    async with BlockingPortal() as portal:
        try:
            with serving(_Bridge(session, portal), socket):
                yield
        except Exception as error:
            # The portal's task group would wrap it.
            fault = error
        finally:
            with anyio.CancelScope(shield=True):
                await portal.stop(cancel_remaining=True)
    if fault is not None:
        raise fault


class _Bridge:
    """The bridge from the endpoint's threads to the sample's task."""

    def __init__(self, session: Answering, portal: BlockingPortal) -> None:
        self._session, self._portal = session, portal
        # Inspect keeps the sample, its models and its limits in context variables.
        self._context = copy_context()

    def _within(self) -> Context:
        return self._context.copy()

    def ask(self, request: Request) -> Future[Answer]:
        return self._within().run(self._portal.start_task_soon, self._reply, request)

    async def _reply(self, request: Request) -> Answer:
        reply, usage = await self._session.reply(ModelRequest.of(request))
        return answer_of(request, reply, usage)

    def size(self, body: Json) -> int:
        return count(str(body))

    def tool(self, name: str, arguments: Json) -> str:
        return self._within().run(self._portal.call, self._session.tool, name, arguments)

    def broke(self, error: Exception) -> None:
        with suppress(RuntimeError):  # The session may be over.
            self._portal.call(self._session.broke, error)


# Most seconds of a turn, including calls of slow models.
TURN = 900
_LEAST_AT_ONCE = 2


def playing(agent: Agent) -> HarnessFactory:
    """Return the factory of a coding agent's harness."""

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
                read = [m.text for turn in episode.standing for m in turn.messages[1:2]]
                files.write(episode.files, "\n".join(read), agent, place)
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
    # The agent reads files with its own tool; a scenario may have a tool of the same name.
    scenarios = {tool.name for tool in session.offered}
    tools = tuple(one for one in session.tools if one.name != READ_FILE or one.name in scenarios)
    reads = bool(PATHS.keys() & session.episode.files.keys())
    return Place(box, installed, session.system, tools, session.threshold, reads)


async def _started(session: CodingSession, place: Place) -> Say:
    """Start the agent, and return the function that sends it a request."""
    async with ended_at_fault(session.agent.package.title, session.failed):
        dialogue = await session.agent.start(place)
    return partial(_say, session, dialogue)


async def _say(session: CodingSession, dialogue: Dialogue, text: str) -> None:
    """Send the agent a request; in the mode ``manual``, make it compact first if that is due."""
    manual = session.compacts and session.mode == "manual"
    async with ended_at_fault(session.agent.package.title, session.failed):
        if manual and session.is_due:
            await dialogue.compact()
        session.turn += 1
        await dialogue.say(text)


@asynccontextmanager
async def ended_at_fault(title: str, failed: anyio.Event) -> AsyncIterator[None]:
    """Cancel the work at a fault, which the agent would retry for minutes, or at the time limit."""

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
