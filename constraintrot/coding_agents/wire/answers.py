"""The four model APIs of coding agents: the API of a request, and the form of an answer.

Anthropic's messages, OpenAI's responses and chat completions, and Gemini's generateContent,
each whole or as a stream.
"""

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, Final, Literal, TypeAlias
from uuid import uuid4

Protocol: TypeAlias = Literal["messages", "responses", "chat", "gemini"]
Json: TypeAlias = dict[str, Any]


@dataclass(frozen=True)
class Call:
    id: str
    name: str
    arguments: Json
    space: str = ""


@dataclass(frozen=True)
class Answer:
    """An answer of a model, with the token usage to report."""

    text: str  # empty if there are only calls
    calls: Sequence[Call] = ()
    input: int = 0
    output: int = 1
    model: str = ""

    @property
    def total(self) -> int:
        return self.input + self.output


class WindowFullError(Exception):
    """The refusal of a request as longer than the model's window."""

    def __init__(self) -> None:
        # Agents recognise the refusal by these words.
        super().__init__(
            "This model's maximum context length is exceeded. Please reduce the length of the"
            " messages."
        )

    @property
    def body(self) -> Json:
        code, kind = "context_length_exceeded", "invalid_request_error"
        return {"error": {"type": kind, "code": code, "message": str(self)}}


def protocol_of(path: str) -> Protocol | None:
    """Return the API of a request's path; None for other requests."""
    path = path.partition("?")[0]
    for ending, protocol in _ENDINGS.items():
        if path.endswith(ending):
            return protocol
    return None


def is_stream(protocol: Protocol, path: str, body: Json) -> bool:
    return "streamGenerateContent" in path if protocol == "gemini" else bool(body.get("stream"))


def whole(protocol: Protocol, answer: Answer) -> Json:
    return _WHOLE[protocol](answer)


def events(protocol: Protocol, answer: Answer) -> Iterator[tuple[str, str]]:
    """Yield the answer as events of a stream: a name, empty if the API has none, and the data."""
    for event in _EVENTS[protocol](whole(protocol, answer)):
        yield event["type"] if protocol in ("messages", "responses") else "", json.dumps(event)
    if protocol == "chat":
        yield "", "[DONE]"


def _id(kind: str) -> str:
    return f"{kind}_{uuid4().hex[:12]}"


