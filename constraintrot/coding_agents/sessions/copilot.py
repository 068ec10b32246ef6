"""Copilot CLI: ``~/.copilot/session-state/ID/events.jsonl``.

``session.compaction_complete`` holds the summary. Trials show that the user's turns are
listed in the summary message word for word; the file does not say so.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

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
from constraintrot.coding_agents.sessions.json_lines import at, cut_out, items, plain, string
from constraintrot.coding_agents.sessions.tools import Calls

_PREFIXES = ("session.", "user.", "assistant.", "tool.", "system.", "hook.", "abort", "skill.",
             "subagent.")  # fmt: skip
# Sources other than the user that write turns in the user's name.
_OTHERS = ("skill", "agent", "system", "autopilot")
# The instruction files that the agent puts into its system message.
_INSTRUCTIONS = ("<custom_instruction>\n", "\n</custom_instruction>")


def sniff(record: Record) -> bool:
    return string(record, "type").startswith(_PREFIXES) and isinstance(record.get("data"), dict)


def read(lines: Iterable[tuple[int, Record]], losses: Losses) -> Iterator[Event]:
    calls = Calls()
    for number, record in lines:
        kind, data = record.get("type"), record.get("data")
        time, key = string(record, "timestamp"), string(record, "id")
        if kind in ("session.start", "session.resume"):
            yield Facts(
                string(data, "sessionId"),
                string(data, "context", "cwd") or string(data, "cwd"),
                string(data, "copilotVersion"),
            )
        elif string(record, "agentId"):
            # Only a sub-agent's calls: its texts are not in the context.
            if kind == "assistant.message":
                yield replace(_reply(number, data, time, key, calls), text="", origin="sub-agent")
        elif kind == "session.compaction_complete":
            yield from _compacted(number, data, time, key)
        elif kind == "user.message":
            other = string(data, "source").startswith(_OTHERS)
            own = other or at(data, "isAutopilotContinuation") is True
            channel: Channel = "system" if own else "user"
            text = string(data, "content")
            yield Message("user", text, channel, number, time, key=key, attached=own)
        elif kind == "system.message":
            yield from _system(number, string(data, "content"), time, key)
        elif kind == "assistant.message":
            yield _reply(number, data, time, key, calls)
        elif kind == "tool.execution_complete":
            asked, name = at(data, "toolCallId"), string(data, "toolName")
            yield calls.result(asked, plain(at(data, "result")), number, time, key, name)
        elif kind == "tool.execution_start" and string(data, "mcpServerName"):
            name = f"mcp__{string(data, 'mcpServerName')}__{string(data, 'mcpToolName')}"
            calls.made(at(data, "toolCallId"), name, at(data, "arguments"))


def _system(number: int, text: str, time: str, key: str) -> Iterator[Message]:
    """Yield a system message, and separately the instruction files in it."""
    between, files = cut_out(text, *_INSTRUCTIONS)
    yield Message("system", "".join(between), "system", number, time, key=key)
    for place, file in enumerate(files):
        named = f"{key}:{place}"
        yield Message("system", file, "project file", number, time, key=named, attached=True)


def _reply(number: int, data: object, time: str, key: str, calls: Calls) -> Message:
    made = tuple(
        calls.made(at(asked, "toolCallId"), at(asked, "name"), at(asked, "arguments"))
        for asked in items(data, "toolRequests")
    )
    return Message("assistant", string(data, "content"), "agent", number, time, key=key, calls=made)


def _compacted(number: int, data: object, time: str, key: str) -> Iterator[Event]:
    if at(data, "success") is False:
        return
    yield Compaction(
        number,
        time,
        string(data, "trigger"),
        kept=Kept(channels=frozenset(["user", "project file", "system"])),
        certainty="assumed",
    )
    yield Message(
        "user", string(data, "summaryContent"), "summary", number, time, key=key, attached=True
    )


FORMAT = Format(
    name="copilot",
    title="Copilot CLI",
    sniff=sniff,
    read=read,
    skip=(b'"type":"assistant.message_delta"', b'"type":"assistant.reasoning'),
    places=("~/.copilot/session-state/*/events.jsonl",),
    project_files=("AGENTS.md", "copilot-instructions.md", "CLAUDE.md", "GEMINI.md"),
)
