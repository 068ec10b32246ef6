"""LangSmith's runs, as ``client.list_runs`` or an export writes them: JSON, or a run a line.

Of a trace only the runs of type ``llm`` are read; tools' results stand in the next one's input.
The forms are those of langsmith 0.15's wrappers and of langchain-core 1.7's tracer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from constraintrot.coding_agents.sessions.events import Record
from constraintrot.coding_agents.sessions.json_lines import at, items, string, text_parts
from constraintrot.coding_agents.sessions.message_lists import Part, Recorded, answer, parts, said
from constraintrot.coding_agents.wire.conversation import Said

_ROLES = {"human": "user", "ai": "assistant", "function": "tool"}
# Keys of a run's metadata that name the conversation that its trace is a turn of.
_THREADS = ("thread_id", "session_id", "conversation_id")
_DEEPEST = 40


def sniff(record: Record) -> bool:
    """Return whether a record is a run, or a page of runs."""
    return any("run_type" in one and "inputs" in one for one in (record, *_listed(record)))


def calls(
    records: Sequence[tuple[int, Record]],
) -> Iterator[tuple[int, Callable[[], Recorded]]]:
    """The model's runs, with their lines, each read when it is asked for."""
    for number, record in records:
        for one in [record, *_listed(record)]:
            yield from ((number, partial(_recorded, run)) for run in _models(one))


def _listed(record: Record) -> list[Record]:
    return [one for one in items(record, "runs") if isinstance(one, Mapping)]


def _models(run: Record, deep: int = _DEEPEST) -> Iterator[Record]:
    """A run and the runs under it that asked a model."""
    if run.get("run_type") == "llm":
        yield run
    for below in items(run, "child_runs") if deep else ():
        if isinstance(below, Mapping):
            yield from _models(below, deep - 1)


def _recorded(run: Record) -> Recorded:
    metadata = at(run, "extra", "metadata")
    thread = next((told for key in _THREADS if (told := string(metadata, key))), "")
    time = string(run, "start_time")
    return Recorded(
        _given(run["inputs"]), _answer(at(run, "outputs")), thread or string(run, "trace_id"), time
    )


def _given(inputs: Record) -> list[Part]:
    messages = items(inputs, "messages")
    if messages and isinstance(messages[0], list):
        # LangChain's tracer writes a list a prompt; a chat model has one.
        messages = messages[0]
    if messages:
        return parts({**inputs, "messages": [_plain(one) for one in messages]})
    prompts = items(inputs, "prompts") or [at(inputs, "prompt")]
    if isinstance(prompts[0], str):
        return [Part([Said("user", prompts[0])])]
    return parts(inputs)


def _answer(outputs: object) -> list[Said]:
    generations = items(outputs, "generations")
    if not generations:
        return answer(outputs)
    first: Any = generations[0][0] if isinstance(generations[0], list) else generations[0]
    told = at(first, "message")
    if not isinstance(told, Mapping):
        return [Said("assistant", string(first, "text"))]
    return said({"messages": [_plain(told)]})


def _plain(message: Record) -> Record:
    """A message of LangChain's as Chat Completions' have it; any other as it is."""
    told: Any = message.get("kwargs") if "lc" in message else message.get("data", message)
    kind = string(told, "type") or string(message, "type")
    if "role" in told or not kind:
        return dict(told)
    calls = [
        {"id": at(one, "id") or "", "function": {"name": one["name"], "arguments": one["args"]}}
        for one in items(told, "tool_calls")
    ]
    return {
        "role": _ROLES.get(kind, kind),
        "content": text_parts(told.get("content")),
        "tool_call_id": string(told, "tool_call_id"),
        "tool_calls": calls,
    }