def _messages(answer: Answer) -> Json:
    content: list[Json] = [{"type": "text", "text": answer.text}] if answer.text else []
    content += [
        {"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments}
        for call in answer.calls
    ]
    return {
        "id": _id("msg"),
        "type": "message",
        "role": "assistant",
        "model": answer.model,
        "content": content,
        "stop_reason": "tool_use" if answer.calls else "end_turn",
        "stop_sequence": None,
        "usage": {
            "input_tokens": answer.input,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
            "output_tokens": answer.output,
        },
    }


def _messages_events(message: Json) -> Iterator[Json]:
    yield {"type": "message_start", "message": message | {"content": [], "stop_reason": None}}
    for at, block in enumerate(message["content"]):
        if block["type"] == "tool_use":
            empty: Json = {"input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        else:
            empty = {"text": ""}
            delta = {"type": "text_delta", "text": block["text"]}
        yield {"type": "content_block_start", "index": at, "content_block": block | empty}
        yield {"type": "content_block_delta", "index": at, "delta": delta}
        yield {"type": "content_block_stop", "index": at}
    stopped = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": stopped, "usage": message["usage"]}
    yield {"type": "message_stop"}


def _responses(answer: Answer) -> Json:
    output: list[Json] = []
    if answer.text:
        part = {"type": "output_text", "text": answer.text, "annotations": []}
        said = {"type": "message", "id": _id("msg"), "role": "assistant", "status": "completed"}
        output.append(said | {"content": [part]})
    for call in answer.calls:
        item = {
            "type": "function_call",
            "id": _id("fc"),
            "call_id": call.id,
            "name": call.name,
            "arguments": json.dumps(call.arguments),
            "status": "completed",
        }
        output.append(item | {"namespace": call.space} if call.space else item)
    return {
        "id": _id("resp"),
        "object": "response",
        "created_at": int(time.time()),
        "status": "completed",
        "model": answer.model,
        "output": output,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": {
            "input_tokens": answer.input,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": answer.output,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": answer.total,
        },
    }


def _responses_events(response: Json) -> Iterator[Json]:
    number = count()

    def event(kind: str, **given: Any) -> Json:
        return {"type": kind, "sequence_number": next(number), **given}

    begun = response | {"status": "in_progress", "output": [], "usage": None}
    yield event("response.created", response=begun)
    for at, item in enumerate(response["output"]):
        empty: Json = {"content": []} if item["type"] == "message" else {"arguments": ""}
        started = item | {"status": "in_progress"} | empty
        yield event("response.output_item.added", output_index=at, item=started)
        where = {"item_id": item["id"], "output_index": at}
        if item["type"] == "message":
            (part,) = item["content"]
            where["content_index"] = 0
            yield event("response.content_part.added", **where, part=part | {"text": ""})
            yield event("response.output_text.delta", **where, delta=part["text"])
            yield event("response.output_text.done", **where, text=part["text"])
            yield event("response.content_part.done", **where, part=part)
        else:
            given = item["arguments"]
            yield event("response.function_call_arguments.done", **where, arguments=given)
        yield event("response.output_item.done", output_index=at, item=item)
    yield event("response.completed", response=response)


def _chat(answer: Answer) -> Json:
    message: Json = {"role": "assistant", "content": answer.text or None}
    if answer.calls:
        message["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": json.dumps(call.arguments)},
            }
            for call in answer.calls
        ]
    ended = "tool_calls" if answer.calls else "stop"
    return {
        "id": _id("chatcmpl"),
        "object": "chat.completion",
        "created": int(time.time()),
        "model": answer.model,
        "choices": [{"index": 0, "message": message, "finish_reason": ended}],
        "usage": {
            "prompt_tokens": answer.input,
            "completion_tokens": answer.output,
            "total_tokens": answer.total,
        },
    }


def _chat_events(completion: Json) -> Iterator[Json]:
    base = {name: completion[name] for name in ("id", "created", "model")}
    base["object"] = "chat.completion.chunk"
    (choice,) = completion["choices"]
    delta: Json = dict(choice["message"])
    if "tool_calls" in delta:
        delta["tool_calls"] = [{"index": at, **call} for at, call in enumerate(delta["tool_calls"])]
    yield base | {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    last = {"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}
    yield base | {"choices": [last]}
    yield base | {"choices": [], "usage": completion["usage"]}


def _gemini(answer: Answer) -> Json:
    parts: list[Json] = [{"text": answer.text}] if answer.text else []
    parts += [
        {"functionCall": {"id": call.id, "name": call.name, "args": call.arguments}}
        for call in answer.calls
    ]
    content = {"role": "model", "parts": parts}
    return {
        "candidates": [{"content": content, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {
            "promptTokenCount": answer.input,
            "candidatesTokenCount": answer.output,
            "totalTokenCount": answer.total,
        },
        "modelVersion": answer.model or "model",
        "responseId": uuid4().hex,
    }


_ENDINGS: Final[Mapping[str, Protocol]] = {
    "/chat/completions": "chat",
    "/responses": "responses",
    "/messages": "messages",
    ":generateContent": "gemini",
    ":streamGenerateContent": "gemini",
}
_WHOLE: Final[Mapping[Protocol, Callable[[Answer], Json]]] = {
    "messages": _messages,
    "responses": _responses,
    "chat": _chat,
    "gemini": _gemini,
}
_EVENTS: Final[Mapping[Protocol, Callable[[Json], Iterator[Json]]]] = {
    "messages": _messages_events,
    "responses": _responses_events,
    "chat": _chat_events,
    "gemini": lambda content: iter([content]),
}
