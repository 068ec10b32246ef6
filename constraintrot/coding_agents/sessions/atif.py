"""ATIF, the trajectory format of Harbor and others: one JSON object with ``steps``.

A system step whose ``extra.context_management`` says ``compaction`` and ``replace`` stands
for a compaction. The new context is that step's observation or, without one, the user's step
after it. Inspect Scout's source keeps the earlier steps in the context, so every rule would
survive there; this reader does not, and needs no other package.
"""

from collections.abc import Iterable, Iterator
from typing import Literal

from constraintrot.coding_agents.sessions.events import (
    Channel,
    Compaction,
    Event,
    Facts,
    Format,
    Losses,
    Message,
    Record,
)
from constraintrot.coding_agents.sessions.json_lines import at, items, plain, string
from constraintrot.coding_agents.sessions.tools import Calls


def sniff(record: Record) -> bool:
    steps = record.get("steps")
    return isinstance(steps, list) and (
        string(record, "schema_version").startswith("ATIF") or isinstance(record.get("agent"), dict)
    )


def read(lines: Iterable[tuple[int, Record]], losses: Losses) -> Iterator[Event]:
    """Yield the events of trajectories; the line numbers count steps."""
    for _, record in lines:
        agent = (string(record, "agent", "name"), string(record, "agent", "version"))
        yield Facts(string(record, "session_id"), version=" ".join(filter(None, agent)))
        yield from _steps(record, losses)


def _steps(record: Record, losses: Losses) -> Iterator[Event]:
    calls = Calls()
    summary_follows = False
    for number, step in enumerate(items(record, "steps"), 1):
        source, managed = at(step, "source"), at(step, "extra", "context_management")
        if source not in ("system", "user", "agent"):
            losses.line(number)
        elif source == "system" and managed is not None:
            if at(managed, "boundary") in (None, "replace"):
                summary_follows = not _observed(step)
                yield from _compacted(number, step, "assumed" if summary_follows else "rebuilt")
            else:
                losses.unknown += 1
        else:
            summary = summary_follows and source == "user"
            yield from _step(number, step, calls, summary=summary)
            summary_follows = False


def _compacted(
    number: int, step: object, certainty: Literal["assumed", "rebuilt"]
) -> Iterator[Event]:
    time = string(step, "timestamp")
    yield Compaction(number, time, certainty=certainty)
    for text in _observed(step):
        yield Message("user", text, "summary", number, time, attached=True)


def _observed(step: object) -> list[str]:
    results = items(step, "observation", "results")
    return [text for one in results if (text := plain(at(one, "content")))]


def _step(number: int, step: object, calls: Calls, *, summary: bool) -> Iterator[Message]:
    time, text = string(step, "timestamp"), plain(at(step, "message"))
    if at(step, "source") == "user":
        came_by: Channel = "summary" if summary else "user"
        yield Message("user", text, came_by, number, time, attached=summary)
        return
    if at(step, "source") == "system":
        yield Message("system", text, "system", number, time)
        return
    made = tuple(
        calls.made(at(one, "tool_call_id"), at(one, "function_name"), at(one, "arguments"))
        for one in items(step, "tool_calls")
    )
    yield Message("assistant", text, "agent", number, time, calls=made)
    for one in items(step, "observation", "results"):
        if shown := plain(at(one, "content")):
            yield calls.result(at(one, "source_call_id"), shown, number, time)


FORMAT = Format(name="atif", title="ATIF", sniff=sniff, read=read)
