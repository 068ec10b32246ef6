"""Recorded model calls as sessions: messages of the model APIs, LangSmith's runs, OpenTelemetry's spans.

A recording has the input of each call and knows no sessions and no compactions. Calls with
one identifier of a thread are one session, and so are calls of which each goes on from an
earlier one; a compaction is told by the inputs, or by an item of the provider's.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from constraintrot.coding_agents.sessions import langsmith_runs, message_lists, otlp
from constraintrot.coding_agents.sessions.events import Event, Losses, Record, Refused, Session
from constraintrot.coding_agents.sessions.inspect_messages import conversation, goes_on
from constraintrot.extras import installed

if TYPE_CHECKING:
    from inspect_ai.event import CompactionEvent, ModelEvent
    from inspect_ai.model import ChatMessage

    from constraintrot.coding_agents.wire.conversation import Said

Kind: TypeAlias = Literal["messages", "langsmith", "opentelemetry"]
TITLES: dict[Kind, str] = {
    "messages": "OpenAI, Anthropic or Gemini messages",
    "langsmith": "LangSmith runs",
    "opentelemetry": "OpenTelemetry GenAI spans",
}
# A call's shape is somebody else's: what it lacks costs the call.
_ODD = (KeyError, TypeError, AttributeError, ValueError, IndexError, RecursionError)
# Sub-agents' calls may stand between two of one conversation.
_RECENT = 4


@dataclass
class _Thread:
    """The calls of one session."""

    name: str
    calls: list[ModelEvent] = field(default_factory=list[Any])
    told: list[ModelEvent | CompactionEvent] = field(default_factory=list[Any])


def kind_of(record: Record) -> Kind | None:
    """Return the kind of recording that a record is of; None for anything else."""
    if langsmith_runs.sniff(record):
        return "langsmith"
    if otlp.sniff(record):
        return "opentelemetry"
    return "messages" if message_lists.sniff(record) else None


def sessions(
    path: Path, size: int, kind: Kind, records: Sequence[tuple[int, Record]], losses: Losses
) -> Iterator[Session | Refused]:
    """The sessions of a file of recorded calls.

    Args:
        path: the file.
        size: its bytes.
        kind: as ``kind_of`` says of one of the records.
        records: all of them, with the numbers of their lines.
        losses: what was lost when they were read.
    """
    title = TITLES[kind]
    if not installed("inspect_ai"):
        why = f"{title} are read with inspect_ai: pip install 'constraintrot[inspect]'"
        yield Refused(path, why)
        return
    threads, broken = _threads(kind, records)
    for number, thread in enumerate(threads, start=1):
        name = str(path) if len(threads) == 1 else f"{path}#{thread.name or number}"
        events = partial(_events, thread, [] if number > 1 else broken, losses)
        yield Session(path, name, kind, title, size, (), events)
    if not threads:
        yield Refused(path, f"{title}, of which no call has messages that can be read")


def _events(
    thread: _Thread, broken: Sequence[int], before: Losses, losses: Losses
) -> Iterator[Event]:
    losses.too_long, losses.broken = before.too_long, before.broken
    for number in broken:
        losses.line(number)
    if len(thread.told) == 1:
        # Nothing followed, so each message can be told by its place.
        only = thread.calls[0]
        answers = [choice.message for choice in only.output.choices]
        yield from conversation(thread.name, [*only.input, *answers], [])
    else:
        yield from conversation(thread.name, [], thread.told, by_input=True)


def _threads(kind: Kind, records: Sequence[tuple[int, Record]]) -> tuple[list[_Thread], list[int]]:
    """The sessions, and the numbers of the calls that cannot be read."""
    broken: list[int] = []
    found: list[tuple[str, int, message_lists.Recorded]] = []
    reader = {"messages": message_lists, "langsmith": langsmith_runs, "opentelemetry": otlp}[kind]
    for number, told in reader.calls(records):
        try:
            call = told()
        except _ODD:
            broken.append(number)
            continue
        if call.parts:
            found.append((call.time, number, call))
    threads: list[_Thread] = []
    seen: set[str] = set()
    for _, _, call in sorted(found, key=lambda one: one[:2]):
        _add(threads, call, seen)
    return threads, broken


def _add(threads: list[_Thread], call: message_lists.Recorded, seen: set[str]) -> None:
    """Add a call to its thread; what a provider compacted before is in earlier calls already."""
    parts = call.parts[-1:] if call.parts[-1].after in seen else call.parts
    thread: _Thread | None = None
    for part in parts:
        last = part is parts[-1]
        event = _model_event(part.said, call.answer if last else (), call.time)
        if thread is None:
            thread = _thread_of(threads, call.thread, event)
        if part.after and part.after not in seen:
            seen.add(part.after)
            thread.told.append(_compaction(opaque=part.opaque))
        thread.calls.append(event)
        thread.told.append(event)


def _thread_of(threads: list[_Thread], name: str, event: ModelEvent) -> _Thread:
    for one in reversed(threads):
        recent = one.calls[-_RECENT:]
        if (
            one.name == name
            if name
            else any(goes_on(former, event, recent) for former in reversed(recent))
        ):
            return one
    threads.append(_Thread(name))
    return threads[-1]


def _model_event(said: Iterable[Said], answer: Iterable[Said], time: str) -> ModelEvent:
    from inspect_ai.event import ModelEvent
    from inspect_ai.model import ChatCompletionChoice, GenerateConfig, ModelOutput

    given = list(said)
    messages = _messages([*given, *answer])
    replies = [one for one in messages[len(given) :] if one.role == "assistant"]
    event = ModelEvent(
        model="recorded", input=messages[: len(given)], tools=[], tool_choice="auto",
        config=GenerateConfig(),
        output=ModelOutput(choices=[ChatCompletionChoice(message=one) for one in replies]),
    )  # fmt: skip
    return event.model_copy(update={"timestamp": _when(time)})


def _compaction(*, opaque: bool) -> CompactionEvent:
    from inspect_ai.event import CompactionEvent

    return CompactionEvent(type="summary", source="opaque" if opaque else "recorded")


def _messages(said: Iterable[Said]) -> list[ChatMessage]:
    """Inspect's messages, with identifiers by which the next call's input has them again."""
    from constraintrot.coding_agents.wire.messages import message

    told: Counter[str] = Counter()
    found: list[ChatMessage] = []
    for one in said:
        key = f"{one.role}\0{one.text}\0{one.calls!r}"
        told[key] += 1
        digest = hashlib.sha256(f"{key}\0{told[key]}".encode("utf-8", "replace")).hexdigest()
        found.append(message(one).model_copy(update={"id": digest[:22]}))
    return found


def _when(time: str) -> datetime | None:
    try:
        return datetime.fromisoformat(time)
    except ValueError:
        return None
