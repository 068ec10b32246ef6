"""What became of rules: lost, kept, said again, broken; and how sure that is."""

from __future__ import annotations

from pathlib import Path

import pytest

from constraintrot.doctor.breaches import Breach
from constraintrot.doctor.rules import Rule
from tests.doctor import sessions as made

RULE = Rule(
    "push", made.FORCE_PUSH, file="rules.yaml",
    breach=Breach.read({"tool": "Bash", "matches": "push.*--force"}, "push"),
)  # fmt: skip
PUSH = {"command": "git push --force origin release"}


def test_lost_rule_says_when_it_came_and_what_stands_instead(tmp_path: Path) -> None:
    found = made.diagnosed(made.lost_session(tmp_path / "s.jsonl"), RULE)
    ((compaction, history, change),) = found.lost()
    assert (compaction.line, compaction.trigger, compaction.certainty) == (5, "auto", "rebuilt")
    assert (change.before, change.after) == ("verbatim", "lost")
    assert history.given is not None
    assert (history.given.message.channel, history.given.message.line) == ("user", 1)
    assert (history.turns, history.seconds) == (1, 240)


@pytest.mark.parametrize(
    ("summary", "state"),
    [
        ("The user does not allow force pushes on the release branch.", "restated"),
        ("Where possible force pushes to the release branch are avoided.", "weakened"),
        ("The release branch was force-pushed after the rebase.", "lost"),
    ],
)
def test_state_is_that_of_the_summary(tmp_path: Path, summary: str, state: str) -> None:
    path = made.write(
        tmp_path / "s.jsonl", made.user(1, made.FORCE_PUSH), *made.compacted(2, summary)
    )
    found = made.diagnosed(path, RULE)
    change = found.compactions[0].changes[0]
    assert change.after == state
    assert change.outcome == ("survived" if state == "restated" else "lost")


def test_breach_after_a_loss_was_not_known(tmp_path: Path) -> None:
    path = made.lost_session(tmp_path / "s.jsonl", *made.call(6, "Bash", PUSH, "ok"))
    (broken,) = made.diagnosed(path, RULE).histories[0].broken
    assert (broken.line, broken.knew) == (7, False)
    known = made.write(
        tmp_path / "k.jsonl", made.user(1, made.FORCE_PUSH), *made.call(2, "Bash", PUSH, "ok")
    )
    assert made.diagnosed(known, RULE).histories[0].broken[0].knew


def test_call_before_the_rule_was_said_breaks_nothing(tmp_path: Path) -> None:
    path = made.write(
        tmp_path / "s.jsonl", *made.call(1, "Bash", PUSH, "ok"), made.user(2, made.FORCE_PUSH)
    )
    assert made.diagnosed(path, RULE).histories[0].broken == []


def test_rule_said_again_is_no_survival(tmp_path: Path) -> None:
    path = made.lost_session(
        tmp_path / "s.jsonl", made.user(6, made.FORCE_PUSH), made.reply(7, "Yes.")
    )
    found = made.diagnosed(path, RULE)
    assert len(found.lost()) == 1
    assert found.histories[0].said_again == [7]


def test_preserved_segment_is_kept(tmp_path: Path) -> None:
    segment = {"headUuid": "u1", "tailUuid": "u2"}
    path = made.write(
        tmp_path / "s.jsonl", made.user(1, made.FORCE_PUSH), made.reply(2, "Understood."),
        *made.compacted(3, made.SUMMARY, preservedSegment=segment), made.reply(4, "Going on."),
    )  # fmt: skip
    assert made.diagnosed(path, RULE).compactions[0].changes[0].outcome == "survived"


def test_reattached_file_belongs_to_the_new_context(tmp_path: Path) -> None:
    attached = {
        "type": "instructions",
        "files": [{"path": "/srv/shop/CLAUDE.md", "content": made.FORCE_PUSH}],
    }
    path = made.lost_session(
        tmp_path / "s.jsonl", made.user(6, "Go on."),
        made.line("attachment", 7, attachment=attached), made.reply(8, "Yes."),
    )  # fmt: skip
    change = made.diagnosed(path, RULE).compactions[0].changes[0]
    assert change.outcome == "survived"
    assert change.stands is not None
    assert change.stands.message.channel == "project file"


def test_rule_of_the_project_file_is_sent_with_each_request(tmp_path: Path) -> None:
    rule = Rule("push", made.FORCE_PUSH, file="/srv/shop/CLAUDE.md")
    elsewhere = Rule("push", made.FORCE_PUSH, file="/srv/other/CLAUDE.md")
    path = made.lost_session(tmp_path / "s.jsonl")
    assert made.diagnosed(path, rule).compactions[0].changes[0].outcome == "sent by the agent"
    assert made.diagnosed(path, elsewhere).compactions[0].changes[0].outcome == "lost"


def test_rules_are_found_where_none_are_named(tmp_path: Path) -> None:
    handbook = "Policy: email may only be sent to addresses at calder.test."
    path = made.write(
        tmp_path / "s.jsonl", made.user(1, f"{made.FORCE_PUSH} Do not forget to attach the log today."),
        *made.call(2, "mcp__office__handbook", {}, handbook),
        *made.call(3, "Read", {"file_path": "src/a.py"}, "# never call this twice, it must be a list"),
    )  # fmt: skip
    found = made.diagnosed(path)
    assert [one.rule.text for one in found.histories] == [made.FORCE_PUSH, handbook]
    assert [one.rule.channel for one in found.histories] == ["user", "mcp"]


def test_sections_signs_of_a_text_are_no_rule(tmp_path: Path) -> None:
    summary = "Section § 5 of the contract must be read by Monday."
    path = made.write(
        tmp_path / "s.jsonl", made.user(1, made.FORCE_PUSH), *made.compacted(2, summary)
    )
    assert made.diagnosed(path, RULE).compactions[0].changes[0].after == "lost"


def test_code_that_forbids_something_gives_no_rule(tmp_path: Path) -> None:
    code = "# the release branch is protected: force-push must never happen here"
    path = made.write(
        tmp_path / "s.jsonl",
        *made.call(1, "Read", {"file_path": "ci.py"}, code),
        *made.compacted(2, made.SUMMARY),
    )
    found = made.diagnosed(path, RULE)
    assert found.histories[0].given is None
    assert found.lost() == []
