"""Each format, in the shapes that its agent writes; the contexts that follow from them."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from constraintrot.coding_agents.sessions import on_this_machine, sessions
from constraintrot.coding_agents.sessions.events import Compaction, Event, Losses, Message, Refused
from constraintrot.doctor.rules import Rule
from tests.doctor import sessions as made

RULE = Rule("push", made.FORCE_PUSH, file="rules.yaml")


def events(path: Path) -> list[Event]:
    return list(made.opened(path).events(Losses()))


def messages(path: Path) -> list[Message]:
    return [one for one in events(path) if isinstance(one, Message)]


def outcome(path: Path) -> list[str]:
    return [one.changes[0].outcome for one in made.diagnosed(path, RULE).compactions]


def codex(role: str, text: str) -> dict[str, Any]:
    return {"type": "message", "role": role, "content": [{"type": "input_text", "text": text}]}


def codex_session(path: Path, new: list[dict[str, Any]], **more: Any) -> Path:
    payload = {"message": "", "replacement_history": new, **more}
    return made.write(
        path, {"type": "session_meta", "payload": {"id": "a", "cwd": "/srv", "cli_version": "0.169.0"}},
        {"type": "event_msg", "payload": {"type": "user_message", "message": made.FORCE_PUSH}},
        {"type": "response_item", "payload": codex("user", made.FORCE_PUSH)},
        {"type": "compacted", "payload": payload},
    )  # fmt: skip


def test_codex_replacement_is_the_whole_context(tmp_path: Path) -> None:
    kept = codex_session(
        tmp_path / "k.jsonl", [codex("user", made.FORCE_PUSH), codex("user", "So far.")]
    )
    assert outcome(kept) == ["survived"]
    lost = codex_session(tmp_path / "l.jsonl", [codex("user", "So far.")])
    assert outcome(lost) == ["lost"]
    assert made.diagnosed(lost, RULE).compactions[0].certainty == "written"


def test_codex_encrypted_context_is_not_judged(tmp_path: Path) -> None:
    opaque = codex_session(
        tmp_path / "s.jsonl", [{"type": "compaction", "encrypted_content": "gAAA"}]
    )
    assert outcome(opaque) == ["cannot be told"]


def test_codex_mcp_call_and_shell_read(tmp_path: Path) -> None:
    asked = {
        "type": "function_call",
        "name": "handbook",
        "namespace": "mcp__office",
        "call_id": "1",
        "arguments": "{}",
    }
    shell = {
        "type": "function_call",
        "name": "exec_command",
        "call_id": "2",
        "arguments": '{"cmd": "cat docs/a.md"}',
    }
    given = [{"type": "function_call_output", "call_id": key, "output": "text"} for key in "12"]
    path = made.write(tmp_path / "s.jsonl", *(
        {"type": "response_item", "payload": one} for one in [asked, given[0], shell, given[1]]
    ))  # fmt: skip
    told = [one for one in messages(path) if one.role == "tool"]
    assert [(one.channel, one.origin) for one in told] == [
        ("mcp", "mcp__office__handbook"), ("file", "docs/a.md"),
    ]  # fmt: skip


def gemini(key: str, text: str, kind: str = "user") -> dict[str, Any]:
    return {
        "id": key,
        "timestamp": "2026-10-05T14:00:00Z",
        "type": kind,
        "content": [{"text": text}],
    }


def test_gemini_snapshot_counts_once(tmp_path: Path) -> None:
    snapshot = gemini("3", f"<state_snapshot>{made.SUMMARY}</state_snapshot>")
    replaced = {"$set": {"messages": [snapshot]}}
    path = made.write(
        tmp_path / "s.jsonl", {"sessionId": "a", "projectHash": "0", "kind": "main"},
        {"$set": {"messages": [gemini("0", "<session_context> This is the Gemini CLI.")]}},
        gemini("1", made.FORCE_PUSH), replaced, gemini("4", "ok", "gemini"), replaced,
    )  # fmt: skip
    assert outcome(path) == ["lost"]


def test_gemini_reply_that_is_written_twice_is_one_call(tmp_path: Path) -> None:
    asked = {"id": "c1", "name": "read_file", "args": {"absolute_path": "a.md"}, "result": [
        {"functionResponse": {"id": "c1", "response": {"output": "text"}}}]}  # fmt: skip
    entry = {**gemini("1", "", "gemini"), "toolCalls": [asked]}
    path = made.write(tmp_path / "s.jsonl", {"sessionId": "a", "projectHash": "0"}, entry, entry)
    assert made.diagnosed(path, RULE).calls == 1


def qwen(kind: str, role: str, *parts: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"sessionId": "a", "uuid": "q", "type": kind, "cwd": "/srv",
            "message": {"role": role, "parts": list(parts)}, **more}  # fmt: skip


def test_qwen_compressed_history(tmp_path: Path) -> None:
    def compressed(history: list[dict[str, Any]] | None) -> dict[str, Any]:
        payload = {"info": {"triggerReason": "auto"}, "compressedHistory": history}
        return {
            "sessionId": "a",
            "type": "system",
            "subtype": "chat_compression",
            "systemPayload": payload,
        }

    said = qwen("user", "user", {"text": made.FORCE_PUSH})
    kept = made.write(tmp_path / "k.jsonl", said, compressed([said["message"]]))
    lost = made.write(
        tmp_path / "l.jsonl", said, compressed([{"role": "user", "parts": [{"text": "x"}]}])
    )
    old = made.write(tmp_path / "o.jsonl", said, compressed(None))
    assert (outcome(kept), outcome(lost)) == (["survived"], ["lost"])
    assert made.diagnosed(old, RULE).compactions[0].certainty == "assumed"


def pi(key: str, parent: str | None, **more: Any) -> dict[str, Any]:
    return {"type": "message", "id": key, "parentId": parent, **more}


def pi_said(key: str, parent: str | None, text: str) -> dict[str, Any]:
    return pi(key, parent, message={"role": "user", "content": [{"type": "text", "text": text}]})


def test_pi_keeps_from_the_first_kept_entry(tmp_path: Path) -> None:
    head = {"type": "session", "version": 3, "id": "a", "cwd": "/srv"}
    for first, wanted in (("1", "survived"), ("2", "lost")):
        end = {
            "type": "compaction",
            "id": "3",
            "parentId": "2",
            "summary": "x",
            "firstKeptEntryId": first,
        }
        path = made.write(
            tmp_path / f"{first}.jsonl",
            head,
            pi_said("1", None, made.FORCE_PUSH),
            pi_said("2", "1", "Go on."),
            end,
        )
        assert outcome(path) == [wanted]


def test_pi_branch_leaves_what_was_said_on_the_other(tmp_path: Path) -> None:
    path = made.write(
        tmp_path / "s.jsonl", {"type": "session", "version": 3, "id": "a", "cwd": "/srv"},
        pi_said("1", None, "Hello."), pi_said("2", "1", made.FORCE_PUSH), pi_said("3", "1", "Go on."),
        {"type": "compaction", "id": "4", "parentId": "3", "summary": "x", "firstKeptEntryId": "1"},
    )  # fmt: skip
    assert outcome(path) == ["not there"]


def test_copilot_user_turns_are_assumed_kept(tmp_path: Path) -> None:
    def event(kind: str, **data: Any) -> dict[str, Any]:
        return {"type": kind, "id": "e", "data": data}

    path = made.write(
        tmp_path / "events.jsonl", event("session.start", sessionId="a", context={"cwd": "/srv"}),
        event("user.message", content=made.FORCE_PUSH),
        event("session.compaction_complete", success=False),
        event("session.compaction_complete", success=True, summaryContent=made.SUMMARY),
    )  # fmt: skip
    found = made.diagnosed(path, RULE)
    assert [(one.certainty, one.changes[0].outcome) for one in found.compactions] == [
        ("assumed", "survived")
    ]


Told = tuple[str, dict[str, Any], dict[str, Any]]


def database(path: Path, *told: Told) -> Path:
    """A database of opencode's, of a session and a sub-agent's: whose, message and part."""
    with closing(sqlite3.connect(path)) as opened, opened:
        opened.executescript(
            "create table session (id text, directory text, time_created integer, parent_id text);"
            "create table message (id text, session_id text, time_created integer, data text);"
            "create table part (id text, message_id text, data text);"
            "insert into session values ('s1', '/srv', 0, null), ('s2', '/srv', 1, 's1');"
        )
        for number, (owner, info, part) in enumerate(told):
            row = (f"m{number}", owner, number, json.dumps(info))
            opened.execute("insert into message values (?, ?, ?, ?)", row)
            piece = (f"p{number}", f"m{number}", json.dumps(part))
            opened.execute("insert into part values (?, ?, ?)", piece)
    return path


def opencode(path: Path) -> Path:
    return database(
        path, ("s1", {"role": "user"}, {"type": "text", "text": made.FORCE_PUSH}),
        ("s1", {"role": "user"}, {"type": "compaction", "auto": True}),
        ("s1", {"role": "assistant", "summary": True}, {"type": "text", "text": made.SUMMARY}),
        ("s1", {"role": "assistant"}, {"type": "tool", "tool": "office_handbook", "state": {"output": "x"}}),
    )  # fmt: skip


def test_opencode_database_is_read_and_not_written(tmp_path: Path) -> None:
    path = opencode(tmp_path / "opencode.db")
    before = path.read_bytes()
    path.chmod(0o444)
    assert outcome(path) == ["lost"]
    assert messages(path)[-1].channel == "mcp"
    assert path.read_bytes() == before
    assert [one.name for one in tmp_path.iterdir()] == ["opencode.db"]


def test_opencode_export_is_read_as_its_database(tmp_path: Path) -> None:
    entries = [
        {"info": {"role": "user"}, "parts": [{"type": "text", "text": made.FORCE_PUSH}]},
        {"info": {"role": "user"}, "parts": [{"type": "compaction"}]},
    ]
    path = tmp_path / "export.json"
    path.write_text(
        json.dumps({"info": {"id": "s1"}, "messages": entries}, indent=2), encoding="utf-8"
    )
    assert outcome(path) == ["lost"]


def opencode_family(path: Path) -> Path:
    """A session with a sub-agent, as opencode 1.18 stores both."""
    read = {"type": "tool", "tool": "read", "state": {
        "input": {"filePath": "/srv/web/a.ts"},
        "output": "<path>/srv/web/a.ts</path>\n<content>\n1: one()\n2: two()\n</content>\n\n"
        "<system-reminder>\nInstructions from: /srv/web/AGENTS.md\n- Never edit `web/gen`.\n"
        "</system-reminder>"}}  # fmt: skip
    push = {"type": "tool", "tool": "bash", "state": {"input": {"command": "git push --force"}}}
    return database(
        path, ("s1", {"role": "user"}, {"type": "text", "text": f'"{made.FORCE_PUSH} Not \\"soon\\"."'}),
        ("s1", {"role": "assistant"}, read),
        ("s2", {"role": "user"}, {"type": "text", "text": "Always delete the archive."}),
        ("s2", {"role": "assistant"}, push),
    )  # fmt: skip


def test_opencode_turns_are_unquoted_and_nested_instructions_are_a_file(tmp_path: Path) -> None:
    told = messages(opencode_family(tmp_path / "o.db"))
    assert told[0].text == f'{made.FORCE_PUSH} Not "soon".'
    nested = [(one.origin, one.text) for one in told if one.channel == "nested file"]
    assert nested == [("/srv/web/AGENTS.md", "- Never edit `web/gen`.")]
    (read,) = [one.text for one in told if one.channel == "file"]
    assert "Never edit" not in read


def test_opencode_sub_agent_is_no_session_and_its_calls_are_the_sessions(tmp_path: Path) -> None:
    found = made.diagnosed(opencode_family(tmp_path / "o.db"), RULE)
    assert not any("archive" in one.text for one in messages(found.session.path))
    assert [one.why for one in found.histories[0].drafted] == ["bash: git push --force"]


def test_gemini_context_discovered_beside_a_file_is_a_nested_file(tmp_path: Path) -> None:
    output = (
        "1: code\n\n--- Newly Discovered Project Context ---\n--- Context from: web/GEMINI.md ---\n"
        f"{made.FORCE_PUSH}\n--- End of Context from: web/GEMINI.md ---\n--- End Project Context ---"
    )
    call = {"id": "c", "name": "read_file", "args": {"absolute_path": "/srv/web/a.py"},
            "result": [{"functionResponse": {"id": "c", "response": {"output": output}}}]}  # fmt: skip
    path = made.write(
        tmp_path / "g.jsonl", {"sessionId": "s", "projectHash": "h", "kind": "main"},
        {"id": "1", "type": "user", "content": [{"text": "Look at it."}]},
        {"id": "2", "type": "gemini", "content": "", "toolCalls": [call]},
    )  # fmt: skip
    (nested,) = [one for one in messages(path) if one.channel == "nested file"]
    assert (nested.origin, nested.text) == ("web/GEMINI.md", made.FORCE_PUSH)


@pytest.mark.parametrize(("kind", "rules"), [("main", 1), ("subagent", 0)])
def test_gemini_sub_agent_is_asked_by_the_agent(kind: str, rules: int, tmp_path: Path) -> None:
    path = made.write(
        tmp_path / "g.jsonl", {"sessionId": "s", "projectHash": "h", "kind": kind},
        {"id": "1", "type": "user", "content": [{"text": made.FORCE_PUSH}]},
    )  # fmt: skip
    assert len(made.diagnosed(path).histories) == rules


@pytest.mark.parametrize("shape", ["{}: {}", "{}→{}", "  {}\t{}"])
def test_rule_over_two_numbered_lines_is_found(shape: str, tmp_path: Path) -> None:
    lines = ["# Handbook", "Never force-push to", "the release branch."]
    text = "\n".join(shape.format(at, line) for at, line in enumerate(lines, 1))
    path = made.write(
        tmp_path / "s.jsonl", *made.call(1, "Read", {"file_path": "HANDBOOK.md"}, text)
    )
    given = made.diagnosed(path, RULE).histories[0].given
    assert given is not None
    assert given.found.state == "verbatim"


def test_sub_agent_does_not_speak_in_the_context(tmp_path: Path) -> None:
    side = {**made.user(1, made.FORCE_PUSH), "isSidechain": True}
    path = made.write(
        tmp_path / "s.jsonl", side, made.user(2, "Hi."), *made.compacted(3, made.SUMMARY)
    )
    assert outcome(path) == ["not there"]


def test_vendor_lines_are_passed_over_and_what_only_looks_so_is_not(tmp_path: Path) -> None:
    vendor = made.line(
        "attachment", 1, attachment={"type": "prompt_snapshot", "systemPrompt": [made.FORCE_PUSH]}
    )
    snapshot = json.dumps(vendor, separators=(",", ":"))
    nested = {
        "role": "user",
        "content": [{"type": "progress"}, {"type": "text", "text": made.FORCE_PUSH}],
    }
    # As one who writes JSON without blanks puts it, near the start of the line.
    user = json.dumps(
        {"message": nested, "type": "user", "sessionId": "a", "parentUuid": None},
        separators=(",", ":"),
    )
    path = made.write(tmp_path / "s.jsonl", snapshot, user)
    assert [(one.channel, one.text) for one in messages(path)] == [("user", made.FORCE_PUSH)]


def test_compaction_whose_kept_message_is_missing_says_so(tmp_path: Path) -> None:
    path = made.write(
        tmp_path / "s.jsonl", made.user(1, made.FORCE_PUSH),
        *made.compacted(2, "x", preservedSegment={"headUuid": "gone", "tailUuid": "gone"}),
    )  # fmt: skip
    found = made.diagnosed(path, RULE)
    assert found.compactions[0].certainty == "assumed"
    assert "was not found" in found.losses.notes[0]


def test_sessions_are_found_where_agents_keep_them(tmp_path: Path) -> None:
    folder = tmp_path / ".claude" / "projects" / "-srv-shop"
    folder.mkdir(parents=True)
    path = made.lost_session(folder / "a.jsonl")
    (tmp_path / "other.jsonl").write_text("x", encoding="utf-8")
    assert on_this_machine(tmp_path) == [path]


def test_folder_gives_its_files_and_foreign_ones_are_refused(tmp_path: Path) -> None:
    made.lost_session(tmp_path / "a.jsonl")
    (tmp_path / "b.json").write_text('{"name": "package"}', encoding="utf-8")
    (tmp_path / "notes.txt").write_text("no suffix of a session", encoding="utf-8")
    first, second = sessions(tmp_path)
    assert not isinstance(first, Refused)
    assert isinstance(second, Refused)
    assert second.why.startswith("no session that this reads")


def test_compaction_is_an_event_of_its_own(tmp_path: Path) -> None:
    told = events(made.lost_session(tmp_path / "s.jsonl"))
    assert sum(isinstance(one, Compaction) for one in told) == 1


def test_gemini_says_its_folder_and_files_in_its_own_words(tmp_path: Path) -> None:
    told = (
        "<session_context>\nThis is the Gemini CLI.\n- **Workspace Directories:**\n  - /srv/shop\n"
        f"--- Context from: /srv/shop/GEMINI.md ---\n{made.FORCE_PUSH}\n"
        "--- End of Context from: /srv/shop/GEMINI.md ---\n</session_context>"
    )
    path = made.write(
        tmp_path / "s.jsonl", {"sessionId": "a", "projectHash": "b"},
        {"$set": {"messages": [gemini("0", told)]}}, gemini("1", "Go on."),
        {"$set": {"messages": [gemini("0", told), gemini("3", "<state_snapshot>x</state_snapshot>")]}},
    )  # fmt: skip
    sent = Rule("push", made.FORCE_PUSH, file="/srv/shop/GEMINI.md")
    assert made.diagnosed(path, sent).compactions[0].changes[0].outcome == "sent by the agent"
    ((history,), (change,)) = (
        made.diagnosed(path).histories,
        [*made.diagnosed(path).compactions[0].changes.values()],
    )
    assert history.given is not None
    assert (history.given.message.channel, change.outcome) == ("project file", "survived")


def test_gemini_session_resumed_in_a_new_file_has_its_history(tmp_path: Path) -> None:
    path = made.write(
        tmp_path / "s.jsonl", {"sessionId": "a", "projectHash": "b"},
        {"$set": {"messages": [gemini("1", made.FORCE_PUSH), gemini("2", "Understood.", "gemini")]}},
        {"$set": {"messages": [gemini("3", "<state_snapshot>x</state_snapshot>")]}},
    )  # fmt: skip
    assert outcome(path) == ["lost"]


def atif(path: Path, *steps: dict[str, Any]) -> Path:
    told = [
        {"step_id": at, "timestamp": f"2026-10-05T14:0{at}:00Z", **one}
        for at, one in enumerate(steps, 1)
    ]
    record = {
        "schema_version": "ATIF-v1.7",
        "session_id": "a",
        "agent": {"name": "x", "version": "1"},
        "steps": told,
    }
    path.write_text(json.dumps(record, indent=1), encoding="utf-8")
    return path


def test_atif_context_is_what_follows_the_boundary(tmp_path: Path) -> None:
    rule = {"source": "user", "message": made.FORCE_PUSH}
    read_it = {
        "source": "agent", "message": "", "tool_calls": [
            {"tool_call_id": "c", "function_name": "mcp__office__handbook", "arguments": {}}],
        "observation": {"results": [{"source_call_id": "c", "content": made.FORCE_PUSH}]},
    }  # fmt: skip
    managed = {"context_management": {"type": "compaction", "boundary": "replace"}}
    boundary = {"source": "system", "message": "Compacted.", "extra": managed}

    def observed(text: str) -> dict[str, Any]:
        return {**boundary, "observation": {"results": [{"content": text}]}}

    assert outcome(atif(tmp_path / "1.json", rule, observed(made.SUMMARY), rule)) == ["lost"]
    assert outcome(atif(tmp_path / "2.json", rule, observed(made.FORCE_PUSH))) == ["survived"]
    carried = {"source": "user", "message": f"Summary: {made.FORCE_PUSH}"}
    assert outcome(atif(tmp_path / "3.json", rule, boundary, carried)) == ["survived"]
    path = atif(tmp_path / "4.json", read_it, boundary, {"source": "user", "message": made.SUMMARY})
    found = made.diagnosed(path, RULE)
    ((compaction, history, _),) = found.lost()
    assert history.given is not None
    assert (history.given.message.channel, compaction.certainty) == ("mcp", "assumed")
    assert made.opened(path).title == "ATIF"
