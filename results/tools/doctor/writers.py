"""Scripts written in the formats of seven agents, as their sessions look.

Hand-made: the shapes of records were taken from sessions of real agents (Claude Code
2.1.328, Codex 0.169.0, Gemini CLI 0.61.0, pi 0.73.1, opencode 1.18.33) and, for Qwen Code
and Copilot CLI, from descriptions of theirs. No text of any vendor is in them.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from results.tools.doctor.script import Script, Step

Record = dict[str, Any]
_START = datetime.fromisoformat("2026-10-05T09:00:00+00:00")
_CWD = "/srv/shop"


def write(script: Script, folder: Path) -> Path:
    """Write a session; its file."""
    if script.form == "opencode":
        return _opencode(script, folder / f"{script.name}.db")
    records = _WRITERS[script.form](script)
    path = folder / f"{script.name}.jsonl"
    lines = (json.dumps(one, ensure_ascii=False, separators=(",", ":")) for one in records)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def _time(number: int) -> str:
    return (_START + timedelta(minutes=2 * number)).strftime("%Y-%m-%dT%H:%M:%S.000Z")


def _kept(script: Script, at: int) -> list[tuple[int, Step]]:
    """The steps before a compaction that it keeps."""
    return [(number, one) for number, one in enumerate(script.steps[:at]) if one.kept]


def _first(script: Script, at: int) -> bool:
    return not any(one.kind == "compact" for one in script.steps[:at])


def _claude(script: Script) -> Iterator[Record]:
    base = {"isSidechain": False, "userType": "external", "cwd": _CWD, "sessionId": script.name,
            "version": "2.1.328"}  # fmt: skip

    def line(kind: str, number: int, **more: Any) -> Record:
        return {"parentUuid": None, **base, "type": kind, "uuid": f"u{number}",
                "timestamp": _time(number), **more}  # fmt: skip

    yield {"type": "queue-operation", "operation": "enqueue", "sessionId": script.name}
    for number, step in enumerate(script.steps):
        if step.kind == "user":
            yield line("user", number, message={"role": "user", "content": step.text})
        elif step.kind == "agent":
            text = [{"type": "text", "text": step.text}]
            yield line("assistant", number, message={"role": "assistant", "content": text})
        elif step.kind == "call":
            name = {"read": "Read", "bash": "Bash", "edit": "Edit"}.get(step.tool, step.tool)
            use = {
                "type": "tool_use",
                "id": f"t{number}",
                "name": name,
                "input": _args(step, "file_path"),
            }
            yield line("assistant", number, message={"role": "assistant", "content": [use]})
            result = {"type": "tool_result", "tool_use_id": f"t{number}",
                      "content": [{"type": "text", "text": step.text}]}  # fmt: skip
            yield line("user", number, message={"role": "user", "content": [result]})
        else:
            meta = {"trigger": "auto", "preTokens": 90000, "postTokens": 2000}
            yield line("system", number, subtype="compact_boundary", compactMetadata=meta)
            yield line("user", number, isCompactSummary=True,
                       message={"role": "user", "content": step.text})  # fmt: skip
            for _, one in _kept(script, number) if _first(script, number) else ():
                attached = {"type": "file", "filename": f"{_CWD}/docs/policy-handbook.md",
                            "content": {"type": "text", "file": {"content": one.text}}}  # fmt: skip
                yield line("attachment", number, attachment=attached)


def _codex(script: Script) -> Iterator[Record]:
    def item(number: int, payload: Record, kind: str = "response_item") -> Record:
        return {"timestamp": _time(number), "type": kind, "payload": payload}

    def said(role: str, text: str) -> Record:
        part = "output_text" if role == "assistant" else "input_text"
        return {"type": "message", "role": role, "content": [{"type": part, "text": text}]}

    yield item(0, {"id": script.name, "cwd": _CWD, "cli_version": "0.169.0"}, "session_meta")
    typed: list[Record] = []
    for number, step in enumerate(script.steps):
        if step.kind == "user":
            typed.append(said("user", step.text))
            yield item(number, typed[-1])
            yield item(number, {"type": "user_message", "message": step.text}, "event_msg")
        elif step.kind == "agent":
            yield item(number, said("assistant", step.text))
        elif step.kind == "call":
            given = _codex_call(step)
            yield item(number, {"type": "function_call", "call_id": f"c{number}", **given})
            yield item(number, {"type": "function_call_output", "call_id": f"c{number}",
                                "output": f"Exit code: 0\nOutput:\n{step.text}"})  # fmt: skip
        else:
            new = [*typed, said("user", step.text)]
            typed = typed.copy()
            payload = {"message": step.text, "replacement_history": new}
            yield item(number, payload, "compacted")


def _codex_call(step: Step) -> Record:
    if step.tool.startswith("mcp__"):
        namespace, _, name = step.tool.rpartition("__")
        return {"name": name, "namespace": namespace, "arguments": json.dumps(step.arguments)}
    if step.tool == "read":
        command = {"cmd": f"cat {step.arguments['path']}"}
        return {"name": "exec_command", "arguments": json.dumps(command)}
    if step.tool == "bash":
        return {"name": "exec_command", "arguments": json.dumps({"cmd": step.arguments["command"]})}
    return {"name": step.tool, "arguments": json.dumps(step.arguments)}


def _gemini(script: Script) -> Iterator[Record]:
    yield {"sessionId": script.name, "projectHash": "0" * 64, "startTime": _time(0), "kind": "main"}
    told: list[Record] = []
    for number, step in enumerate(script.steps):
        if step.kind == "compact":
            kept = [_gemini_entry(at, one) for at, one in _kept(script, number)]
            snapshot = f"<state_snapshot>\n{step.text}\n</state_snapshot>"
            summary = _gemini_entry(number, Step("user", snapshot))
            told = [summary, *(kept if _first(script, number) else [])]
            yield {"$set": {"messages": told, "lastUpdated": _time(number)}}
        else:
            told.append(_gemini_entry(number, step))
            yield told[-1]
            yield {"$set": {"lastUpdated": _time(number)}}


def _gemini_entry(number: int, step: Step) -> Record:
    entry: Record = {"id": f"g{number}", "timestamp": _time(number)}
    if step.kind == "user":
        return {**entry, "type": "user", "content": [{"text": step.text}]}
    if step.kind == "agent":
        return {**entry, "type": "gemini", "content": step.text, "thoughts": []}
    name = {"read": "read_file", "bash": "run_shell_command", "edit": "replace"}.get(
        step.tool, step.tool.replace("mcp__", "mcp_").replace("__", "_")
    )
    response = {
        "functionResponse": {"id": f"t{number}", "name": name, "response": {"output": step.text}}
    }
    call = {
        "id": f"t{number}",
        "name": name,
        "args": _args(step, "absolute_path"),
        "result": [response],
    }
    return {**entry, "type": "gemini", "content": "", "toolCalls": [call]}


def _qwen(script: Script) -> Iterator[Record]:
    def line(kind: str, number: int, **more: Any) -> Record:
        return {"uuid": f"q{number}", "parentUuid": None, "sessionId": script.name, "cwd": _CWD,
                "timestamp": _time(number), "type": kind, "version": "0.24.4", **more}  # fmt: skip

    for number, step in enumerate(script.steps):
        if step.kind == "compact":
            kept = [entry for at, one in _kept(script, number) for entry in _parts(at, one)]
            snapshot = f"<state_snapshot>\n{step.text}\n</state_snapshot>"
            history = [{"role": "user", "parts": [{"text": snapshot}]},
                       *(kept if _first(script, number) else [])]  # fmt: skip
            payload = {"info": {"originalTokenCount": 9000, "newTokenCount": 900,
                                "triggerReason": "auto"}, "compressedHistory": history}  # fmt: skip
            yield line("system", number, subtype="chat_compression", systemPayload=payload)
            continue
        for message in _parts(number, step):
            result = any("functionResponse" in part for part in message["parts"])
            kind = "tool_result" if result else "user" if message["role"] == "user" else "assistant"
            yield line(kind, number, message=message)


def _parts(number: int, step: Step) -> list[Record]:
    if step.kind != "call":
        return [
            {"role": "user" if step.kind == "user" else "model", "parts": [{"text": step.text}]}
        ]
    name = {"read": "read_file", "bash": "run_shell_command"}.get(step.tool, step.tool)
    call = {"id": f"t{number}", "name": name, "args": _args(step, "absolute_path")}
    response = {"id": f"t{number}", "name": name, "response": {"output": step.text}}
    return [{"role": "model", "parts": [{"functionCall": call}]},
            {"role": "user", "parts": [{"functionResponse": response}]}]  # fmt: skip


def _pi(script: Script) -> Iterator[Record]:
    yield {"type": "session", "version": 3, "id": script.name, "timestamp": _time(0), "cwd": _CWD}
    last = ""

    def entry(key: str, number: int, **more: Any) -> Record:
        nonlocal last
        made = {"id": key, "parentId": last or None, "timestamp": _time(number), **more}
        last = key
        return made

    for number, step in enumerate(script.steps):
        if step.kind == "compact":
            # pi keeps the newest entries, so the oldest one to be kept begins them.
            kept = _kept(script, number) if _first(script, number) else []
            first = f"p{kept[0][0]}" if kept else f"p{number - 1}"
            yield entry(f"p{number}", number, type="compaction", summary=step.text,
                        firstKeptEntryId=first, tokensBefore=60000, fromHook=False)  # fmt: skip
            continue
        for at, message in enumerate(_pi_messages(number, step)):
            key = f"p{number}" if at == 0 else f"p{number}.{at}"
            yield entry(key, number, type="message", message=message)


def _pi_messages(number: int, step: Step) -> list[Record]:
    if step.kind != "call":
        role = "user" if step.kind == "user" else "assistant"
        return [{"role": role, "content": [{"type": "text", "text": step.text}]}]
    call = {"type": "toolCall", "id": f"t{number}", "name": step.tool, "arguments": step.arguments}
    return [{"role": "assistant", "content": [call]},
            {"role": "toolResult", "toolCallId": f"t{number}", "toolName": step.tool,
             "content": [{"type": "text", "text": step.text}]}]  # fmt: skip


def _copilot(script: Script) -> Iterator[Record]:
    def event(kind: str, number: int, **data: Any) -> Record:
        return {"type": kind, "data": data, "id": f"e{number}", "timestamp": _time(number)}

    yield event("session.start", 0, sessionId=script.name, context={"cwd": _CWD})
    for number, step in enumerate(script.steps):
        if step.kind == "user":
            yield event("user.message", number, content=step.text)
        elif step.kind == "agent":
            yield event("assistant.message", number, content=step.text, toolRequests=[])
        elif step.kind == "call":
            request = {"toolCallId": f"t{number}", "name": {"read": "view"}.get(step.tool, step.tool),
                       "arguments": step.arguments}  # fmt: skip
            yield event("assistant.message", number, content="", toolRequests=[request])
            yield event("tool.execution_complete", number, toolCallId=f"t{number}", success=True,
                        result={"content": step.text})  # fmt: skip
        else:
            yield event("session.compaction_start", number)
            yield event("session.compaction_complete", number, success=True, trigger="auto",
                        summaryContent=step.text, preCompactionTokens=90000)  # fmt: skip


def _opencode(script: Script, path: Path) -> Path:
    with closing(sqlite3.connect(path)) as database, database:
        database.executescript(
            "create table session (id text, directory text, time_created integer);"
            "create table message (id text, session_id text, time_created integer, data text);"
            "create table part (id text, message_id text, session_id text, data text);"
        )
        database.execute("insert into session values (?, ?, 0)", (script.name, _CWD))
        for number, (info, parts) in enumerate(_messages(script)):
            key = info.get("id", f"m{number:05}")
            created = int(_START.timestamp() * 1000) + number * 120_000
            told = json.dumps({**info, "time": {"created": created}})
            row = (key, script.name, created, told)
            database.execute("insert into message values (?, ?, ?, ?)", row)
            rows = [
                (f"{key}p{at}", key, script.name, json.dumps(part)) for at, part in enumerate(parts)
            ]
            database.executemany("insert into part values (?, ?, ?, ?)", rows)
    return path


def _messages(script: Script) -> Iterator[tuple[Record, Sequence[Record]]]:
    for number, step in enumerate(script.steps):
        key = {"id": f"m{number:04}a"}
        if step.kind == "user":
            yield {**key, "role": "user"}, [{"type": "text", "text": step.text}]
        elif step.kind == "agent":
            yield {**key, "role": "assistant"}, [{"type": "text", "text": step.text}]
        elif step.kind == "call":
            tool = step.tool.replace("mcp__", "").replace("__", "_")
            state = {"status": "completed", "input": _args(step, "filePath"), "output": step.text}
            part = {"type": "tool", "tool": tool, "callID": f"t{number}", "state": state}
            yield {**key, "role": "assistant"}, [part]
        else:
            mark: Record = {"type": "compaction", "auto": True}
            kept = _kept(script, number) if _first(script, number) else []
            if kept:
                mark["tail_start_id"] = f"m{kept[0][0]:04}a"
            yield {**key, "role": "user"}, [mark]
            summary = {
                "id": f"m{number:04}b",
                "role": "assistant",
                "summary": True,
                "agent": "compaction",
            }
            yield summary, [{"type": "text", "text": step.text}]


def _args(step: Step, path: str) -> Record:
    return {path if name == "path" else name: value for name, value in step.arguments.items()}


_WRITERS: dict[str, Callable[[Script], Iterator[Record]]] = {
    "claude": _claude, "codex": _codex, "gemini": _gemini, "qwen": _qwen, "pi": _pi,
    "copilot": _copilot,
}  # fmt: skip
