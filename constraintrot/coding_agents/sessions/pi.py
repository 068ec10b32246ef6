"""pi: ``~/.pi/agent/sessions/*/*.jsonl``.

A ``compaction`` line holds the summary and the id of the first entry that is kept.
Entries are a tree: an entry whose parent is an earlier entry starts a new branch, and the
entries after that parent leave the context. Older files have no ids: there the compaction
counts the lines before the first that is kept.
"""

from collections.abc import Iterable, Iterator

from constraintrot.coding_agents.sessions.events import (
    Compaction,
    Event,
    Facts,
    Format,
    Kept,
    Losses,
    Message,
    Record,
)
from constraintrot.coding_agents.sessions.json_lines import at, items, plain, string, text_parts
from constraintrot.coding_agents.sessions.tools import Calls

# Texts that pi puts before a prompt: files from its command line, and a skill.
_SHOWN = tuple((f"<{tag} name=", f"</{tag}>") for tag in ("file", "skill"))
_KINDS = ("message", "compaction", "branch_summary", "custom_message")


def sniff(record: Record) -> bool:
    if record.get("type") == "session":
        return "cwd" in record and "id" in record
    return (
        record.get("type") in (*_KINDS, "model_change", "thinking_level_change")
        and ("parentId" in record)
        and "data" not in record
    )


def read(lines: Iterable[tuple[int, Record]], losses: Losses) -> Iterator[Event]:
    calls = Calls()
    last = ""
    for number, record in lines:
        named, parent = string(record, "id"), string(record, "parentId")
        key = named or _counted(number - 1)
        kind, time = record.get("type"), string(record, "timestamp")
        if kind == "session":
            yield Facts(key, string(record, "cwd"), f"session format {record.get('version', '?')}")
            continue
        if parent and last and parent != last:
            yield Compaction(number, time, kept=Kept(last=parent), counted=False)
        last = named or last
        if kind == "compaction":
            index = record.get("firstKeptEntryIndex")
            first = string(record, "firstKeptEntryId") or _counted(index)
            yield Compaction(number, time, kept=Kept(first))
            summary = string(record, "summary")
            yield Message("user", summary, "summary", number, time, key=key, attached=True)
        elif kind == "message":
            yield from _message(number, record, key, time, calls)
        elif kind in ("branch_summary", "custom_message"):
            text = string(record, "summary") or plain(record.get("content"))
            yield Message("user", text, "system", number, time, key=key)
        else:
            # Settings are in the tree too: a later entry may name them as its parent.
            yield Message("system", "", "system", number, time, key=key)


def _counted(lines: object) -> str:
    """Return the key of an entry without an id: the number of lines before it."""
    return f"line {lines}" if isinstance(lines, int) else ""


def _message(number: int, record: Record, key: str, time: str, calls: Calls) -> Iterator[Message]:
    message = record.get("message")
    role = at(message, "role")
    text = text_parts(at(message, "content"))
    if role == "assistant":
        made = tuple(
            calls.made(at(part, "id"), at(part, "name"), at(part, "arguments"))
            for part in items(message, "content")
            if at(part, "type") == "toolCall"
        )
        yield Message("assistant", text, "agent", number, time, key=key, calls=made)
    elif role == "toolResult":
        asked, name = at(message, "toolCallId"), string(message, "toolName")
        yield calls.result(asked, text, number, time, key, name)
    elif role == "bashExecution":
        shown = string(message, "output")
        yield Message("user", shown, "tool", number, time, string(message, "command"), key)
    elif role == "user":
        for opening, closing in _SHOWN:
            # Up to the last closing mark, since a file may contain the marks.
            start, end = text.find(opening), text.rfind(closing) + len(closing)
            if 0 <= start < end - len(closing):
                yield Message("user", text[start:end], "file", number, time, key=key)
                text = (text[:start] + text[end:]).strip()
        yield Message("user", text, "user", number, time, key=key)
    else:
        # A message of an extension, or the summary of a branch.
        text = text or string(message, "summary")
        yield Message("user", text, "system", number, time, key=key)


FORMAT = Format(
    name="pi",
    title="pi",
    sniff=sniff,
    read=read,
    places=("~/.pi/agent/sessions/*/*.jsonl",),
    project_files=("AGENTS.md", "CLAUDE.md"),
)
