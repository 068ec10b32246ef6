"""An OpenAI-compatible server on loopback that records what it was sent."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = Callable[[dict[str, Any]], dict[str, Any] | tuple[int, dict[str, Any]]]


class Stub:
    """The server's address, and the bodies that it was sent.

    Attributes:
        requests: bodies of requests, in order.
        paths: their paths.
        answer: makes the assistant's message of a body, or a status and an error.
    """

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        self.paths: list[str] = []
        self.answer: Answer = lambda _: {"content": "Hello."}
        self.url = ""

    def say(self, text: str) -> None:
        """Answer everything with a text."""
        self.answer = lambda _: {"content": text}


@contextmanager
def serving() -> Iterator[Stub]:
    """A stub, on a free port."""
    stub = Stub()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:  # the base class calls it so
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            stub.requests.append(body)
            stub.paths.append(self.path)
            made = stub.answer(body)
            if isinstance(made, tuple):
                self._send(made[0], "application/json", json.dumps({"error": made[1]}).encode())
            elif body.get("stream"):
                self._send(200, "text/event-stream", b"".join(_events(body, made)))
            else:
                self._send(200, "application/json", json.dumps(_completion(body, made)).encode())

        def _send(self, status: int, kind: str, content: bytes) -> None:
            self.send_response(status)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: Any) -> None:
            """Nothing on standard error."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    stub.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield stub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def tool_call(name: str, arguments: str) -> dict[str, Any]:
    """A message that calls a tool, with its arguments as they are written."""
    call = {"id": "call_1", "type": "function", "function": {"name": name, "arguments": arguments}}
    return {"content": None, "tool_calls": [call]}


def _completion(body: dict[str, Any], message: dict[str, Any]) -> dict[str, Any]:
    reason = "tool_calls" if message.get("tool_calls") else "stop"
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": body.get("model", "upstream"),
        "choices": [
            {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": reason}
        ],
        "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18},
    }


def _events(body: dict[str, Any], message: dict[str, Any]) -> Iterator[bytes]:
    base = {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": body.get("model", "upstream"),
    }
    deltas: list[tuple[dict[str, Any], str | None]] = [
        ({"role": "assistant", **message}, None),
        ({}, "stop"),
    ]
    for delta, reason in deltas:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        yield f"data: {json.dumps({**base, 'choices': [choice]})}\n\n".encode()
    yield b"data: [DONE]\n\n"
