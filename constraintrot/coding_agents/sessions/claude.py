"""Claude Code: ``~/.claude/projects/CWD-WITH-DASHES/SESSION.jsonl``.

A compaction is a line ``system/compact_boundary``; the summary and what the agent
re-attaches follow it. The system prompt is in lines that are the vendor's and are
not read; a root CLAUDE.md is sent with each request and stands in no line of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from constraintrot.coding_agents.sessions.events import (
    Channel,
    Compaction,
    Event,
    Facts,
    Format,
    Kept,
    Losses,
    Message,
    Record,
)
from constraintrot.coding_agents.sessions.json_lines import (
    at,
    call,
    items,
    plain,
    string,
    text_parts,
)
from constraintrot.coding_agents.sessions.tools import Calls, is_project_file

_KINDS = frozenset(["user", "assistant", "system", "attachment"])
# Written by the agent into user lines: what a command said, reminders, caveats.
_NOT_TYPED = re.compile(
    r"\s*<(?:command-(?:name|message|args)|local-command-\w+|bash-(?:input|stdout|stderr)"
    r"|system-reminder|task-notification)\b"
)


def sniff(record: Record) -> bool:
    """Return whether a record is of a session of this format."""
    return (
        "sessionId" in record
        and (
            "parentUuid" in record
            or record.get("type") in ("file-history-snapshot", "queue-operation")
        )
        and at(record, "message", "parts") is None
        and "systemPayload" not in record
    )


def read(lines: Iterable[tuple[int, Record]], losses: Losses) -> Iterator[Event]:
    """The events of a session."""
    calls = Calls()
    begun = False
    for number, record in lines:
        kind = record.get("type")
        if not isinstance(kind, str) or kind not in _KINDS:
            continue
        if not begun and string(record, "cwd"):
            begun = True
            yield Facts(
                string(record, "sessionId"), string(record, "cwd"), string(record, "version")
            )
        if kind == "system":
            if record.get("subtype") == "compact_boundary":
                yield _boundary(number, record)
        elif kind == "attachment":
            yield from _attachment(number, record)
        else:
            yield from _message(number, record, calls)


def _boundary(number: int, record: Record) -> Compaction:
    kept = at(record, "compactMetadata", "preservedSegment")
    return Compaction(
        number,
        string(record, "timestamp"),
        string(record, "compactMetadata", "trigger"),
        kept=Kept(string(kept, "headUuid"), string(kept, "tailUuid")),
    )


def _attachment(number: int, record: Record) -> Iterator[Message]:
    attached = at(record, "attachment")
    # One without a text is taken in too: a compaction may name it as the last that it keeps.
    text = _all_text(attached)
    kind = string(attached, "type")
    path = next(
        (found for key in ("path", "filename", "displayPath") if (found := string(attached, key))),
        "",
    )
    nested = "memory" in kind or is_project_file(path)
    channel: Channel = "nested file" if nested else "file" if path else "system"
    yield Message(
        "user",
        text,
        "project file" if kind == "instructions" else channel,
        number,
        string(record, "timestamp"),
        path or kind,
        string(record, "uuid"),
        attached=True,
    )


def _all_text(value: object, deep: int = 6) -> str:
    """All longer texts of an attachment, whatever its kind calls them."""
    if isinstance(value, str):
        return value
    if deep == 0:
        return ""
    if isinstance(value, list):
        return "\n".join(filter(None, (_all_text(one, deep - 1) for one in value)))
    if isinstance(value, dict):
        told = (
            _all_text(one, deep - 1)
            for key, one in value.items()
            if key not in ("type", "path", "filename", "displayPath", "uuid", "hookName")
        )
        return "\n".join(filter(None, told))
    return ""


def _message(number: int, record: Record, calls: Calls) -> Iterator[Message]:
    message = record.get("message")
    content = at(message, "content")
    time, key = string(record, "timestamp"), string(record, "uuid")
    side = record.get("isSidechain") is True
    if record.get("type") == "assistant":
        made = []
        for part in items(message, "content"):
            if at(part, "type") == "tool_use":
                made.append(call(at(part, "name"), at(part, "input")))
                calls.made(at(part, "id"), made[-1])
        # What a sub-agent reads is not in this context; what it calls is done all the same.
        text = "" if side else text_parts(content)
        if text or made:
            yield Message(
                "assistant",
                text,
                "agent",
                number,
                time,
                "sub-agent" if side else "",
                key,
                tuple(made),
            )
        return
    if side:
        return
    if record.get("isCompactSummary") is True:
        yield Message("user", plain(content), "summary", number, time, key=key, attached=True)
        return
    for part in items(message, "content"):
        if at(part, "type") == "tool_result":
            channel, origin = calls.answered(at(part, "tool_use_id"))
            if is_project_file(origin):
                channel = "nested file"
            yield Message("tool", plain(at(part, "content")), channel, number, time, origin, key)
    text = text_parts(content)
    if text:
        own = record.get("isMeta") is True or _NOT_TYPED.match(text) is not None
        yield Message(
            "user", text, "system" if own else "user", number, time, key=key, attached=own
        )


FORMAT = Format(
    name="claude",
    title="Claude Code",
    sniff=sniff,
    read=read,
    skip=(
        b'"type":"file-history-snapshot"',
        b'"type":"progress"',
        b'"type":"queue-operation"',
        b'"type":"api-request',
        b'"attachment":{"type":"prompt_snapshot"',
    ),
    places=("~/.claude/projects/*/*.jsonl",),
    project_files=("CLAUDE.md",),
)
