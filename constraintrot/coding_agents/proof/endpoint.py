"""A model that answers from a script, on this machine's loopback; every request is kept."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Any, Final

from constraintrot.coding_agents.proof.model_apis import (
    Answer,
    Call,
    Protocol,
    events,
    is_stream,
    protocol_of,
    whole,
)
from constraintrot.coding_agents.proof.wire import Said, said, tools_of

TURN: Final = "CHECK-TURN-"
"""What each of our turns begins with."""
SUMMARY: Final = "CHECK-SUMMARY of what was said"
"""What every summary says."""
# Each agent takes the part that it looks for.
_SUMMARY_TEXT: Final = (
    f"<analysis>short</analysis>\n<summary>{SUMMARY}.</summary>\n"
    f"<state_snapshot><overall_goal>{SUMMARY}.</overall_goal></state_snapshot>"
)
_SUMMARY_WORDS: Final = ("summar", "state_snapshot", "handoff", "checkpoint")
_USED: Final = 1000


@dataclass(frozen=True)
class Request:
    """A request for an answer.

    Attributes:
        said: its texts.
        tools: names of the tools on offer.
        summary: whether a summary was asked for.
    """

    said: tuple[Said, ...]
    tools: tuple[str, ...]
    summary: bool

    def roles_of(self, text: str) -> list[str]:
        """The roles that a text is in, whole.

        Angle brackets may be written as HTML has them: Gemini CLI does that to a hook's text.
        """
        sought = _plain(text)
        return [one.role for one in self.said if sought in _plain(one.text)]

    def verbatim(self, text: str) -> bool:
        """Whether a text is in it to the letter."""
        return any(text in one.text for one in self.said)


@dataclass
class Script:
    """What the endpoint does at each turn.

    Attributes:
        full: the turn at which the context is said to be full.
        used: tokens that it is then said to have.
        call: a tool that is called at that turn, for agents that compact within a turn only.
        requests: those so far.
    """

    full: str = ""
    used: int = _USED
    call: tuple[str, dict[str, Any]] | None = None
    requests: list[Request] = field(default_factory=list)
    _lock: Lock = field(default_factory=Lock)
    _done: bool = False

    def reply(self, protocol: Protocol, body: dict[str, Any]) -> Answer:
        """The answer to a request, which is kept."""
        texts, tools = said(protocol, body), tools_of(protocol, body)
        summary = _asks_for_summary(texts, tools)
        with self._lock:
            self.requests.append(Request(tuple(texts), tuple(tools), summary))
            if summary:
                # Some agents work out the new size from the summary's request.
                return _answer(body, _SUMMARY_TEXT, max(self.used, _USED))
            last = _last_user(texts)
            # Once: an agent that keeps the turn would compact for ever.
            if self.full and self.full in last and tools and not self._done:
                self._done = True
                return _answer(body, "ok.", self.used, self.call)
            return _answer(body, "ok.", _USED)


def _answer(
    body: dict[str, Any], text: str, used: int, call: tuple[str, dict[str, Any]] | None = None
) -> Answer:
    model = str(body.get("model") or "")
    if call is not None:
        return Answer("", [Call("call_1", *call)], used, model=model)
    if body.get("generationConfig", {}).get("responseMimeType") == "application/json":
        # Gemini CLI asks who is to speak next.
        text = json.dumps({"reasoning": text, "next_speaker": "user"})
    return Answer(text, (), used, max(1, len(text) // 4), model)


@contextmanager
def serving(script: Script) -> Iterator[int]:
    """The port of an endpoint that answers as long as this is held."""
    server = _Server(("127.0.0.1", 0), _Handler)
    server.script = script
    thread = Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _plain(text: str) -> str:
    return text.replace("&lt;", "<").replace("&gt;", ">")


def _last_user(texts: list[Said]) -> str:
    """The last text of the user's that holds a turn of ours, else the last one."""
    users = [one.text for one in texts if one.role == "user"]
    return next((text for text in reversed(users) if TURN in text), users[-1] if users else "")


def _asks_for_summary(texts: list[Said], tools: list[str]) -> bool:
    system = " ".join(one.text for one in texts if one.role in ("system", "instructions"))[:600]
    if "title" in system.lower():
        return False
    spoken = [at for at, one in enumerate(texts) if one.role in ("assistant", "tool")]
    newest = [one.text for one in texts[spoken[-1] + 1 if spoken else 0 :] if one.role == "user"]
    asked = any(word in text.lower() for text in newest for word in _SUMMARY_WORDS)
    # With the history as one text and without tools; or as one more message behind it.
    return asked and (not tools or not any(TURN in text for text in newest))


class _Server(ThreadingHTTPServer):
    script: Script
    daemon_threads = True


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: what is printed is the result."""

    def do_GET(self) -> None:
        self._send(404, {"error": {"message": "not here"}})

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_POST(self) -> None:
        protocol = protocol_of(self.path)
        try:
            body = json.loads(self._body() or b"{}")
        except ValueError:
            body, protocol = {}, None
        if protocol is None:
            counted = "count" in self.path.lower()
            self._send(200 if counted else 404, {"input_tokens": _USED, "totalTokens": _USED})
            return
        reply = self.server.script.reply(protocol, body)
        if is_stream(protocol, self.path, body):
            self._stream(events(protocol, reply))
        else:
            self._send(200, whole(protocol, reply))

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        parts = []
        while size := int(self.rfile.readline().split(b";")[0], 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(parts)

    def _send(self, status: int, value: dict[str, Any]) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _stream(self, lines: Iterator[tuple[str, str]]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        for name, data in lines:
            named = f"event: {name}\n" if name else ""
            self.wfile.write(f"{named}data: {data}\n\n".encode())
        self.wfile.flush()
