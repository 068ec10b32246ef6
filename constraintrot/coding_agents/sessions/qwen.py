"""Qwen Code: ``~/.qwen/projects/*/chats/*.jsonl``.

A compaction is a line ``system/chat_compression``. It holds the new context in current
versions, and only token counts in older ones.
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
from constraintrot.coding_agents.sessions.gemini import content
from constraintrot.coding_agents.sessions.json_lines import at, plain, string
from constraintrot.coding_agents.sessions.tools import Calls


def sniff(record: Record) -> bool:
    return "sessionId" in record and (
        at(record, "message", "parts") is not None or "systemPayload" in record
    )


def read(lines: Iterable[tuple[int, Record]], losses: Losses) -> Iterator[Event]:
    calls = Calls()
    begun = False
    for number, record in lines:
        if not begun and string(record, "cwd"):
            begun = True
            yield Facts(
                string(record, "sessionId"), string(record, "cwd"), string(record, "version")
            )
        time, key = string(record, "timestamp"), string(record, "uuid")
        if record.get("type") == "system":
            if record.get("subtype") == "chat_compression":
                yield _compressed(number, record, time)
            elif record.get("subtype") == "rewind":
                kept = Kept(last=string(record, "parentUuid"))
                yield Compaction(number, time, kept=kept, counted=False)
        elif record.get("type") in ("user", "assistant", "tool_result"):
            yield from content(record.get("message"), number, time, key, calls)
            if at(record, "message", "parts") is None:
                losses.unknown += 1


def _compressed(number: int, record: Record, time: str) -> Compaction:
    payload = record.get("systemPayload")
    trigger = string(payload, "info", "triggerReason")
    written = at(payload, "compressedHistory")
    if not isinstance(written, list):
        return Compaction(number, time, trigger, certainty="assumed")
    calls = Calls()
    new: list[Message] = []
    for entry in written:
        if at(entry, "parts") is not None:
            new += content(entry, number, time, "", calls)
        elif text := plain(entry):
            new.append(Message("user", text, "summary", number, time))
    return Compaction(number, time, trigger, replacement=tuple(new), certainty="written")


FORMAT = Format(
    name="qwen",
    title="Qwen Code",
    sniff=sniff,
    read=read,
    skip=(b'"subtype":"ui_telemetry"', b'"subtype":"file_history_snapshot"'),
    places=("~/.qwen/projects/*/chats/*.jsonl", "~/.qwen/tmp/*/chats/*.jsonl"),
    project_files=("QWEN.md", "AGENTS.md"),
)
