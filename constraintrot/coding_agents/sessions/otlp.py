"""OpenTelemetry's spans and logs of model calls, in OTLP's JSON, as the collector's file exporter has it.

Read are the GenAI semantic conventions from 1.37 on, with the messages in attributes of a span
or of the event of an inference, and those from 1.28 to 1.36, with an event a message.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Any

from constraintrot.coding_agents.sessions.events import Record
from constraintrot.coding_agents.sessions.json_lines import at, items, parsed_value, string
from constraintrot.coding_agents.sessions.message_lists import Recorded, parts, said

# Operations whose spans repeat the messages of the calls under them, or have none.
_NO_CALLS = ("invoke_agent", "create_agent", "invoke_workflow", "execute_tool", "embeddings")
_EVENT = re.compile(r"gen_ai\.(system|user|assistant|tool)\.message|gen_ai\.choice")
_LISTS = {"resourceSpans": ("scopeSpans", "spans"), "resourceLogs": ("scopeLogs", "logRecords")}
_DEEPEST = 40


@dataclass
class _Span:
    """What is known of a span: its attributes, those of its events, and its events of messages."""

    line: int
    trace: str = ""
    nanoseconds: int = 0
    attributes: dict[str, Any] = field(default_factory=dict[str, Any])
    said: list[Record] = field(default_factory=list[Any])
    replied: list[Record] = field(default_factory=list[Any])

    def add(self, name: str, told: Mapping[str, Any], body: object) -> None:
        """Add an event, of the span's own or of a log."""
        kind = _EVENT.fullmatch(name)
        if kind is None:
            self.attributes = {**told, **self.attributes}
            return
        content = body if isinstance(body, Mapping) else _json(told.get("gen_ai.event.content"))
        content = content if isinstance(content, Mapping) else told
        if kind[1] is None:
            message = content.get("message")
            told_of: Any = _json(message) if isinstance(message, str) else message
            self.replied.append({"role": "assistant", **(told_of or {})})
        else:
            known = {"tool_call_id": content.get("id") or ""} if kind[1] == "tool" else {}
            self.said.append({"role": kind[1], **known, **content})


def sniff(record: Record) -> bool:
    """Return whether a record is OTLP's and may hold model calls."""
    return any(items(record, name) for name in _LISTS)


def calls(
    records: Sequence[tuple[int, Record]],
) -> Iterator[tuple[int, Callable[[], Recorded]]]:
    """The model calls, with their lines, each read when it is asked for."""
    spans: dict[tuple[str, str], _Span] = {}
    for line, record in records:
        for span in _below(record, "resourceSpans"):
            _add_span(spans, line, span)
        for log in _below(record, "resourceLogs"):
            body, told = _value(at(log, "body")), _attributes(items(log, "attributes"))
            name = string(log, "eventName") or str(told.get("event.name", ""))
            if name.startswith("gen_ai."):
                _of(spans, line, log, "timeUnixNano").add(name, told, body)
    for found in spans.values():
        tells = found.said or "gen_ai.input.messages" in found.attributes
        if tells and found.attributes.get("gen_ai.operation.name") not in _NO_CALLS:
            yield found.line, partial(_recorded, found)


def _add_span(spans: dict[tuple[str, str], _Span], line: int, span: Record) -> None:
    attributes = _attributes(items(span, "attributes"))
    if not any(name.startswith("gen_ai.") for name in attributes):
        return
    known = _of(spans, line, span, "startTimeUnixNano")
    known.attributes = {**known.attributes, **attributes}
    for event in items(span, "events"):
        known.add(string(event, "name"), _attributes(items(event, "attributes")), None)


def _of(spans: dict[tuple[str, str], _Span], line: int, told: Record, clock: str) -> _Span:
    """The span of a span's or a log's record; a log without one stands for itself."""
    trace, key = string(told, "traceId"), string(told, "spanId") or f"{line} {len(spans)}"
    span = spans.setdefault((trace, key), _Span(line, trace))
    time = str(at(told, clock) or at(told, "observedTimeUnixNano") or 0)
    if clock == "startTimeUnixNano" or not span.nanoseconds:
        span.nanoseconds = int(time) if time.isdecimal() and len(time) < 20 else 0
    return span


def _below(record: Record, name: str) -> Iterator[Record]:
    scopes, leaves = _LISTS[name]
    for resource in items(record, name):
        for scope in items(resource, scopes):
            yield from (one for one in items(scope, leaves) if isinstance(one, Mapping))


def _recorded(span: _Span) -> Recorded:
    told = span.attributes
    given, replied = list(span.said), list(span.replied)
    if "gen_ai.input.messages" in told:
        given = _messages(told["gen_ai.input.messages"])
        replied = _messages(told.get("gen_ai.output.messages"))
        if told.get("gen_ai.system_instructions"):
            parts_of = _json(told["gen_ai.system_instructions"])
            given[:0] = _message({"role": "system", "parts": parts_of})
    thread = str(told.get("gen_ai.conversation.id") or span.trace)
    answered = said({"messages": replied[:1]}) if replied else []
    return Recorded(parts({"messages": given}), answered, thread, _time(span.nanoseconds))


def _messages(told: object) -> list[Record]:
    return [one for message in _json(told) or () for one in _message(message)]


def _message(message: Record) -> list[Record]:
    """A message of parts as Chat Completions' messages; results of tools are one each."""
    texts, made, results = list[str](), list[Record](), list[Record]()
    for part in items(message, "parts"):
        kind = at(part, "type")
        if kind == "text":
            texts.append(string(part, "content"))
        elif kind == "tool_call":
            function = {"name": string(part, "name"), "arguments": at(part, "arguments") or {}}
            made.append({"id": string(part, "id"), "function": function})
        elif kind == "tool_call_response":
            told = at(part, "response") if at(part, "response") is not None else at(part, "result")
            shown = told if isinstance(told, str) else repr(told)
            results.append({"role": "tool", "tool_call_id": string(part, "id"), "content": shown})
    text = "\n".join(texts)
    role = string(message, "role")
    return [
        *([{"role": role, "content": text, "tool_calls": made}] if text or made else []),
        *results,
    ]


def _attributes(told: Sequence[Any], deep: int = _DEEPEST) -> dict[str, Any]:
    return {string(one, "key"): _value(at(one, "value"), deep) for one in told}


def _value(told: object, deep: int = _DEEPEST) -> Any:
    """OTLP's value as plain data; what lies too deep is left out."""
    if not isinstance(told, Mapping) or not deep:
        return None
    if "arrayValue" in told:
        return [_value(one, deep - 1) for one in items(told, "arrayValue", "values")]
    if "kvlistValue" in told:
        return _attributes(items(told, "kvlistValue", "values"), deep - 1)
    return next(iter(told.values()), None)


def _json(told: object) -> Any:
    return parsed_value(told.encode("utf-8", "replace")) if isinstance(told, str) else told


def _time(nanoseconds: int) -> str:
    return datetime.fromtimestamp(nanoseconds / 1e9, UTC).isoformat() if nanoseconds else ""
