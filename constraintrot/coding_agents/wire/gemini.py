"""Gemini's generateContent: Gemini CLI."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count
from typing import Any, cast

from constraintrot.coding_agents.proof.model_apis import Json
from constraintrot.coding_agents.wire.common import (
    Conversation,
    Request,
    call_of,
    request_of,
    text_of,
)


def read(body: Json, stream: bool) -> Request:
    """A request's body; calls without an id are numbered."""
    said = Conversation()
    system = body.get("systemInstruction") or body.get("system_instruction") or {}
    said.system(text_of(system.get("parts") if isinstance(system, dict) else system))
    numbers = (f"call_g{number}" for number in count(1))
    open_calls: list[tuple[str, str]] = []
    for content in body.get("contents") or []:
        texts: list[Json] = []
        for part in content.get("parts") or []:
            if "functionCall" in part:
                call = part["functionCall"]
                known = call.get("id") or next(numbers)
                made = call_of(known, call["name"], call.get("args") or {})
                open_calls.append((call["name"], known))
                said.assistant(call=made)
            elif "functionResponse" in part:
                result = part["functionResponse"]
                said.tool(_answered(result, open_calls), _output(result.get("response")))
            elif "text" in part and not part.get("thought"):
                texts.append(part)
        add = said.assistant if content.get("role") == "model" else said.user
        if texts:
            add(text_of(texts))
    tools = [one for tool in body.get("tools") or [] for one in _declared(tool)]
    offered = [(t["name"], t.get("description"), _schema(t)) for t in tools]
    return request_of("gemini", said, offered, body, stream)


def _declared(tool: Json) -> list[Json]:
    found: list[Json] = tool.get("functionDeclarations") or tool.get("function_declarations") or []
    return found


def _schema(tool: Json) -> Mapping[str, Any]:
    given = tool.get("parametersJsonSchema") or tool.get("parameters") or {}
    return cast("Mapping[str, Any]", _lowered(given))


def _lowered(schema: object) -> object:
    """A schema whose types are spelt as JSON Schema spells them."""
    if isinstance(schema, dict):
        given = cast("dict[str, object]", schema)
        return {
            name: value.lower() if name == "type" and isinstance(value, str) else _lowered(value)
            for name, value in given.items()
        }
    if isinstance(schema, list):
        return [_lowered(one) for one in cast("list[object]", schema)]
    return schema


def _answered(result: Json, open_calls: list[tuple[str, str]]) -> str:
    """The id of the call that a result answers: its own, else the first open one of its name."""
    if result.get("id"):
        return str(result["id"])
    for pair in open_calls:
        if pair[0] == result["name"]:
            open_calls.remove(pair)
            return pair[1]
    return "call_unknown"


def _output(response: object) -> str:
    if isinstance(response, dict):
        given = cast("dict[str, object]", response)
        for name in ("output", "content", "result"):
            if name in given:
                return text_of(given[name])
        return str(given.get("error", given))
    return text_of(response)
