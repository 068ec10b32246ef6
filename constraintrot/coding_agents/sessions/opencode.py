"""opencode: SQLite ``~/.local/share/opencode/opencode.db``, or an ``opencode export``.

A compaction is a user message with a part ``compaction``, and then an assistant message
that is marked ``summary``. The database is opened read-only.
"""

import re
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import replace
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

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
from constraintrot.coding_agents.sessions.json_lines import (
    LONGEST_LINE,
    at,
    items,
    parsed,
    plain,
    string,
)
from constraintrot.coding_agents.sessions.tools import Calls, with_nested

_PARTS = """
    select m.rowid, m.id, m.data, p.data, m.session_id from message m left join part p on p.message_id = m.id
    where m.session_id = ? order by m.time_created, m.id, p.id
"""

# The messages of a session and of its sub-agents, which have their own sessions.
_FAMILY = """
    with recursive family(id) as (
        values (?) union select s.id from session s join family f on s.parent_id = f.id
    )
    select m.rowid, m.id, m.data, p.data, m.session_id
    from message m left join part p on p.message_id = m.id
    where m.session_id in family order by m.time_created, m.id, p.id
"""
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
_TABLES = frozenset(["session", "message", "part"])
_OWN = frozenset(["apply_patch", "plan_exit", "plan_enter", "background_output"])


def sniff(record: Record) -> bool:
    return isinstance(record.get("messages"), list) and "info" in record


def read(lines: Iterable[tuple[int, Record]], losses: Losses) -> Iterator[Event]:
    for _, record in lines:
        info = record.get("info")
        aside = string(info, "parentID") != ""
        yield Facts(string(info, "id"), string(info, "directory"), string(info, "version"))
        for number, entry in enumerate(items(record, "messages"), 1):
            for one in message(number, at(entry, "info"), items(entry, "parts")):
                # A sub-agent's requests come from the agent.
                if aside and isinstance(one, Message) and one.channel == "user":
                    one = replace(one, channel="agent")
                yield one


def sessions(path: Path) -> list[tuple[str, str]]:
    """Return the sessions of a database: identifier and folder, oldest first."""
    with closing(_opened(path)) as database:
        top = " where parent_id is null" if _has_parents(database) else ""
        rows = database.execute(
            f"select id, directory from session{top} order by time_created"
        ).fetchall()
    return [(str(key), str(folder)) for key, folder in rows]


def read_session(path: Path, session: str, folder: str, losses: Losses) -> Iterator[Event]:
    yield Facts(session, folder)
    with closing(_opened(path)) as database:
        query = _FAMILY if _has_parents(database) else _PARTS
        # One row per part, with its message.
        messages = groupby(database.execute(query, (session,)), itemgetter(0, 1, 4))
        for (row, key, owner), rows in messages:
            info: Record | None = None
            parts: list[Any] = []
            for _, _, told, part, _ in rows:
                if info is None:
                    info = _json(told, row, losses) or {}
                if part is not None and (found := _json(part, row, losses)) is not None:
                    parts.append(found)
            yield from _shown(row, {"id": key, **(info or {})}, owner != session, parts)


def _has_parents(database: sqlite3.Connection) -> bool:
    columns = database.execute("pragma table_info(session)").fetchall()
    return any(column[1] == "parent_id" for column in columns)


def _shown(number: int, info: Any, aside: bool, parts: list[Any]) -> Iterator[Event]:
    """Yield a message's events; of a sub-agent only calls: its texts are not in the context."""
    for one in message(number, info, parts):
        if not aside:
            yield one
        elif isinstance(one, Message) and one.calls:
            yield replace(one, text="", origin="sub-agent")


def message(number: int, info: object, parts: Iterable[object]) -> Iterator[Event]:
    calls = Calls()
    key = string(info, "id")
    time = _time(at(info, "time", "created"))
    listed = list(parts)
    mark = next((one for one in listed if at(one, "type") == "compaction"), None)
    if mark is not None:
        trigger = "auto" if at(mark, "auto") is True else "manual"
        kept = Kept(first=string(mark, "tail_start_id"))
        yield Compaction(number, time, trigger, kept=kept)
        return
    texts = [one for one in listed if at(one, "type") == "text" and at(one, "ignored") is not True]
    if at(info, "role") == "assistant":
        yield from _reply(number, info, listed, _joined(texts), time, calls)
        return
    # Named files and the agent's reminders are beside the typed text.
    own = [one for one in texts if at(one, "synthetic") is True]
    alone = len(own) == len(texts)
    if not own or not alone:
        typed = _unquoted(_joined(one for one in texts if one not in own))
        yield Message("user", typed, "user", number, time, key=key)
    if own:
        yield Message("user", _joined(own), "system", number, time, key=key, attached=alone)


def _joined(parts: Iterable[object]) -> str:
    return "\n".join(string(one, "text") for one in parts)


def _unquoted(text: str) -> str:
    """Return a turn without the quotes that ``opencode run`` puts around a prompt with a blank."""
    quoted = _QUOTED.fullmatch(text.strip())
    return quoted[1].replace('\\"', '"') if quoted else text


def _reply(
    number: int, info: object, parts: list[object], text: str, time: str, calls: Calls
) -> Iterator[Message]:
    key = string(info, "id")
    if at(info, "summary") is True:
        yield Message("assistant", text, "summary", number, time, key=key, attached=True)
        return
    done = [one for one in parts if at(one, "type") == "tool"]
    made = tuple(
        calls.made(
            string(one, "callID") or f"{key}/{place}", at(one, "tool"), at(one, "state", "input")
        )
        for place, one in enumerate(done)
    )
    yield Message("assistant", text, "agent", number, time, key=key, calls=made)
    for one, asked in zip(done, made, strict=True):
        given = calls.result(asked.key, plain(at(one, "state", "output")), number, time, key)
        # MCP tools are named SERVER_TOOL; the agent's own tools, ``_OWN`` aside, are not.
        if given.channel == "tool" and "_" in asked.function and asked.function not in _OWN:
            given = replace(given, channel="mcp")
        if given.text:
            yield from with_nested(given)


def _opened(path: Path) -> sqlite3.Connection:
    database = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, timeout=5)
    database.execute("pragma query_only = on")
    database.execute("pragma trusted_schema = off")
    # A view may never end, and would be read as the table of its name.
    others = database.execute("select name from sqlite_master where type = 'view'").fetchall()
    if views := _TABLES & {str(name).casefold() for (name,) in others}:
        raise sqlite3.DatabaseError(f"{min(views)} is a view, and no table of opencode's")
    return database


def _json(told: object, row: int, losses: Losses) -> Record | None:
    if isinstance(told, str):
        told = told.encode("utf-8", "replace")
    if isinstance(told, bytes) and len(told) >= LONGEST_LINE:
        losses.line(row, too_long=True)
        return None
    found = parsed(told) if isinstance(told, bytes) else None
    if found is None:
        losses.line(row)
    return found


def _time(created: object) -> str:
    from datetime import UTC, datetime

    if not isinstance(created, int | float):
        return ""
    try:
        return datetime.fromtimestamp(created / 1000, UTC).isoformat()
    except (ValueError, OverflowError, OSError):
        return ""


FORMAT = Format(
    name="opencode",
    title="opencode",
    sniff=sniff,
    read=read,
    places=("~/.local/share/opencode/opencode.db",),
    project_files=("AGENTS.md", "CLAUDE.md"),
)
