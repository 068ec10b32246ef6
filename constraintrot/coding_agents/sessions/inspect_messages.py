"""Inspect's messages and events, of logs and Scout's transcripts, as session events.

In a trace that records no compactions, they are detected by the inputs of the model calls.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from constraintrot.coding_agents.sessions.events import (
    Call,
    Channel,
    Compaction,
    Event,
    Facts,
    Losses,
    Message,
)
from constraintrot.coding_agents.sessions.tools import came_by, is_project_file
from constraintrot.episode.scaffold.review import RECALL, REVIEW
from constraintrot.errors import MissingExtraError
from constraintrot.evaluation.roles import ROLES
from constraintrot.extras import installed

if TYPE_CHECKING:
    from inspect_ai.event import Event as InspectEvent
    from inspect_ai.event import ModelEvent
    from inspect_ai.model import ChatMessage


# Roles whose calls are not part of the agent's conversation; ``grader`` is Inspect's own.
_OTHERS = frozenset({*ROLES, "grader", "author"} - {"agent", "summarizer"})

_SHORTEST_SUMMARY = 20
# Fewest missing messages for a compaction, so that an edited message is not one.
_FEWEST = 2
# Number of earlier calls that a call may continue, or whose answer may be its summary.
_RECENT = 4
# Sources that leave the dropped messages in later inputs, or hide the new ones.
_UNTOLD = ("atif", "opaque")


def conversation(
    session: str,
    messages: Sequence[ChatMessage],
    events: Iterable[InspectEvent],
    *,
    by_input: bool = False,
) -> Iterator[Event]:
    """Yield the events of a sample or transcript.

    With model events, each context is the input that the model was sent, so compactions are known
    exactly; otherwise only the messages are known. ``by_input`` detects compactions by inputs that
    leave out most of an earlier call's messages, for a recording that has no compactions.
    """
    yield Facts(session)
    told = list(_recorded(marked(events) if by_input else events))
    yield from told or _plain(messages)


def _plain(messages: Sequence[ChatMessage]) -> Iterator[Message]:
    calls: dict[str, Call] = {}
    for number, one in enumerate(messages, 1):
        yield _message(one, number, "", calls)


def _recorded(events: Iterable[InspectEvent]) -> Iterator[Event]:
    events = list(events)
    asides, inner = _asides(events), _inner(events)
    listed = [
        (at, one)
        for at, one in enumerate(events, 1)
        if one.event in ("model", "compaction") and one.span_id not in asides
    ]
    calls: dict[str, Call] = {}
    seen: set[str] = set()
    compacted: Any = None
    for place, (number, event) in enumerate(listed):
        if event.span_id in inner:
            for choice in event.output.choices if event.event == "model" else ():
                made = _message(choice.message, number, "", calls)
                yield replace(made, text="", origin="sub-agent")
            continue
        if event.event == "compaction":
            compacted = event
            continue
        assert event.event == "model"
        time = event.timestamp.isoformat() if event.timestamp else ""
        if _is_summary(event, [one for _, one in listed[place + 1 : place + 3]]):
            # The input is the history, followed by the request to the summarizer.
            shown = _before_request(event.input)
        elif event.role in _OTHERS:
            continue
        else:
            if compacted is not None:
                known = compacted.source not in _UNTOLD
                new = tuple(_message(one, number, time, calls) for one in event.input)
                yield Compaction(
                    number, time, str(compacted.type), replacement=new if known else (),
                    certainty="written" if known else "opaque",
                )  # fmt: skip
                seen |= {_key(one) for one in event.input}
                compacted = None
            shown = [*event.input, *(choice.message for choice in event.output.choices)]
        for one in shown:
            if _key(one) not in seen:
                seen.add(_key(one))
                yield _message(one, number, time, calls)


def _asides(events: Iterable[InspectEvent]) -> set[str]:
    """Return the spans in which the scaffold ``review`` asks the agent outside its conversation."""
    begun = [one for one in events if one.event == "span_begin"]
    named = {one.id for one in begun if one.name == REVIEW}
    ours = {one.parent_id for one in begun if one.name == RECALL and one.parent_id in named}
    return {one.id for one in begun if one.parent_id in ours}


def _inner(events: Iterable[InspectEvent]) -> set[str | None]:
    """Return the spans of sub-agents that run in a tool's call, without handovers."""
    found, handovers = set[str | None](), set[str | None]()
    for one in events:
        if one.event == "span_begin" and one.type == "handoff":
            handovers.add(one.id)
        elif one.event == "span_begin":
            own = one.type == "tool" and one.parent_id not in handovers
            found |= {one.id} if own or one.parent_id in found else set()
    return found


def _is_summary(event: ModelEvent, following: Sequence[InspectEvent]) -> bool:
    """Return whether a model call wrote a summary: by its role, or by the use of its answer."""
    if event.role == "summarizer":
        return True
    if event.role in _OTHERS or len(following) < 2 or following[0].event != "compaction":
        return False
    said, after = " ".join(event.output.completion.split()), following[1]
    return (
        len(said) > _SHORTEST_SUMMARY
        and after.event == "model"
        and any(
            said in " ".join(one.text.split()) for one in after.input if one.role != "assistant"
        )
    )


def _before_request(input: Sequence[ChatMessage]) -> list[ChatMessage]:
    """Return the history in a summarizer's input, without the final request for the summary.

    The result is empty if the summarizer is given the history as a single text.
    """
    return list(input[:-1]) if any(one.role == "assistant" for one in input) else []


def _key(message: ChatMessage) -> str:
    return message.id or f"{message.role}:{hash(message.text)}"


