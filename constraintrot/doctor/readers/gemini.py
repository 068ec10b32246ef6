"""Gemini CLI: ``~/.gemini/tmp/PROJECT/chats/session-*.jsonl``.

A compaction has no mark: a ``$set`` line replaces all messages, and the first one of
the new history holds a ``<state_snapshot>``. A ``$set`` without one is a rewind.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from constraintrot.doctor.events import Compaction, Event, Facts, Kept, Losses, Message
from constraintrot.doctor.readers.format import Format
from constraintrot.doctor.readers.google_parts import SNAPSHOT, channel_of, content, result, texts
from constraintrot.doctor.readers.tools import Calls, is_project_file
from constraintrot.doctor.records import Record, at, call, items, plain, string

# The snapshot stands in the first messages of a compacted history.
_FIRST = 3


def sniff(record: Record) -> bool:
    """Whether a record is one of these sessions."""
    return (
        "projectHash" in record
        or "$set" in record
        or "$rewindTo" in record
        or (
            record.get("type") in ("user", "gemini")
            and "content" in record
            and "id" in record
            and "message" not in record
        )
    )


def read(lines: Iterable[tuple[int, Record]], losses: Losses) -> Iterator[Event]:
    """The events of a session."""
    calls = Calls()
    for number, record in lines:
        if "$set" in record:
            yield from _replaced(number, record)
        elif "$rewindTo" in record:
            yield _rewound(number, record)
        elif "projectHash" in record:
            yield Facts(string(record, "sessionId"), string(record, "cwd"))
            # The form of before: one object for the whole session.
            for entry in items(record, "messages"):
                yield from _entry(number, entry, calls)
        else:
            yield from _entry(number, record, calls)


def _rewound(number: int, record: Record) -> Compaction:
    first = string(record, "$rewindTo")
    return Compaction(number, kept=Kept(last=first), counted=False)


def _replaced(number: int, record: Record) -> Iterator[Event]:
    told = at(record, "$set", "messages")
    if not isinstance(told, list):
        return
    calls = Calls()
    new = tuple(one for entry in told for one in _entry(number, entry, calls))
    compacted = any(SNAPSHOT in one.text for one in new[:_FIRST])
    time = string(record, "timestamp") or string(at(record, "$set"), "lastUpdated")
    yield Compaction(number, time, replacement=new, certainty="written", counted=compacted)


def _entry(number: int, entry: object, calls: Calls) -> Iterator[Message]:
    time, key = string(entry, "timestamp"), string(entry, "id")
    if at(entry, "parts") is not None:
        yield from content(entry, number, time, key, calls)
        return
    kind = at(entry, "type")
    text = texts(at(entry, "content"))
    if kind == "user" and text:
        channel = channel_of(text)
        yield Message("user", text, channel, number, time, key=key, attached=channel != "user")
    for given in items(entry, "content") if kind == "user" else ():
        if at(given, "functionResponse") is not None:
            yield result(at(given, "functionResponse"), number, time, key, calls)
    if kind == "gemini":
        yield from _reply(number, entry, text, calls)


def _reply(number: int, entry: object, text: str, calls: Calls) -> Iterator[Message]:
    time, key = string(entry, "timestamp"), string(entry, "id")
    asked = items(entry, "toolCalls")
    made = tuple(call(at(one, "name"), at(one, "args")) for one in asked)
    if text or made:
        yield Message("assistant", text, "agent", number, time, key=key, calls=made)
    for one, done in zip(asked, made, strict=True):
        calls.made(at(one, "id"), done)
        channel, origin = calls.answered(at(one, "id"), done.function)
        channel = "nested file" if is_project_file(origin) else channel
        shown = plain(_results(at(one, "result")))
        if shown:
            yield Message("tool", shown, channel, number, time, origin, key)


def _results(result: object) -> object:
    listed = result if isinstance(result, list) else [result]
    return [at(one, "functionResponse", "response") or one for one in listed]


FORMAT = Format(
    name="gemini",
    title="Gemini CLI",
    sniff=sniff,
    read=read,
    places=("~/.gemini/tmp/*/chats/session-*.jsonl", "~/.gemini/tmp/*/chats/session-*.json"),
    project_files=("GEMINI.md",),
)
