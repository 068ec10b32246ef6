"""Messages in the model APIs' forms: OpenAI's Chat Completions and Responses, Anthropic, Gemini.

A file is a request's body, a list of messages, or lines of messages or bodies; a body is alone or
under ``body`` (OpenAI's batches) or ``request``, with the answer under ``response``. The forms
are those of the packages openai 3.52 and anthropic 2.12.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from constraintrot.coding_agents.sessions.events import Record
from constraintrot.coding_agents.sessions.json_lines import at, items, string
from constraintrot.coding_agents.wire.answers import Protocol
from constraintrot.coding_agents.wire.conversation import Said
from constraintrot.coding_agents.wire.conversation import read as read_request

TITLE = "OpenAI, Anthropic or Gemini messages"
_BLOCKS = frozenset(["tool_use", "tool_result", "thinking", "redacted_thinking", "compaction"])
_OPAQUE = frozenset(["compaction", "compaction_summary", "compaction_trigger"])
_LIST: Mapping[Protocol, str] = {"responses": "input", "gemini": "contents"}


@dataclass(frozen=True)
class Recorded:
    """A model's whole context, and its answer."""

    said: Sequence[Said]
    answer: Sequence[Said] = ()
    thread: str = ""  # the identifier of the conversation; empty if it is not recorded
    time: str = ""  # in ISO 8601; empty if it is not recorded
    # The provider's compaction before it: a digest of the summary, or ``opaque`` if only the
    # provider can read it; empty without one.
    after: str = ""


def sniff(record: Record) -> bool:
    """Return whether a record holds messages, or is one."""
    return _is_message(record) or _protocol(_body(record)) is not None


def units(records: Sequence[tuple[int, Record]]) -> Iterator[tuple[int, Record]]:
    """Yield the calls: each body, and all bare messages as one call."""
    if lines := [record for _, record in records if _is_message(record)]:
        yield records[0][0], {"messages": lines}
    yield from (pair for pair in records if not _is_message(pair[1]))


def read(unit: Record) -> list[Recorded]:
    """Return the contexts of a body; the last one has the answer, if there is one."""
    found = contexts(_body(unit))
    return [*found[:-1], replace(found[-1], answer=answer(at(unit, "response")))]


def contexts(body: Record) -> list[Recorded]:
    """Return the contexts in a body: one, and one more for each provider's compaction in it."""
    protocol = _protocol(body)
    if protocol is None:
        raise ValueError("no messages")
    found: list[Recorded] = []
    now: list[Any] = []
    after = ""
    for one in items(body, _LIST.get(protocol, "messages")):
        summary = None if protocol in ("chat", "gemini") else _summary(one)
        if summary is None:
            now.append(one)
            continue
        found.append(_context(protocol, body, now, after))
        digest = hashlib.sha256(summary.encode("utf-8", "replace")).hexdigest()
        after = "opaque" if protocol == "responses" else digest
        now = [] if protocol == "responses" else _compacted(one, summary)
    return [*found, _context(protocol, body, now, after)]


def said(messages: Sequence[Record]) -> list[Said]:
    """Parse messages in the form of Chat Completions or Anthropic."""
    return [one for context in contexts({"messages": messages}) for one in context.said]


def answer(told: Any) -> list[Said]:
    """Parse the messages of an answer in any of the APIs' forms."""
    told = at(told, "body") or told
    if choices := items(told, "choices"):
        told = at(choices[0], "message")
    if output := items(told, "output"):
        return [one for context in contexts({"input": output}) for one in context.said]
    if at(told, "content") is None and not items(told, "tool_calls"):
        return []
    return said([{**told, "role": "assistant", "content": at(told, "content") or ""}])


def _protocol(body: object) -> Protocol | None:
    """Return the API of a body; None if it holds no messages."""
    if items(body, "contents"):
        return "gemini"
    messages = items(body, "messages")
    given = messages or items(body, "input")
    names = ("role",) if messages else ("role", "type")
    if not given or not all(any(string(one, name) for name in names) for one in given):
        return None
    if not messages:
        return "responses"
    blocks = {string(part, "type") for one in given for part in items(one, "content")}
    return "messages" if at(body, "system") or _BLOCKS & blocks else "chat"


def _context(protocol: Protocol, body: Record, given: Sequence[Any], after: str) -> Recorded:
    told = [{**one, "content": ""} if one.get("content", "") is None else one for one in given]
    whole = {**body, _LIST.get(protocol, "messages"): told, "tools": []}
    return Recorded(read_request(protocol, whole).said, after=after)


def _compacted(message: Record, summary: str) -> list[Record]:
    """Return a summary's message as two: the summary, and the content after it."""
    blocks = items(message, "content")
    place = next(at for at, one in enumerate(blocks) if one.get("content") == summary)
    rest = {"role": "assistant", "content": blocks[place + 1 :]}
    return [{"role": "user", "content": summary}, *([rest] if rest["content"] else [])]


def _summary(one: object) -> str | None:
    """Return the summary of a compaction, empty if it is opaque; None for other items."""
    if at(one, "type") in _OPAQUE:
        return ""
    blocks = (block for block in items(one, "content") if at(block, "type") == "compaction")
    return next((text for block in blocks if (text := string(block, "content"))), None)


def _body(record: Record) -> Record:
    inner = (record.get(name) for name in ("body", "request"))
    return next((dict(one) for one in inner if isinstance(one, Mapping)), record)


def _is_message(record: Record) -> bool:
    return isinstance(record.get("role"), str) and ("content" in record or "tool_calls" in record)