def _message(message: ChatMessage, number: int, time: str, calls: dict[str, Call]) -> Message:
    made: tuple[Call, ...] = ()
    channel: Channel = "system" if message.role == "system" else "user"
    origin = ""
    if message.role == "assistant":
        channel = "agent"
        made = tuple(Call(one.function, one.arguments, one.id) for one in message.tool_calls or ())
        calls |= {one.id: done for one, done in zip(message.tool_calls or (), made, strict=True)}
    elif message.role == "tool":
        call = calls.get(message.tool_call_id or "") or Call(message.function or "", {})
        channel, origin = came_by(call)
        channel = "nested file" if is_project_file(origin) else channel
    elif (message.metadata or {}).get("summary"):
        channel = "summary"
    return Message(
        message.role, message.text, channel, number, time, origin, message.id or "", made,
        attached=channel == "summary", answers=getattr(message, "tool_call_id", None) or "",
    )  # fmt: skip


def marked(events: Iterable[InspectEvent]) -> Iterator[InspectEvent]:
    """Yield the events, with a compaction before each model call whose context was rewritten.

    A context was rewritten if it lacks most messages of an earlier call but continues that call:
    by one of its messages, or by an answer that is now a summary. Calls of other agents in the
    trace do not continue it. A side call, such as for a title, is not a compaction: a later call
    has the messages again.
    """
    from inspect_ai.event import CompactionEvent

    told = list(events)
    known = any(event.event == "compaction" for event in told)
    recent: list[ModelEvent] = []
    for at, event in enumerate(told):
        if event.event == "model":
            # A sub-agent's calls may come between two of the agent's.
            former = (one for one in reversed(recent) if goes_on(one, event, recent))
            before = None if known else next(former, None)
            if before is not None and _rewrites(before, event):
                if _taken_up(before, event, told[at + 1 :]):
                    yield event
                    continue
                yield CompactionEvent(type="summary")
            recent = [*recent[1 - _RECENT :], event]
        yield event


def _rewrites(before: ModelEvent, after: ModelEvent) -> bool:
    was, now = _texts(before.input), set(_texts(after.input))
    gone = [text for text in was if text not in now]
    return len(gone) >= _FEWEST and len(gone) > len(was) / 2


def _taken_up(before: ModelEvent, aside: ModelEvent, following: Sequence[InspectEvent]) -> bool:
    """Return whether one of the next calls has the messages again that a side call left out."""
    gone = set(_texts(before.input)) - set(_texts(aside.input))
    calls = [one for one in following if one.event == "model"]
    return any(gone <= set(_texts(one.input)) for one in calls[:_RECENT])


def goes_on(before: ModelEvent, after: ModelEvent, recent: Sequence[ModelEvent]) -> bool:
    """Return whether a call continues an earlier call of the same conversation.

    The answer to one of the ``recent`` calls may be the summary in the call's input.
    """
    if _system(before.input) != _system(after.input):
        return False
    if set(_texts(before.input)) & set(_texts(after.input)):
        return True
    return _is_told(after, recent)


def is_another(before: ModelEvent, after: ModelEvent, recent: Sequence[ModelEvent]) -> bool:
    """Return whether a call belongs to another conversation with the same beginning.

    It shares only its beginning with the earlier call, and has no earlier answer as a summary.
    """
    was, now = _texts(before.input), _texts(after.input)
    pairs = enumerate(zip(was, now, strict=False))
    same = next((at for at, (old, new) in pairs if old != new), min(len(was), len(now)))
    apart = same > 0 and not set(was[same:]) & set(now[same:])
    return apart and _rewrites(before, after) and not _is_told(after, recent)


def _is_told(after: ModelEvent, recent: Sequence[ModelEvent]) -> bool:
    """Return whether an earlier answer is in a message that is not the assistant's."""
    shown = _texts(one for one in after.input if one.role != "assistant")
    answers = (" ".join(one.output.completion.split()) for one in recent)
    return any(
        len(answer) > _SHORTEST_SUMMARY and any(answer in text for text in shown)
        for answer in answers
    )


def _texts(messages: Iterable[ChatMessage]) -> list[str]:
    told = (" ".join(one.text.split()) for one in messages if one.role != "system")
    return [text for text in told if text]


def _system(messages: Iterable[ChatMessage]) -> list[str]:
    return [one.text for one in messages if one.role == "system"][:1]


def is_log(path: Path, head: bytes) -> bool:
    """Return whether a file is an Inspect log, by its name and first bytes."""
    if path.suffix == ".eval":
        return head.startswith(b"PK")
    return path.suffix == ".json" and b'"eval"' in head and b'"version"' in head


def samples(path: Path) -> Iterator[tuple[str, Callable[[Losses], Iterator[Event]]]]:
    if not installed("inspect_ai"):
        raise MissingExtraError(
            f"{path} is an Inspect log, which needs inspect_ai: pip install 'constraintrot[inspect]'"
        )
    from inspect_ai.log import read_eval_log_sample_summaries

    for summary in read_eval_log_sample_summaries(str(path)):
        name = f"{path}#{summary.id}/{summary.epoch}"
        yield name, partial(_sample, path, summary.id, summary.epoch)


def _sample(path: Path, key: int | str, epoch: int, losses: Losses) -> Iterator[Event]:
    from inspect_ai.log import read_eval_log_sample

    sample = read_eval_log_sample(str(path), key, epoch, resolve_attachments=True)
    yield from conversation(f"{key}/{epoch}", sample.messages, sample.events)
