"""A session of Inspect's behind the endpoint of a coding agent."""

from __future__ import annotations

from collections.abc import AsyncIterator
from concurrent.futures import Future
from contextlib import asynccontextmanager, suppress
from contextvars import Context, copy_context
from pathlib import Path
from typing import Protocol

import anyio
from anyio.from_thread import BlockingPortal
from inspect_ai.model import ChatMessageAssistant

from constraintrot.coding_agents.endpoint import serving
from constraintrot.coding_agents.wire.answers import Answer, Json
from constraintrot.coding_agents.wire.conversation import Request
from constraintrot.coding_agents.wire.messages import ModelRequest, Usage, answer_of
from constraintrot.tokens import count


class Answering(Protocol):
    """The source of a coding agent's model answers and tool results."""

    async def reply(self, request: ModelRequest) -> tuple[ChatMessageAssistant, Usage]:
        """The answer to a request, and the tokens that it is said to have taken."""
        ...

    def tool(self, name: str, arguments: Json) -> str:
        """Return the result of a tool call."""
        ...

    def broke(self, error: Exception) -> None:
        """Note an error that the agent could hide."""
        ...


@asynccontextmanager
async def serve(session: Answering, socket: Path) -> AsyncIterator[None]:
    """Answer the requests that come over a Unix socket, as a session says."""
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
    """The endpoint's threads on one side, the sample's task on the other."""

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
