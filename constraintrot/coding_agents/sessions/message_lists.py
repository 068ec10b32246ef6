"""Messages as the model APIs take them: OpenAI's Chat Completions and Responses, Anthropic, Gemini.

A file is a request's body, a list of messages, a message a line, or a body a line, alone or
under ``body`` (OpenAI's batches) or ``request``, with the answer under ``response``. The forms
are those of the packages openai 3.52 and anthropic 2.12.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from constraintrot.coding_agents.sessions.events import Record
from constraintrot.coding_agents.sessions.json_lines import at, items, string
from constraintrot.coding_agents.wire.answers import Protocol
from constraintrot.coding_agents.wire.conversation import Said
from constraintrot.coding_agents.wire.requests import read

_BLOCKS = frozenset(["tool_use", "tool_result", "thinking", "redacted_thinking", "compaction"])
_OPAQUE = frozenset(["compaction", "compaction_summary", "compaction_trigger"])
_LIST: Mapping[Protocol, str] = {"responses": "input", "gemini": "contents"}


@dataclass(frozen=True)
class Part:
    """A context, whole.

    Attributes:
        said: its messages.
        after: the compaction that it follows; empty for the first.
        opaque: whether that put in something that its provider alone can read.
    """

    said: Sequence[Said]
    after: str = ""
    opaque: bool = False


@dataclass(frozen=True)
class Recorded:
    """A call as it was recorded.

    Attributes:
        parts: the contexts in its input: one, and one more for each compaction in it.
        answer: of the model.
        thread: the identifier of its conversation; empty where the recording has none.
        time: in ISO 8601; empty likewise.
    """

    parts: Sequence[Part]
    answer: Sequence[Said] = ()
    thread: str = ""
    time: str = ""


def sniff(record: Record) -> bool:
    """Return whether a record holds messages, or is one."""
    return _is_message(record) or protocol_of(_body(record)) is not None


def calls(
    records: Sequence[tuple[int, Record]],
) -> Iterator[tuple[int, Callable[[], Recorded]]]:
    """The calls, with their lines, each read when it is asked for."""
    lines = [record for _, record in records if _is_message(record)]
    if lines:
        yield records[0][0], lambda: Recorded(parts({"messages": lines}))
    for number, record in records:
        if not _is_message(record):
            yield number, partial(_recorded, record)


def protocol_of(body: object) -> Protocol | None:
    """Return the API that a body is of; None where it holds no messages."""
    if items(body, "contents"):
        return "gemini"
    given = items(body, "messages") or items(body, "input")
    if not given or not all(isinstance(one, Mapping) for one in given):
        return None
    if not items(body, "messages"):
        return "responses" if any("role" in one or "type" in one for one in given) else None
    if not all(isinstance(one.get("role"), str) for one in given):
        return None
    blocks = {at(part, "type") for one in given for part in items(one, "content")}
    return "messages" if at(body, "system") or _BLOCKS & blocks else "chat"


def parts(body: Record) -> list[Part]:
    """The contexts in a body.

    Raises:
        ValueError: it holds no messages.
    """
    protocol = protocol_of(body)
    if protocol is None:
        raise ValueError("no messages")
    name = _LIST.get(protocol, "messages")
    found: list[Part] = []
    now: list[Any] = []
    after = ""
    for one in items(body, name):
        summary = None if protocol in ("chat", "gemini") else _summary(one)
        if summary is None:
            now.append(one)
            continue
        found.append(_part(protocol, body, now, after))
        after = summary
        now = [] if protocol == "responses" else _compacted(one, summary)
    found.append(_part(protocol, body, now, after))
    return [one for one in found if one.said or one.after]


def said(body: Record) -> list[Said]:
    """All messages of a body, or of an answer's message."""
    return [one for part in parts(body) for one in part.said]


def answer(told: Any) -> list[Said]:
    """The messages of an answer, in any of the APIs' forms."""
    told = at(told, "body") or told
    choices = items(told, "choices")
    if choices:
        told = at(choices[0], "message")
    if items(told, "output"):
        return said({"input": items(told, "output")})
    if at(told, "content") is None and not items(told, "tool_calls"):
        return []
    return said({"messages": [{**told, "role": "assistant", "content": at(told, "content") or ""}]})


def _part(protocol: Protocol, body: Record, given: Sequence[Any], after: str) -> Part:
    told = [{**one, "content": ""} if one.get("content", "") is None else one for one in given]
    whole = {**body, _LIST.get(protocol, "messages"): told, "tools": []}
    return Part(read(protocol, whole).said, after, opaque=protocol == "responses" and bool(after))


def _compacted(message: Record, summary: str) -> list[Record]:
    """The messages in place of one that holds a summary: the summary, and what follows it."""
    blocks = items(message, "content")
    place = next(at for at, one in enumerate(blocks) if one.get("content") == summary)
    rest = blocks[place + 1 :]
    shown: list[Record] = [{"role": "user", "content": summary}]
    return [*shown, {"role": "assistant", "content": rest}] if rest else shown


def _summary(one: object) -> str | None:
    """Return what a compaction left, as text or as the provider's secret; None for other items."""
    if at(one, "type") in _OPAQUE:
        return string(one, "encrypted_content") or "opaque"
    for block in items(one, "content"):
        if at(block, "type") == "compaction" and string(block, "content"):
            return string(block, "content")
    return None


def _recorded(record: Record) -> Recorded:
    return Recorded(parts(_body(record)), answer(at(record, "response")))


def _body(record: Record) -> Record:
    for name in ("body", "request"):
        if isinstance(record.get(name), Mapping):
            return dict(record[name])
    return record


def _is_message(record: Record) -> bool:
    return isinstance(record.get("role"), str) and ("content" in record or "tool_calls" in record)
