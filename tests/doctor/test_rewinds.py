"""A rewind takes turns out of the context: their rules and leaves do not hold any more."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from constraintrot.doctor.breaches import Breach
from constraintrot.doctor.rules import Rule
from constraintrot.rule_text.survival.states import SurvivalState
from tests.doctor import sessions as made

PUSH = {"command": "git push --force origin release"}
RULE = Rule(
    "push", made.FORCE_PUSH, file="rules.yaml", breach=Breach.read({"matches": "push.*--force"}, "push")
)  # fmt: skip
LIFT = "You may force-push to the release branch."
LIFTS: dict[str, tuple[SurvivalState, float]] = {"You may": ("contradicted", 0.05)}


def claude(said: str) -> Sequence[dict[str, Any]]:
    """A turn on an earlier line, as the parents of Claude Code's lines tell it."""
    again = {**made.user(5, "Rebase it."), "parentUuid": "u2"}
    return [
        made.user(1, "Hi."), made.reply(2, "Hi."), {**made.user(3, said), "parentUuid": "u2"},
        made.reply(4, "ok"), again, made.reply(6, "ok"), *made.compacted(7, made.SUMMARY),
        *made.call(8, "Bash", PUSH, "ok"),
    ]  # fmt: skip


def codex(said: str) -> Sequence[dict[str, Any]]:
    def item(kind: str, **payload: Any) -> dict[str, Any]:
        return {"timestamp": "", "type": kind, "payload": payload}

    def turn(text: str) -> dict[str, Any]:
        return {
            "type": "message",
            "role": "user",
            "content": [{"type": "input_text", "text": text}],
        }

    new = [turn("Rebase it."), turn(made.SUMMARY)]
    return [
        item("session_meta", id="s", cwd="/srv/shop"), item("response_item", **turn("Hi.")),
        item("response_item", **turn(said)), item("event_msg", type="thread_rolled_back", num_turns=1),
        item("response_item", **turn("Rebase it.")), item("compacted", message="", replacement_history=new),
        item("response_item", type="function_call", name="exec_command", arguments=json.dumps(PUSH)),
    ]  # fmt: skip


def gemini(said: str) -> Sequence[dict[str, Any]]:
    new = [{"id": "s", "type": "user", "content": f"<state_snapshot>{made.SUMMARY}"}]
    call = {"id": "t", "name": "run_shell_command", "args": PUSH}
    return [
        {"id": "a", "type": "user", "content": "Hi."}, {"id": "b", "type": "user", "content": said},
        {"id": "c", "type": "gemini", "content": "ok"}, {"$rewindTo": "b"},
        {"id": "d", "type": "user", "content": "Rebase it."}, {"$set": {"messages": new}},
        {"id": "e", "type": "gemini", "content": "", "toolCalls": [call]},
    ]  # fmt: skip


def qwen(said: str) -> Sequence[dict[str, Any]]:
    def line(key: str, parent: str, role: str = "user", **more: Any) -> dict[str, Any]:
        return {"sessionId": "s", "uuid": key, "parentUuid": parent, "type": role, **more}

    def turn(key: str, parent: str, text: str) -> dict[str, Any]:
        return line(key, parent, message={"role": "user", "parts": [{"text": text}]})

    call = {"functionCall": {"id": "t", "name": "run_shell_command", "args": PUSH}}
    return [
        turn("a", "", "Hi."), turn("b", "a", said),
        line("c", "a", "system", subtype="rewind", systemPayload={"truncatedCount": 1}),
        turn("d", "c", "Rebase it."), line("e", "d", "assistant", message={"role": "model", "parts": [call]}),
    ]  # fmt: skip


@pytest.mark.parametrize("session", [claude, codex, gemini, qwen])
def test_a_rule_that_was_taken_back_is_neither_lost_nor_broken(
    session: Any, tmp_path: Path
) -> None:
    path = made.write(tmp_path / "s.jsonl", *session(f"{made.FORCE_PUSH} Rebase it."))
    found = made.diagnosed(path, RULE)
    assert found.calls == 1
    assert found.histories[0].given is not None
    assert found.histories[0].broken == []
    assert {one.changes[0].outcome for one in found.compactions} <= {"not there"}


def test_a_leave_that_was_taken_back_frees_nothing(tmp_path: Path) -> None:
    first, *rest = claude(LIFT)
    first["message"]["content"] = made.FORCE_PUSH
    found = made.read(made.write(tmp_path / "s.jsonl", first, *rest), LIFTS, RULE)
    assert found.histories[0].revoked is None
    assert [one.knew for one in found.histories[0].broken] == [False]


def test_a_rewind_to_before_a_compaction_undoes_it(tmp_path: Path) -> None:
    def entry(key: str, parent: str | None, **more: Any) -> dict[str, Any]:
        return {"type": "message", "id": key, "parentId": parent, **more}

    call = {"type": "toolCall", "id": "t", "name": "bash", "arguments": PUSH}
    path = made.write(
        tmp_path / "s.jsonl", {"type": "session", "id": "s", "cwd": "/srv/shop"},
        entry("a", None, message={"role": "user", "content": made.FORCE_PUSH}),
        entry("b", "a", message={"role": "user", "content": "Look at the importer."}),
        entry("c", "b", type="compaction", summary=made.SUMMARY, firstKeptEntryId="b"),
        entry("d", "a", message={"role": "user", "content": "Rebase."}),
        entry("e", "d", message={"role": "assistant", "content": [call]}),
    )  # fmt: skip
    assert [one.knew for one in made.diagnosed(path, RULE).histories[0].broken] == [True]
