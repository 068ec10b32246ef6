"""The model endpoint that a coding agent talks to, on this machine's loopback or a Unix socket.

One thread per connection, with the standard library only: a pin's proof runs without Inspect.
"""

import gzip
import json
import socketserver
import zlib
from collections.abc import Iterator, Mapping
from concurrent.futures import CancelledError, Future, wait
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from threading import Thread
from typing import Any, Final, Protocol, cast

from constraintrot.coding_agents.wire.answers import (
    Answer,
    Json,
    WindowFullError,
    events,
    is_stream,
    protocol_of,
    whole,
)
from constraintrot.coding_agents.wire.conversation import Request, read

# Seconds between the keep-alive lines of a stream.
_PATIENCE: Final = 15
_POLL: Final = 0.02
_MODEL: Final = {"id": "constraintrot", "object": "model", "type": "model"}
_EVENTS: Final = {"Content-Type": "text/event-stream"}
_NOT_HERE: Final = {"error": {"type": "not_found_error", "message": "not here"}}


class Model(Protocol):
    """The model behind an endpoint; it must be safe to call from several threads."""

    def ask(self, request: Request) -> Future[Answer]: ...

    def size(self, body: Json) -> int:
        """Return the number of tokens of a request."""
        ...

    def tool(self, name: str, arguments: Json) -> str:
        """Return the result of a call of the scenario's tools."""
        ...

    def broke(self, error: Exception) -> None:
        """Record an error that the agent could hide."""
        ...


@contextmanager
def serving(model: Model, socket: Path | None = None) -> Iterator[int]:
    """Answer requests within this context, which gives the port, or 0 for a Unix socket."""
    server = (
        _TcpServer(("127.0.0.1", 0), _Handler)
        if socket is None
        else _UnixServer(str(socket), _Handler)
    )
    port = int(cast(Any, server.server_address)[1]) if socket is None else 0
    server.model = model
    with server:
        thread = Thread(target=server.serve_forever, args=(_POLL,), daemon=True)
        thread.start()
        try:
            yield port
        finally:
            server.shutdown()
            thread.join()


class _TcpServer(socketserver.ThreadingTCPServer):
    model: Model
    daemon_threads = True


class _UnixServer(socketserver.ThreadingUnixStreamServer):
    model: Model
    daemon_threads = True


class _Handler(BaseHTTPRequestHandler):
    """One request a connection."""

    protocol_version = "HTTP/1.1"

    @property
    def _model(self) -> Model:
        return cast("_TcpServer", self.server).model

    def log_message(self, format: str, *args: Any) -> None:
        """Print nothing: standard error is the command's own."""

    def handle(self) -> None:
        with suppress(OSError):  # The agent may go at any time.
            super().handle()

    def do_GET(self) -> None:
        if self.path.partition("?")[0].endswith("/models"):
            self._send({"object": "list", "data": [_MODEL], "models": []})
        else:
            self._send(_NOT_HERE, 404)

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_POST(self) -> None:
        try:
            self._answer(self.path.partition("?")[0], self._data())
        except (OSError, CancelledError):
            self.close_connection = True
        except WindowFullError as full:
            self._send(full.body, 400)
        except Exception as error:
            # The model has the error; status 400 keeps the agent from retrying.
            self._model.broke(error)
            self._send({"error": {"type": "api_error", "message": str(error)}}, 400)

    def _answer(self, path: str, data: bytes) -> None:
        protocol, counted = protocol_of(path), path.endswith(("count_tokens", ":countTokens"))
        if not protocol and not counted and path != "/tool":
            self._send(_NOT_HERE, 404)
            return
        body = self._json(data)
        if path == "/tool":
            self._send({"text": self._model.tool(body["name"], body["arguments"])})
        elif protocol is not None:
            pending = self._model.ask(read(protocol, body))
            if is_stream(protocol, path, body):
                answer = self._patiently(pending)
                for name, told in events(protocol, answer):
                    named = f"event: {name}\n" if name else ""
                    self.wfile.write(f"{named}data: {told}\n\n".encode())
            else:
                self._send(whole(protocol, pending.result()))
        else:
            size = self._model.size(body)
            self._send({"input_tokens": size, "totalTokens": size})

    def _patiently(self, pending: Future[Answer]) -> Answer:
        """Return an answer for a stream, which is kept alive while a slow model thinks."""
        begun = False
        while not wait([pending], _PATIENCE).done:
            if not begun:
                self._head(200, _EVENTS)
            begun = True
            self.wfile.write(b": waiting\n\n")
        answer = pending.result()
        if not begun:
            self._head(200, _EVENTS)
        return answer

    def _data(self) -> bytes:
        if "chunked" in self.headers.get("Transfer-Encoding", "").lower():
            return b"".join(self._chunks())
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def _json(self, data: bytes) -> Json:
        """Return a body; an unreadable one must not count as an empty conversation."""
        coding = self.headers.get("Content-Encoding", "").lower()
        try:
            body = json.loads((gzip.decompress(data) if coding == "gzip" else data) or b"{}")
        except (OSError, EOFError, zlib.error, ValueError) as error:
            raise ValueError(f"a request cannot be read ({coding} {error})") from None
        if not isinstance(body, dict):
            raise ValueError("a request is no JSON object")
        return body

    def _chunks(self) -> Iterator[bytes]:
        while size := int(self.rfile.readline().split(b";")[0], 16):
            yield self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()

    def _head(self, status: int, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        for name, value in {**headers, "Connection": "close"}.items():
            self.send_header(name, value)
        self.end_headers()
        self.close_connection = True

    def _send(self, value: Json, status: int = 200) -> None:
        data = json.dumps(value).encode()
        self._head(status, {"Content-Type": "application/json", "Content-Length": str(len(data))})
        self.wfile.write(data)
