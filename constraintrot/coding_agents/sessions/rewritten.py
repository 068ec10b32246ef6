"""Compactions of traces that record model calls and no compactions, told by the calls' inputs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from inspect_ai.event import Event as InspectEvent
    from inspect_ai.event import ModelEvent
    from inspect_ai.model import ChatMessage

# Messages that have to be gone, so that one that was edited is no compaction.
_FEWEST = 2
_SHORTEST_SUMMARY = 20
# Earlier calls that one may go on from, or whose answer may be its summary.
_RECENT = 4


def marked(events: Iterable[InspectEvent]) -> Iterator[InspectEvent]:
    """The events, with a compaction before each model call whose context was rewritten.

    A call's context was rewritten where most messages of an earlier call are not in it, and it
    goes on with that one: by a message of it, or by an answer that is now told to the model as
    a summary. A call of another agent in the same trace does neither.
    """
    from inspect_ai.event import CompactionEvent

    told = list(events)
    known = any(event.event == "compaction" for event in told)
    recent: list[ModelEvent] = []
    for event in told:
        if event.event == "model":
            # A sub-agent's calls may stand between two of the agent's.
            former = (one for one in reversed(recent) if _goes_on(one, event, recent))
            before = None if known else next(former, None)
            if before is not None and _rewrites(before, event):
                yield CompactionEvent(type="summary")
            recent = [*recent[1 - _RECENT :], event]
        yield event


def _rewrites(before: ModelEvent, after: ModelEvent) -> bool:
    was, now = _texts(before.input), set(_texts(after.input))
    gone = [text for text in was if text not in now]
    return len(gone) >= _FEWEST and len(gone) > len(was) / 2


def _goes_on(before: ModelEvent, after: ModelEvent, recent: Sequence[ModelEvent]) -> bool:
    if _system(before.input) != _system(after.input):
        return False
    if set(_texts(before.input)) & set(_texts(after.input)):
        return True
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
