"""OpenTelemetry's spans and logs of model calls, in OTLP's JSON (the collector's file exporter).

Reads the GenAI semantic conventions from 1.37 on, with the messages in attributes of a span or
of an inference event, and those from 1.28 to 1.36, with one event per message.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from constraintrot.coding_agents.sessions.events import Record
from constraintrot.coding_agents.sessions.json_lines import at, items, parsed_value, string
from constraintrot.coding_agents.sessions.message_lists import Recorded, contexts, said

TITLE = "OpenTelemetry GenAI spans"
# Operations whose spans repeat the messages of the calls under them, or have none.
_NO_CALLS = ("invoke_agent", "create_agent", "invoke_workflow", "execute_tool", "embeddings")
_EVENT = re.compile(r"gen_ai\.(system|user|assistant|tool)\.message|gen_ai\.choice")
_LISTS = {"resourceSpans": ("scopeSpans", "spans"), "resourceLogs": ("scopeLogs", "logRecords")}
_INPUT, _OUTPUT = "gen_ai.input.messages", "gen_ai.output.messages"
_CLOCKS = ("startTimeUnixNano", "timeUnixNano", "observedTimeUnixNano")
_DEEPEST = 40


def sniff(record: Record) -> bool:
    """Return whether a record is OTLP and may hold model calls."""
    return any(items(record, name) for name in _LISTS)


def units(records: Sequence[tuple[int, Record]]) -> Iterator[tuple[int, list[Record]]]:
    """Yield each span with its logs, and the line of the first."""
    found: dict[tuple[str, str], tuple[int, list[Record]]] = {}
    for line, record in records:
        for told in (*_below(record, "resourceSpans"), *_below(record, "resourceLogs")):
            # A log without a span is its own unit.
            key = string(told, "traceId"), string(told, "spanId") or f"{line} {len(found)}"
            found.setdefault(key, (line, []))[1].append(told)
    yield from (unit for unit in found.values() if "gen_ai." in str(unit))


def read(unit: Sequence[Record]) -> list[Recorded]:
    """Return the context of a model call with its answer; empty for another kind of span."""
    told: dict[str, Any] = {}
    given, replied, times = list[Any](), list[Any](), list[str]()
    for one in unit:
        own = _attributes(items(one, "attributes"))
        times += [time for name in _CLOCKS if (time := _time(string(one, name)))]
        name = string(one, "eventName") or str(own.get("event.name", ""))
        inner = [(string(event, "name"), _attributes(items(event, "attributes")), None)
                 for event in items(one, "events")]  # fmt: skip
        for event, attributes, body in [(name, own, _value(at(one, "body"))), *inner]:
            kind = _EVENT.fullmatch(event)
            content: Any = _json(body or attributes.get("gen_ai.event.content")) or attributes
            if kind is None:
                told = {**attributes, **told}
            elif kind[1] is None:
                replied.append({"role": "assistant", **_json(content["message"])})
            else:
                given.append({"tool_call_id": content.get("id"), **content, "role": kind[1]})
    if told.get("gen_ai.operation.name") in _NO_CALLS or not (given or _INPUT in told):
        return []
    if _INPUT in told:
        system = {"role": "system", "parts": _json(told.get("gen_ai.system_instructions"))}
        given = [one for plain in (system, *_json(told[_INPUT])) for one in _message(plain)]
        replied = [one for plain in _json(told.get(_OUTPUT)) or () for one in _message(plain)]
    facts: dict[str, Any] = {
        "answer": said(replied[:1]) if replied else [], "time": min(times, default=""),
        "thread": str(told.get("gen_ai.conversation.id") or string(unit[0], "traceId")),
    }  # fmt: skip
    return [replace(one, **facts) for one in contexts({"messages": given})]


def _below(record: Record, name: str) -> Iterator[Record]:
    scopes, leaves = _LISTS[name]
    for resource in items(record, name):
        for scope in items(resource, scopes):
            yield from (one for one in items(scope, leaves) if isinstance(one, Mapping))


def _message(message: Record) -> Iterator[Record]:
    """Yield a message of parts as Chat Completions' messages, one per tool result."""
    texts, made = list[str](), list[Record]()
    for part in items(message, "parts"):
        kind, key = at(part, "type"), string(part, "id")
        if kind == "text":
            texts.append(string(part, "content"))
        elif kind == "tool_call":
            function = {"name": string(part, "name"), "arguments": at(part, "arguments") or {}}
            made.append({"id": key, "function": function})
        elif kind == "tool_call_response":
            # Some use the key of an earlier draft.
            told = part.get("response", part.get("result"))
            yield {
                "role": "tool",
                "tool_call_id": key,
                "content": told if isinstance(told, str) else repr(told),
            }
    if texts or made:
        told = {"role": string(message, "role"), "content": "\n".join(texts)}
        yield {**told, "tool_calls": made, "tool_call_id": ""}


def _attributes(told: Sequence[Any], deep: int = _DEEPEST) -> dict[str, Any]:
    return {string(one, "key"): _value(at(one, "value"), deep) for one in told}


def _value(told: object, deep: int = _DEEPEST) -> Any:
    """Return an OTLP value as plain data, without values nested too deeply."""
    if not isinstance(told, Mapping) or not deep:
        return None
    if "arrayValue" in told:
        return [_value(one, deep - 1) for one in items(told, "arrayValue", "values")]
    if "kvlistValue" in told:
        return _attributes(items(told, "kvlistValue", "values"), deep - 1)
    return next(iter(told.values()), None)


def _json(told: object) -> Any:
    return parsed_value(told.encode("utf-8", "replace")) if isinstance(told, str) else told


def _time(nanoseconds: str) -> str:
    known = nanoseconds.isdecimal() and len(nanoseconds) < 20
    return datetime.fromtimestamp(int(nanoseconds) / 1e9, UTC).isoformat() if known else ""
