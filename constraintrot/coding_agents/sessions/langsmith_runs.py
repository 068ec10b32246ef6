"""LangSmith's runs, as ``client.list_runs`` or an export writes them: JSON, or one run per line.

Only a trace's runs of type ``llm`` are read; tools' results are in the next run's input.
The forms are those of langsmith 0.15's wrappers and of langchain-core 1.7's tracer.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from constraintrot.coding_agents.sessions.events import Record
from constraintrot.coding_agents.sessions.json_lines import at, items, string, text_parts
from constraintrot.coding_agents.sessions.message_lists import Recorded, answer, contexts, said
from constraintrot.coding_agents.wire.conversation import Said

TITLE = "LangSmith runs"
_ROLES = {"human": "user", "ai": "assistant", "function": "tool"}
# Keys of a run's metadata that name the conversation of its trace.
_THREADS = ("thread_id", "session_id", "conversation_id")
_DEEPEST = 40


def sniff(record: Record) -> bool:
    return "run_type" in record and "inputs" in record


def units(records: Sequence[tuple[int, Record]]) -> Iterator[tuple[int, Record]]:
    """Yield the runs that called a model, with their lines."""
    for line, record in records:
        yield from ((line, run) for run in _models(record))


def _models(run: Record, deep: int = _DEEPEST) -> Iterator[Record]:
    if run.get("run_type") == "llm":
        yield run
    for below in items(run, "child_runs") if deep else ():
        if isinstance(below, Mapping):
            yield from _models(below, deep - 1)


def read(run: Record) -> list[Recorded]:
    """Return the contexts of a run; the last one has the answer."""
    metadata, inputs = at(run, "extra", "metadata"), run["inputs"]
    thread = next((told for key in _THREADS if (told := string(metadata, key))), "")
    facts: dict[str, Any] = {
        "thread": thread or string(run, "trace_id"),
        "time": string(run, "start_time"),
    }
    messages = items(inputs, "messages")
    if messages and isinstance(messages[0], list):
        # LangChain's tracer writes a list per prompt; a chat model has one prompt.
        messages = messages[0]
    given = {**inputs, "messages": [_plain(one) for one in messages]} if messages else inputs
    *before, last = (replace(one, **facts) for one in contexts(given))
    return [*before, replace(last, answer=_answer(at(run, "outputs")))]


def _answer(outputs: object) -> list[Said]:
    generations = items(outputs, "generations")
    if not generations:
        return answer(outputs)
    told: Any = at(generations[0][0], "message")
    return said([_plain(told)]) if told else [Said("assistant", generations[0][0]["text"])]


def _plain(message: Record) -> Record:
    """Return a LangChain message in the form of Chat Completions; others unchanged."""
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
