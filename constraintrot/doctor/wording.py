"""The words for verdicts, states and channels, the same in every output."""

from collections.abc import Mapping
from datetime import datetime

from constraintrot.coding_agents.pins.agents import AGENTS
from constraintrot.coding_agents.sessions.events import Channel
from constraintrot.doctor.findings import Change, Compacted, Diagnosis, History
from constraintrot.rule_text.survival.states import SurvivalState

CHANNEL: Mapping[Channel, str] = {
    "user": "your turn",
    "project file": "the project file",
    "nested file": "a nested rules file",
    "file": "a file that was read",
    "mcp": "MCP",
    "tool": "a tool",
    "system": "the system prompt",
    "agent": "the agent",
    "summary": "a summary",
}
STATE: Mapping[SurvivalState, str] = {
    "verbatim": "word for word",
    "restated": "in other words",
    "weakened": "now a preference, or with exceptions",
    "contradicted": "now denied or lifted",
    "attributed": "now said of others, or as a claim",
    "partial": "a limit is missing",
    "lost": "not stated any more",
    "scoped": "now for another thing, time or place",
    "deeds": "only what was done is told",
    "cannot tell": "cannot tell",
}


def became(change: Change) -> str:
    """Return a rule's state after a compaction, with the reader's probability if there is one."""
    reading, state = change.reading, STATE[change.after or "lost"]
    if change.outcome == "cannot be told" or reading is None:
        return state if change.after else "cannot be told"
    return f"{state}; in force with probability {reading.bound:.2f}"


def advice(found: Diagnosis, history: History, seeds: str = "") -> str:
    """Return one line of advice about a loss.

    ``seeds`` is the folder that lost rules are written to as seeds, or empty.
    """
    agent, cwd = found.session.format, found.facts.cwd.rstrip("/\\")
    name = next(iter(found.session.project_files), "")
    file = f"put it into {cwd + '/' if cwd else ''}{name}" if name else ""
    pin = f"constraintrot pin install {agent} --seeds {seeds or 'pins'}"
    pin = pin if seeds else f"add --pin pins to this command, then {pin}"
    if agent not in AGENTS:
        return file or "state it again after each compaction"
    return f"{file}, or {pin}"


def counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def clock(time: str) -> str:
    """Return the hours and minutes of an ISO time; empty if it is not one."""
    try:
        return datetime.fromisoformat(time).strftime("%H:%M")
    except (ValueError, TypeError):
        return ""


def when(made: Compacted) -> str:
    hour = clock(made.time)
    return f"the compaction of {hour}" if hour else f"the compaction at line {made.line}"


def lived(history: History) -> str:
    """Return the time from a rule's first mention to its first loss, in words."""
    turns = counted(history.turns, "turn")
    seconds = history.seconds
    if seconds is None or seconds < 0:
        return turns
    minutes = round(seconds / 60)
    return (
        f"{turns}, {minutes // 60} h {minutes % 60} min"
        if minutes >= 60
        else f"{turns}, {minutes} min"
    )


def source(history: History) -> str:
    given = history.given
    if given is None:
        return "never said in this session"
    where = CHANNEL[given.message.channel]
    origin = given.message.origin
    return f"{where} ({origin})" if origin and given.message.channel != "user" else where
