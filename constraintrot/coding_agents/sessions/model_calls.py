"""Recorded model calls as sessions, by way of Inspect's events.

A recording has the input of each call, but neither sessions nor compactions. Calls with the
same thread identifier form a session; without one, calls that continue earlier calls do. A
compaction is detected by the inputs, or by an item of the provider.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

from inspect_ai.event import CompactionEvent, ModelEvent
from inspect_ai.model import ChatCompletionChoice, ChatMessage, GenerateConfig, ModelOutput

from constraintrot.coding_agents.sessions.events import Event, Losses, Record, Refused, Session
from constraintrot.coding_agents.sessions.inspect_messages import conversation, goes_on, is_another
from constraintrot.coding_agents.sessions.message_lists import Recorded
from constraintrot.coding_agents.wire.conversation import Said
from constraintrot.coding_agents.wire.messages import message

# Errors of a malformed call, which is then skipped and counted.
_ODD = (KeyError, TypeError, AttributeError, ValueError, IndexError, RecursionError)
# Calls of a thread to look back on: sub-agents' calls may come between two of its calls.
_RECENT = 4
# A thread's name, and its calls with the compactions between them.
_Thread: TypeAlias = tuple[str, list[ModelEvent | CompactionEvent]]


def sessions(
    path: Path, size: int, reader: Any, records: Sequence[tuple[int, Record]], lost: Losses
) -> Iterator[Session | Refused]:
    threads: list[_Thread] = []
    for call in _calls(reader, records, lost):
        _add(threads, call)
    for number, (name, told) in enumerate(threads, start=1):
        shown = str(path) if len(threads) == 1 else f"{path}#{name or number}"
        events = partial(_events, name, told, lost if number == 1 else Losses())
        yield Session(path, shown, reader.TITLE, reader.TITLE, size, (), events)
    if not threads:
        yield Refused(path, f"{reader.TITLE}, of which no call has messages that can be read")


def _calls(
    reader: Any, records: Sequence[tuple[int, Record]], lost: Losses
) -> list[list[Recorded]]:
    """Return the calls sorted by time, each with its contexts."""
    found: list[tuple[str, int, list[Recorded]]] = []
    for line, unit in reader.units(records):
        try:
            call = reader.read(unit)
            found += [(call[-1].time, line, call)] if call else []
        except _ODD:
            lost.line(line)
    return [call for _, _, call in sorted(found, key=lambda one: one[:2])]


def _add(threads: list[_Thread], call: Sequence[Recorded]) -> None:
    events, name = [_event(one) for one in call], call[0].thread
    found = (told for known, told in reversed(threads) if _has(known, told, name, events[0]))
    thread = next(found, None)
    if thread is None:
        thread = []
        threads.append((name, thread))
    # A later request still holds the provider's earlier compactions.
    known = {one.source for one in thread if isinstance(one, CompactionEvent)}
    start = len(call) - 1 if any(one.after in known for one in call) else 0
    for one, event in zip(call[start:], events[start:], strict=True):
        if one.after and one.after not in known:
            thread.append(CompactionEvent(type="summary", source=one.after))
        thread.append(event)


def _has(known: str, told: Sequence[object], name: str, call: ModelEvent) -> bool:
    """Return whether a call belongs to a thread: by its name, or by the call that it continues."""
    recent = [one for one in told[-_RECENT:] if isinstance(one, ModelEvent)]
    if name:
        return name == known
    # Different conversations with one program may start with the same words.
    on = any(goes_on(one, call, recent) for one in recent)
    return on and not is_another(recent[-1], call, recent)


def _events(
    name: str, told: list[ModelEvent | CompactionEvent], lost: Losses, losses: Losses
) -> Iterator[Event]:
    losses.broken, losses.too_long, losses.first = lost.broken, lost.too_long, lost.first
    only = told[0]
    if len(told) == 1 and isinstance(only, ModelEvent):
        # A single call: its messages are the whole conversation.
        answers = [choice.message for choice in only.output.choices]
        yield from conversation(name, [*only.input, *answers], [])
    else:
        yield from conversation(name, [], told, by_input=True)


def _event(call: Recorded) -> ModelEvent:
    messages = _messages([*call.said, *call.answer])
    given, replies = messages[: len(call.said)], messages[len(call.said) :]
    choices = [ChatCompletionChoice(message=one) for one in replies if one.role == "assistant"]
    event = ModelEvent(
        model="recorded", input=given, tools=[], tool_choice="auto", config=GenerateConfig(),
        output=ModelOutput(choices=choices),
    )  # fmt: skip
    time = datetime.fromisoformat(call.time) if call.time else None
    return event.model_copy(update={"timestamp": time})


def _messages(said: Iterable[Said]) -> list[ChatMessage]:
    """Return Inspect's messages with ids that are the same in the next call's input."""
    told: Counter[str] = Counter()
    found: list[ChatMessage] = []
    for one in said:
        key = f"{one.role}\0{one.text}\0{one.calls!r}"
        told[key] += 1
        digest = hashlib.sha256(f"{key}\0{told[key]}".encode("utf-8", "replace")).hexdigest()
        found.append(message(one).model_copy(update={"id": digest[:22]}))
    return found
