"""Claude Code: ``~/.claude/projects/CWD-WITH-DASHES/SESSION.jsonl``.

A compaction is a line ``system/compact_boundary``; the summary and the re-attached files
follow it. The system prompt is in the vendor's own lines, which are not read; a root
CLAUDE.md is sent with each request and has no line of its own.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import cast

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
    cut_out,
    items,
    plain,
    string,
    text_parts,
)
from constraintrot.coding_agents.sessions.tools import Calls, is_project_file

_KINDS = frozenset(["user", "assistant", "system", "attachment"])
# Texts of commands, hooks, editors or other agents that the agent writes into user lines.
_NOT_TYPED = re.compile(
    r"\s*(?:<(?:command-(?:name|message|args)|local-command-\w+|bash-(?:input|stdout|stderr)"
    r"|system-reminder|task-notification|teammate-message|cross-session-message|channel"
    r"|ide_\w+|user-prompt-submit-hook)\b|Another Claude session sent a message:)"
)
_CONTINUED = "This session is being continued from a previous conversation"
# The agent's words about a refused call, and before the user's words about it.
_REFUSED = "The user doesn't want to proceed with this tool use."
_INSTEAD = "To tell you how to proceed, the user said:\n"
_CLARIFIES = "The user wants to clarify these questions."
# The marks of a reminder that the agent appends to its tools' results.
_REMINDER = ("<system-reminder>", "</system-reminder>")


def sniff(record: Record) -> bool:
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
    calls = Calls()
    begun = False
    # Keys of the lines since the user's last turn: a turn on an earlier line is after a rewind.
    since = set[str]()
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
            else:
                # Its key only: a compaction may name it as the last message that it keeps.
                yield Message("system", "", "system", number, key=string(record, "uuid"))
        elif kind == "attachment":
            yield from _attachment(number, record)
        else:
            told = list(_message(number, record, calls))
            if any(one.channel == "user" for one in told) and told[0].role == "user":
                parent = string(record, "parentUuid")
                if parent and parent not in since:
                    yield Compaction(number, kept=Kept(last=parent), counted=False)
                since.clear()
            yield from told
        since.add(string(record, "uuid"))


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
    typed = plain(at(attached, "prompt")) if _is_typed(attached) else ""
    if typed:
        time, key = string(record, "timestamp"), string(record, "uuid")
        yield Message("user", typed, "user", number, time, key=key)
        return
    # Even without a text: a compaction may name it as the last message that it keeps.
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


def _is_typed(attached: object) -> bool:
    """Return whether an attachment is text that the user typed while the agent worked."""
    return (
        at(attached, "type") == "queued_command"
        and at(attached, "commandMode") in (None, "prompt")
        and _is_human(attached)
        and not _NOT_TYPED.match(plain(at(attached, "prompt")))
    )


def _is_human(record: object) -> bool:
    """Return whether no other author is named, such as another agent or a background task."""
    return at(record, "origin", "kind") in (None, "human")


def _all_text(value: object, deep: int = 6) -> str:
    """Return all texts of an attachment under any key, except names, paths and ids."""
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
        made = tuple(
            calls.made(at(part, "id"), at(part, "name"), at(part, "input"))
            for part in items(message, "content")
            if at(part, "type") == "tool_use"
        )
        # A sub-agent's texts are not in this context, but its calls are executed.
        text, origin = ("", "sub-agent") if side else (text_parts(content), "")
        if text or made:
            yield Message("assistant", text, "agent", number, time, origin, key, made)
        return
    if side:
        return
    if record.get("isCompactSummary") is True or text_parts(content).startswith(_CONTINUED):
        yield Message("user", plain(content), "summary", number, time, key=key, attached=True)
        return
    for part in items(message, "content"):
        if at(part, "type") == "tool_result":
            shown = plain(at(part, "content"))
            given = calls.result(at(part, "tool_use_id"), shown, number, time, key)
            yield from _result(given, record, failed=at(part, "is_error") is True)
    typed, own = _told(content, machine=record.get("isMeta") is True or not _is_human(record))
    if own:
        yield Message("user", own, "system", number, time, key=key, attached=not typed)
    if typed:
        yield Message("user", typed, "user", number, time, key=key)


def _told(content: object, *, machine: bool) -> tuple[str, str]:
    """Split a user line into what the user typed and what the agent added."""
    typed, own = list[str](), list[str]()
    for part in content if isinstance(content, list) else [content]:
        text = text_parts(part if isinstance(part, str) else [part])
        if not machine and _NOT_TYPED.match(text) is None:
            typed.append(text)
            continue
        own.append(text)
        if not machine and text.lstrip().startswith("<command-"):
            # The text typed after a command's name.
            typed.append(text.partition("<command-args>")[2].rpartition("</command-args>")[0])
    return "\n".join(filter(None, typed)), "\n".join(filter(None, own))


def _is_refusal(given: Message, record: Record, *, failed: bool) -> bool:
    """Return whether a result is the user's refusal of a call, and not a tool's similar text.

    Newer versions mark a refusal. In older ones an error of an MCP server has the same form.
    """
    if "toolDenialKind" in record:
        return given.text.startswith(_REFUSED) and record["toolDenialKind"] == "user-rejected"
    known = failed and given.origin != "" and given.channel != "mcp"
    return known and given.text.startswith(_REFUSED)


def _result(given: Message, record: Record, *, failed: bool) -> Iterator[Message]:
    """Yield a tool's result, and separately the words of the user and the agent in it."""
    if _is_refusal(given, record, failed=failed):
        said = given.text.partition(_INSTEAD)[2]
        yield replace(given, text=given.text.removesuffix(said), channel="system", origin="")
        if not said.startswith(_CLARIFIES):
            yield from _said(given, said)
        return
    (*between, last), reminders = cut_out(given.text, *_REMINDER)
    yield replace(given, text="".join([*map(str.rstrip, between), last]))
    for reminder in reminders:
        said = reminder.join(_REMINDER)
        yield replace(given, role="user", text=said, channel="system", attached=True)
    answers = at(record, "toolUseResult", "answers")
    if given.origin == "AskUserQuestion" and isinstance(answers, Mapping):
        yield from _said(given, plain(list(cast("Mapping[object, object]", answers).values())))


def _said(given: Message, text: str) -> Iterator[Message]:
    if text.strip():
        yield replace(given, role="user", text=text, channel="user", origin="")


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
