"""An OpenAI-compatible server on loopback that records what it was sent."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests import http_stub
from tests.http_stub import JSON, answering

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
    """A stub, on a free port.

    Inspect remembers a model by its name, with the address that it was made for. Where a
    later stub is at another one, such a model would ask the port that is gone, for ever.
    """
    stub = Stub()

    def answer(path: str, sent: bytes) -> http_stub.Answer:
        body = json.loads(sent)
        stub.requests.append(body)
        stub.paths.append(path)
        made = stub.answer(body)
        if isinstance(made, tuple):
            return made[0], JSON, json.dumps({"error": made[1]}).encode()
        if body.get("stream"):
            return 200, "text/event-stream", b"".join(_events(body, made))
        return 200, JSON, json.dumps(_completion(body, made)).encode()

    with pytest.MonkeyPatch.context() as patch, answering(answer) as url:
        patch.setattr("inspect_ai.model._model._models", {})
        stub.url = f"{url}/v1"
        yield stub


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
