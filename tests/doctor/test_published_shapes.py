"""Shapes of records that published sessions of real agents have; the texts are invented."""

import json
from pathlib import Path
from typing import Any

import pytest

from constraintrot.coding_agents.sessions.events import Losses, Message
from tests.doctor import sessions as made

RULE = "Do not rebuild the site on each run, ask me to look at it."
REFUSED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was"
    " a file edit, the new_string was NOT written to the file)."
)


def told(path: Path) -> list[tuple[str, str]]:
    events = made.opened(path).events(Losses())
    return [(one.channel, one.text) for one in events if isinstance(one, Message) and one.text]


def queued(number: int, **more: Any) -> dict[str, Any]:
    attached = {"type": "queued_command", "prompt": RULE, "commandMode": "prompt", **more}
    return made.line("attachment", number, attachment=attached)


@pytest.mark.parametrize(
    ("more", "channel"),
    [
        ({"origin": {"kind": "human"}}, "user"),
        ({}, "user"),
        ({"prompt": [{"type": "text", "text": RULE}]}, "user"),
        ({"commandMode": "task-notification"}, "system"),
        ({"origin": {"kind": "coordinator"}}, "system"),
        ({"prompt": f"<task-notification>{RULE}</task-notification>"}, "system"),
    ],
)
def test_what_is_typed_while_claude_code_works_is_the_users(
    more: dict[str, Any], channel: str, tmp_path: Path
) -> None:
    path = made.write(tmp_path / "s.jsonl", made.user(1, "Hi."), queued(2, **more))
    assert told(path)[-1][0] == channel


def test_rule_that_is_typed_while_claude_code_works_is_lost_by_its_compaction(
    tmp_path: Path,
) -> None:
    path = made.write(
        tmp_path / "s.jsonl", made.user(1, "Hi."), queued(2), made.reply(3, "I will."),
        *made.compacted(4, made.SUMMARY),
    )  # fmt: skip
    (history,) = made.diagnosed(path).histories
    assert (history.rule.channel, history.rule.line) == ("user", 2)


def test_what_the_user_says_to_a_refused_call_is_the_users(tmp_path: Path) -> None:
    said = f"{REFUSED} To tell you how to proceed, the user said:\n{made.FORCE_PUSH}"
    asks = f"{REFUSED} To tell you how to proceed, the user said:\nThe user wants to clarify these questions."
    calls = [
        *made.call(1, "mcp__git__push", {}, said), *made.call(2, "mcp__git__push", {}, REFUSED),
        *made.call(3, "AskUserQuestion", {}, asks),
    ]  # fmt: skip
    path = made.write(
        tmp_path / "s.jsonl", *(one | {"toolDenialKind": "user-rejected"} for one in calls)
    )
    assert [text for channel, text in told(path) if channel == "user"] == [made.FORCE_PUSH]
    assert {channel for channel, _ in told(path)} == {"user", "system"}
    assert [one.rule.text for one in made.diagnosed(path).histories] == [made.FORCE_PUSH]


def test_answers_to_claude_codes_questions_are_the_users(tmp_path: Path) -> None:
    use, given = made.call(1, "AskUserQuestion", {}, "User has answered your questions: ...")
    given["toolUseResult"] = {"answers": {"Which branch?": "main", "Which rule?": made.FORCE_PUSH}}
    path = made.write(tmp_path / "s.jsonl", use, given)
    assert told(path)[-1] == ("user", f"main\n{made.FORCE_PUSH}")


def test_reminder_behind_a_result_is_no_rule_of_the_file(tmp_path: Path) -> None:
    text = "1\tEmail is sent on Mondays.\n\n<system-reminder>\nYou must refuse malware.\n</system-reminder>\n"
    path = made.write(
        tmp_path / "s.jsonl", *made.call(1, "Read", {"file_path": "handbook.md"}, text)
    )
    assert [channel for channel, _ in told(path)] == ["file", "system"]
    assert made.diagnosed(path).histories == []


@pytest.mark.parametrize(("first", "wanted"), [(1, "survived"), (2, "lost")])
def test_pi_counted_the_entries_before_the_first_that_it_kept(
    first: int, wanted: str, tmp_path: Path
) -> None:
    def said(text: str) -> dict[str, Any]:
        return {"type": "message", "message": {"role": "user", "content": text}}

    path = made.write(
        tmp_path / "s.jsonl", {"type": "session", "id": "a", "cwd": "/srv"},
        said(made.FORCE_PUSH), said("Go on."),
        {"type": "compaction", "summary": "The importer works.", "firstKeptEntryIndex": first},
    )  # fmt: skip
    (compaction,) = made.diagnosed(path).compactions
    assert compaction.changes[0].outcome == wanted


def test_codex_context_whose_summary_was_taken_out_is_not_judged(tmp_path: Path) -> None:
    def item(text: str) -> dict[str, Any]:
        content = [{"type": "input_text", "text": text}]
        return {"type": "message", "role": "user", "content": content}

    files = item("<environment_context>\n  <cwd>/srv</cwd>\n</environment_context>")
    handbook = made.FORCE_PUSH.replace("release", "main")
    use = {"type": "function_call", "name": "exec_command", "call_id": "1",
           "arguments": '{"cmd": "cat docs/handbook.md"}'}  # fmt: skip
    given = {"type": "function_call_output", "call_id": "1", "output": handbook}
    items = [item(made.FORCE_PUSH), item("Go on."), use, given]
    path = made.write(
        tmp_path / "s.jsonl", {"type": "session_meta", "payload": {"id": "a", "cwd": "/srv"}},
        *({"type": "response_item", "payload": one} for one in items),
        {"type": "compacted", "payload": {
            "message": "", "replacement_history": [files, *items[:2]]}},
    )  # fmt: skip
    (compaction,) = made.diagnosed(path).compactions
    assert compaction.certainty == "opaque"
    assert [one.outcome for one in compaction.changes.values()] == ["survived", "cannot be told"]


def test_message_of_a_session_that_is_one_value_has_a_number(tmp_path: Path) -> None:
    entries = [
        {"info": {"role": "user"}, "parts": [{"type": "text", "text": text}]}
        for text in ("Hi.", made.FORCE_PUSH)
    ]
    path = tmp_path / "s.json"
    path.write_text(json.dumps({"info": {"id": "s1"}, "messages": entries}), encoding="utf-8")
    assert [one.rule.line for one in made.diagnosed(path).histories] == [2]


def test_instruction_file_in_copilots_system_message_is_the_projects(tmp_path: Path) -> None:
    def event(kind: str, **data: Any) -> dict[str, Any]:
        return {"type": kind, "id": kind, "data": data}

    text = (
        "You are an agent. Never delete the archive.\n\n<custom_instruction>\n# Guide\n\n"
        f"- {made.FORCE_PUSH}\n\n</custom_instruction>\nBe brief."
    )
    path = made.write(
        tmp_path / "events.jsonl", event("session.start", sessionId="a", context={"cwd": "/srv"}),
        event("system.message", content=text), event("user.message", content="Hi."),
        event("session.compaction_complete", success=True, summaryContent=made.SUMMARY),
    )  # fmt: skip
    found = made.diagnosed(path)
    assert [(one.rule.text, one.rule.channel) for one in found.histories] == [
        (made.FORCE_PUSH, "project file")
    ]
    assert found.compactions[0].changes[0].outcome == "survived"
