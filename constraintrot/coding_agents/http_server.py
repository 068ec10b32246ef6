"""As much of an HTTP/1.1 server as a model endpoint on a Unix socket needs: one request a connection."""

from __future__ import annotations

import gzip
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeAlias

import anyio
from anyio.abc import SocketStream
from anyio.streams.buffered import BufferedByteReceiveStream

_MOST_HEAD = 1 << 16
_REASONS = {200: "OK", 400: "Bad Request", 404: "Not Found"}
_CLOSE = "Connection: close\r\n"


@dataclass(frozen=True)
class HttpRequest:
    """A request.

    Attributes:
        method: in capitals.
        path: without the query.
        query: the query; empty if there is none.
        body: the JSON object in it; empty if there is none.
    """

    method: str
    path: str
    query: str
    body: dict[str, Any]


class HttpResponse:
    """Writes the response to one request."""

    def __init__(self, stream: SocketStream) -> None:
        self._stream = stream

    async def json(self, what: Any, status: int = 200) -> None:
        """The whole response, as JSON."""
        data = json.dumps(what).encode()
        head = (
            f"HTTP/1.1 {status} {_REASONS[status]}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(data)}\r\n{_CLOSE}\r\n"
        )
        await self._stream.send(head.encode() + data)

    async def begin_events(self) -> None:
        """The head of a stream of events, which ends with the connection."""
        head = (
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
            f"Cache-Control: no-cache\r\n{_CLOSE}\r\n"
        )
        await self._stream.send(head.encode())

    async def event(self, data: str, name: str = "") -> None:
        """One event."""
        named = f"event: {name}\n" if name else ""
        await self._stream.send(f"{named}data: {data}\n\n".encode())

    async def comment(self) -> None:
        """A line that says nothing, so that nobody takes the connection for dead."""
        await self._stream.send(b": waiting\n\n")


Handler: TypeAlias = Callable[[HttpRequest, HttpResponse], Awaitable[None]]


def serving(handle: Handler) -> Callable[[SocketStream], Awaitable[None]]:
    """What to do with a connection: read a request, have it handled, and close."""

    async def serve(stream: SocketStream) -> None:
        async with stream:
            # The agent may go at any time.
            with suppress(anyio.BrokenResourceError, anyio.EndOfStream, anyio.IncompleteRead):
                await handle(await _read(stream), HttpResponse(stream))

    return serve


async def _read(stream: SocketStream) -> HttpRequest:
    buffered = BufferedByteReceiveStream(stream)
    head = (await buffered.receive_until(b"\r\n\r\n", _MOST_HEAD)).decode("latin-1")
    first, *lines = head.split("\r\n")
    method, target, _ = first.split(" ", 2)
    headers = {
        name.strip().lower(): value.strip()
        for name, _, value in (line.partition(":") for line in lines)
    }
    if headers.get("expect", "").lower() == "100-continue":
        await stream.send(b"HTTP/1.1 100 Continue\r\n\r\n")
    if "chunked" in headers.get("transfer-encoding", "").lower():
        data = b"".join([chunk async for chunk in _chunks(buffered)])
    else:
        data = await buffered.receive_exactly(int(headers.get("content-length") or 0))
    if headers.get("content-encoding", "").lower() == "gzip":
        data = gzip.decompress(data)
    path, _, query = target.partition("?")
    try:
        body = json.loads(data or b"{}")
    except ValueError:
        body = {}
    return HttpRequest(method.upper(), path, query, body if isinstance(body, dict) else {})


async def _chunks(buffered: BufferedByteReceiveStream) -> AsyncIterator[bytes]:
    while size := int((await buffered.receive_until(b"\r\n", 64)).split(b";")[0], 16):
        yield await buffered.receive_exactly(size)
        await buffered.receive_exactly(2)
    await buffered.receive_until(b"\r\n", _MOST_HEAD)
