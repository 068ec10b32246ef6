"""The scripted models behind OpenAI's protocol: a model server for tests and demonstrations.

``python -m constraintrot.models.scripted.server --port 8000``, then
``--model openai-api/scripted/obedient``. It answers as the ``scripted`` provider does.

It also counts the savings of a prefix cache: ``cached_tokens`` of an answer is the part of the
prompt, message by message, that it shares with the start of one of the last ``--slots`` prompts.
This models a cache, to compare ways of spreading requests; it does not make answers faster.
"""

import argparse
import asyncio
import json
import threading
from collections import OrderedDict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal

from inspect_ai.model import GenerateConfig, ModelOutput, messages_from_openai
from inspect_ai.tool import ToolInfo

from constraintrot.episode.messages import message_texts
from constraintrot.models.scripted.agents import Scripted
from constraintrot.tokens import count

SLOTS = 8


class PrefixCache:
    """The last prompts of a server with so many slots, the latest last."""

    def __init__(self, slots: int = SLOTS) -> None:
        self._slots = slots
        self._prompts: OrderedDict[tuple[str, ...], None] = OrderedDict()
        self._lock = threading.Lock()

    def cached(self, texts: tuple[str, ...]) -> int:
        """Return the tokens of leading messages shared with a remembered prompt; remember this."""
        with self._lock:
            shared = max((_shared(texts, one) for one in self._prompts), default=0)
            self._prompts.pop(texts, None)
            self._prompts[texts] = None
            while len(self._prompts) > self._slots:
                self._prompts.popitem(last=False)
        return sum(map(count, texts[:shared]))


def _shared(a: tuple[str, ...], b: tuple[str, ...]) -> int:
    for at, (one, other) in enumerate(zip(a, b, strict=False)):
        if one != other:
            return at
    return min(len(a), len(b))


async def answer(body: dict[str, Any], cache: PrefixCache) -> dict[str, Any]:
    """Return a chat completion for a request's body."""
    name = str(body["model"]).rpartition("/")[2]
    messages = await messages_from_openai(body["messages"], name)
    tools = [
        ToolInfo.model_validate(
            {
                "name": tool["function"]["name"],
                "description": tool["function"].get("description") or "-",
                "parameters": tool["function"].get("parameters") or {},
            }
        )
        for tool in body.get("tools") or []
    ]
    chosen: Literal["none", "auto"] = "none" if body.get("tool_choice") == "none" else "auto"
    made = await Scripted(name).generate(messages, tools, chosen, GenerateConfig())
    return _completion(name, made, cache.cached(tuple(message_texts(messages))))


def _completion(name: str, made: ModelOutput, cached: int) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": made.message.text or None}
    if made.message.tool_calls:
        message["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.function, "arguments": json.dumps(call.arguments)},
            }
            for call in made.message.tool_calls
        ]
    usage = made.usage
    sent, wrote = (usage.input_tokens, usage.output_tokens) if usage else (0, 0)
    reason = "tool_calls" if made.message.tool_calls else "stop"
    return {
        "id": "chatcmpl-scripted",
        "object": "chat.completion",
        "created": 1,
        "model": name,
        "choices": [{"index": 0, "message": message, "finish_reason": reason}],
        "usage": {
            "prompt_tokens": sent,
            "completion_tokens": wrote,
            "total_tokens": sent + wrote,
            "prompt_tokens_details": {"cached_tokens": min(cached, sent)},
        },
    }


def server(port: int, slots: int = SLOTS, host: str = "") -> ThreadingHTTPServer:
    """Return a server that is not yet serving."""
    cache = PrefixCache(slots)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._send(200, {"status": "ok"})

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            try:
                self._send(200, asyncio.run(answer(body, cache)))
            except Exception as error:
                # The client gets the reason, and the server continues.
                self._send(400, {"error": {"message": f"{type(error).__name__}: {error}"}})

        def _send(self, status: int, content: dict[str, Any]) -> None:
            data = json.dumps(content).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: Any) -> None:
            """Write nothing to standard error."""

    made = ThreadingHTTPServer((host, port), Handler)
    made.daemon_threads = True
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description="The scripted models behind OpenAI's protocol.")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument(
        "--slots", type=int, default=SLOTS, help="Prompts that the cache remembers."
    )
    given = parser.parse_args()
    server(given.port, given.slots).serve_forever()


if __name__ == "__main__":
    main()
