"""The model endpoint of a coding agent: its requests on one side, a session on the other."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Protocol

import anyio
from inspect_ai.model import ChatMessageAssistant

from constraintrot.coding_agents.background import background
from constraintrot.coding_agents.http_server import HttpRequest, HttpResponse, serving
from constraintrot.coding_agents.proof.model_apis import (
    Json,
    events,
    is_stream,
    protocol_of,
    whole,
)
from constraintrot.coding_agents.proof.model_apis import Protocol as ModelApi
from constraintrot.coding_agents.wire import anthropic, chat, gemini, responses
from constraintrot.coding_agents.wire.common import Request, Usage, answer_of
from constraintrot.tokens import count

# Seconds after which a stream says that it is still there.
_PATIENCE = 15
_READ: Mapping[ModelApi, Callable[[Json, bool], Request]] = {
    "messages": anthropic.read,
    "responses": responses.read,
    "chat": chat.read,
    "gemini": gemini.read,
}
_MODEL = {"id": "constraintrot", "object": "model", "type": "model", "owned_by": "constraintrot"}


class Answering(Protocol):
    """What answers an agent's requests, its model's and its tools'."""

    async def reply(self, request: Request) -> tuple[ChatMessageAssistant, Usage]:
        """The answer to a request, and the tokens that it is said to have taken."""
        ...

    def tool(self, name: str, arguments: dict[str, Any]) -> str:
        """What a tool returns."""
        ...

    def broke(self, error: Exception) -> None:
        """Note an error that the agent could hide."""
        ...


@asynccontextmanager
async def serve(session: Answering, socket: Path) -> AsyncIterator[None]:
    """Answer the requests that come over a Unix socket, as a session says."""

    async def handle(request: HttpRequest, response: HttpResponse) -> None:
        try:
            await _handle(session, request, response)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            raise
        except Exception as error:
            # The session knows; the agent is told what no agent takes for a reason to try again.
            session.broke(error)
            await response.json({"error": {"type": "api_error", "message": str(error)}}, 400)

    listener = await anyio.create_unix_listener(socket)
    async with listener, background() as group:
        group.start_soon(listener.serve, serving(handle))
        yield


async def _handle(session: Answering, request: HttpRequest, response: HttpResponse) -> None:
    path, body = request.path, request.body
    if path == "/tool":
        await response.json({"text": session.tool(body["name"], body["arguments"])})
    elif path.endswith("/models"):
        await response.json({"object": "list", "data": [_MODEL], "models": []})
    elif path.endswith(("count_tokens", ":countTokens")):
        size = count(str(body))
        await response.json({"input_tokens": size, "totalTokens": size})
    elif request.method == "POST" and (protocol := protocol_of(path)) is not None:
        await _answer(session, protocol, request, response)
    else:
        await response.json({"error": {"type": "not_found_error", "message": "not here"}}, 404)


async def _answer(
    session: Answering, protocol: ModelApi, request: HttpRequest, response: HttpResponse
) -> None:
    stream = is_stream(protocol, request.path, request.body)
    asked = _READ[protocol](request.body, stream)
    if not stream:
        answer = answer_of(asked, *await session.reply(asked))
        await response.json(whole(protocol, answer))
        return
    answer = answer_of(asked, *await _patiently(session, asked, response))
    for name, data in events(protocol, answer):
        await response.event(data, name)


async def _patiently(
    session: Answering, asked: Request, response: HttpResponse
) -> tuple[ChatMessageAssistant, Usage]:
    """A reply for a stream, which is kept alive while a slow model thinks."""
    answers: list[tuple[ChatMessageAssistant, Usage]] = []
    faults: list[Exception] = []
    begun = False

    async def reply() -> None:
        try:
            answers.append(await session.reply(asked))
        except Exception as error:
            faults.append(error)
        done.set()

    done = anyio.Event()
    async with anyio.create_task_group() as group:
        group.start_soon(reply)
        while not done.is_set():
            with anyio.move_on_after(_PATIENCE):
                await done.wait()
            if not done.is_set():
                if not begun:
                    await response.begin_events()
                    begun = True
                await response.comment()
    if faults:
        raise faults[0]
    if not begun:
        await response.begin_events()
    return answers[0]
