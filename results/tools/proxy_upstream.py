"""A model server on loopback that fails a tenth of the time and keeps what it received."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn

Send = Callable[[dict[str, Any]], Awaitable[None]]
TEXT = "Hello."
FAILURES = ((500, "internal"), (503, "overloaded"), (429, "rate limit"))


class Upstream:
    """Answers as OpenAI's, Anthropic's and Gemini's servers do, by the path.

    Attributes:
        url: where it is.
        received: paths and bodies, in order.
        failed: how many of them it answered with an error.
    """

    def __init__(self) -> None:
        self.url = ""
        self.received: list[tuple[str, dict[str, Any]]] = []
        self.failed = 0

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Send) -> None:
        """Answer one request; each tenth with an error."""
        content, more = b"", True
        while more:
            event = await receive()
            content += event.get("body", b"")
            more = event.get("more_body", False)
        path, body = str(scope["path"]), json.loads(content)
        self.received.append((path, body))
        fails = len(self.received) % 10 == 0
        # Long enough for the requests to overlap.
        await asyncio.sleep(0.05)
        if fails:
            status, why = FAILURES[self.failed % len(FAILURES)]
            self.failed += 1
            await _send(send, status, "application/json", json.dumps({"error": {"message": why}}))
        elif body.get("stream") and path.endswith("/chat/completions"):
            await _send(send, 200, "text/event-stream", _events())
        else:
            await _send(send, 200, "application/json", json.dumps(_answer(path)))


@contextmanager
def serving() -> Iterator[Upstream]:
    """An upstream, on a free port."""
    upstream = Upstream()
    listener = socket.create_server(("127.0.0.1", 0), backlog=2048)
    upstream.url = f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
    config = uvicorn.Config(upstream, log_level="error", lifespan="off")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    try:
        yield upstream
    finally:
        server.should_exit = True
        thread.join(30)


async def _send(send: Send, status: int, kind: str, text: str) -> None:
    headers = [(b"content-type", kind.encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": text.encode()})


def _answer(path: str) -> dict[str, Any]:
    if path.endswith(":generateContent"):
        part = {"content": {"role": "model", "parts": [{"text": TEXT}]}, "finishReason": "STOP"}
        return {"candidates": [part], "usageMetadata": {"totalTokenCount": 2}}
    if path.endswith("/messages"):
        usage = {"input_tokens": 1, "output_tokens": 1}
        said = {"content": [{"type": "text", "text": TEXT}], "stop_reason": "end_turn"}
        return {
            "id": "m",
            "type": "message",
            "role": "assistant",
            "model": "x",
            "usage": usage,
        } | said
    if path.endswith("/responses"):
        part = {"type": "output_text", "text": TEXT, "annotations": []}
        message = {"type": "message", "id": "m", "role": "assistant", "status": "completed"}
        usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
        made = {"id": "r", "object": "response", "created_at": 1, "status": "completed"}
        made |= {"model": "x", "output": [message | {"content": [part]}], "usage": usage}
        return made | {"parallel_tool_calls": True, "tool_choice": "auto", "tools": []}
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": TEXT},
        "finish_reason": "stop",
    }
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    made = {"id": "c", "object": "chat.completion", "created": 1, "model": "x", "usage": usage}
    return made | {"choices": [choice]}


def _events() -> str:
    base = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "x"}
    deltas: tuple[tuple[dict[str, str], str | None], ...] = (
        ({"role": "assistant", "content": TEXT}, None),
        ({}, "stop"),
    )
    choices = [{"index": 0, "delta": delta, "finish_reason": why} for delta, why in deltas]
    lines = [json.dumps({**base, "choices": [choice]}) for choice in choices]
    return "".join(f"data: {line}\n\n" for line in [*lines, "[DONE]"])
