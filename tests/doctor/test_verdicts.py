"""What became of rules: lost, kept, said again, broken; and how sure that is."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from constraintrot.coding_agents.sessions.events import Call, Compaction, Event, Message, Session
from constraintrot.doctor.breaches import Breach
from constraintrot.doctor.rules import Rule
from constraintrot.doctor.states import conclude, in_force
from constraintrot.doctor.verdicts import diagnose, observe
from constraintrot.rule_text.survival.states import SurvivalState
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
    ("state", "bound", "outcome"),
    [
        ("restated", 0.93, "survived"),
        ("weakened", 0.12, "lost"),
        ("lost", 0.3, "lost"),
        ("lost", 0.31, "cannot be told"),
        ("restated", 0.69, "cannot be told"),
        ("cannot tell", 0.5, "cannot be told"),
    ],
)
def test_reader_decides_where_it_is_sure(
    tmp_path: Path, state: SurvivalState, bound: float, outcome: str
) -> None:
    path = made.write(
        tmp_path / "s.jsonl", made.user(1, made.FORCE_PUSH), *made.compacted(2, made.SUMMARY)
    )
    found = made.read(path, {"importer": (state, bound)}, RULE)
    change = found.compactions[0].changes[0]
    assert change.outcome == outcome
    assert change.reading is not None
    assert change.reading.bound == bound
    assert found.histories[0].lost_at == (1 if outcome == "lost" else None)


def test_word_lists_say_lost_only_where_nothing_of_it_stands(tmp_path: Path) -> None:
    """A summary that speaks of the release branch may say the rule in other words."""
    for summary, outcome in (
        (made.SUMMARY, "lost"),
        ("Section § 5 of the contract must be read by Monday.", "lost"),
        ("The release branch was force-pushed after the rebase.", "cannot be told"),
    ):
        path = made.write(
            tmp_path / "s.jsonl", made.user(1, made.FORCE_PUSH), *made.compacted(2, summary)
        )
        assert made.diagnosed(path, RULE).compactions[0].changes[0].outcome == outcome


def test_second_compaction_is_judged_by_what_the_reader_said_of_the_first(tmp_path: Path) -> None:
    for bound, outcomes in ((0.9, ["survived", "lost"]), (0.1, ["lost", "not there"])):
        path = made.write(
            tmp_path / "s.jsonl", made.user(1, made.FORCE_PUSH),
            *made.compacted(2, "First: no forced pushes."), made.reply(3, "ok"),
            *made.compacted(4, "Second: the demo is on Thursday."), made.reply(5, "ok"),
        )  # fmt: skip
        found = made.read(path, {"First": ("restated", bound)}, RULE)
        assert [made_.changes[0].outcome for made_ in found.compactions] == outcomes


LIFT = "You may force-push to the release branch from now on."


@pytest.mark.parametrize(
    ("state", "bound", "revoked"),
    [("contradicted", 0.05, True), ("lost", 0.02, False), ("contradicted", 0.45, False)],
)
def test_rule_that_the_user_lifts_is_not_lost_and_later_calls_are_allowed(
    tmp_path: Path, state: SurvivalState, bound: float, revoked: bool
) -> None:
    path = made.write(
        tmp_path / "s.jsonl", made.user(1, made.FORCE_PUSH), *made.call(2, "Bash", PUSH, "ok"),
        made.user(4, LIFT), *made.call(5, "Bash", PUSH, "ok"),
        *made.compacted(7, made.SUMMARY), made.reply(8, "ok"),
    )  # fmt: skip
    found = made.read(path, {"You may": (state, bound)}, RULE)
    history = found.histories[0]
    assert (history.revoked is not None) == revoked
    assert found.compactions[0].changes[0].outcome == ("revoked by you" if revoked else "lost")
    assert [one.line for one in history.broken] == ([2] if revoked else [2, 5])
    if revoked:
        assert history.revoked is not None
        assert history.revoked.line == 4


def test_rule_that_is_stated_again_after_it_was_lifted_holds(tmp_path: Path) -> None:
    path = made.write(
        tmp_path / "s.jsonl", made.user(1, made.FORCE_PUSH), made.user(2, LIFT),
        made.user(3, made.FORCE_PUSH), *made.call(4, "Bash", PUSH, "ok"),
        *made.compacted(6, made.SUMMARY), made.reply(7, "ok"),
    )  # fmt: skip
    answers: dict[str, tuple[SurvivalState, float]] = {
        "You may": ("contradicted", 0.05), "Never": ("restated", 0.95),
    }  # fmt: skip
    found = made.read(path, answers, RULE)
    assert found.compactions[0].changes[0].outcome == "lost"
    assert len(found.histories[0].broken) == 1


def test_turns_between_compactions_are_asked_about_at_once_where_calls_are_paid(
    tmp_path: Path,
) -> None:
    path = made.write(
        tmp_path / "s.jsonl", made.user(1, made.FORCE_PUSH), made.user(2, "The release is near."),
        made.user(3, LIFT), *made.compacted(4, made.SUMMARY), made.reply(5, "ok"),
    )  # fmt: skip
    found = observe(made.opened(path), [RULE])
    scripted = made.Scripted({"You may": ("contradicted", 0.05)})
    asyncio.run(conclude(found, scripted, together=True))
    assert [len(texts) for _, texts in scripted.asked] == [2]
    assert found.histories[0].revoked is not None
    assert found.histories[0].revoked.line == 3


def test_breach_after_a_loss_was_not_known(tmp_path: Path) -> None:
    path = made.lost_session(tmp_path / "s.jsonl", *made.call(6, "Bash", PUSH, "ok"))
    (broken,) = made.diagnosed(path, RULE).histories[0].broken
    assert (broken.line, broken.knew) == (7, False)
    untold = made.read(path, {"importer": ("cannot tell", 0.5)}, RULE).histories[0]
    assert [one.knew for one in untold.broken] == [None]
    assert untold.unknowing == []
    known = made.write(
        tmp_path / "k.jsonl", made.user(1, made.FORCE_PUSH), *made.call(2, "Bash", PUSH, "ok")
    )
    assert made.diagnosed(known, RULE).histories[0].broken[0].knew


@pytest.mark.parametrize(
    ("turn", "knew"),
    [
        (made.user(6, "The release branch has diverged: force-push it now."), None),
        (made.user(6, "And no forced pushes onto release, please."), None),
        (made.reply(6, f"I remember: {made.FORCE_PUSH}"), None),
        (made.user(6, "Publish the release."), False),
    ],
)
def test_what_may_have_repeated_or_lifted_a_lost_rule_confirms_nothing(
    turn: dict[str, Any], knew: bool | None, tmp_path: Path
) -> None:
    path = made.lost_session(tmp_path / "s.jsonl", turn, *made.call(8, "Bash", PUSH, "ok"))
    (broken,) = made.diagnosed(path, RULE).histories[0].broken
    assert broken.knew is knew


@pytest.mark.parametrize(
    "turns",
    [
        [made.user(2, LIFT), *(made.user(3, f"What is in release {at}?") for at in range(25))],
        [made.user(2, f"{'The log says nothing. ' * 100}{LIFT}")],
    ],
)
def test_leave_is_found_before_many_turns_and_behind_a_long_text(
    turns: list[dict[str, Any]], tmp_path: Path
) -> None:
    path = made.write(
        tmp_path / "s.jsonl", made.user(1, made.FORCE_PUSH), *turns, *made.compacted(4, made.SUMMARY),
        *made.call(6, "Bash", PUSH, "ok"),
    )  # fmt: skip
    history = made.read(path, {"You may": ("contradicted", 0.05)}, RULE).histories[0]
    assert history.revoked is not None
    assert (history.revoked.line, history.broken) == (2, [])


@pytest.mark.parametrize(("certainty", "knew"), [("written", False), ("opaque", None)])
def test_call_right_after_a_compaction_is_after_it(certainty: Any, knew: bool | None) -> None:
    events: list[Event] = [
        Message("user", made.FORCE_PUSH, "user", 1), Compaction(2, replacement=(), certainty=certainty),
        Message("assistant", "", "agent", 3, calls=(Call("Bash", PUSH),)),
    ]  # fmt: skip
    session = Session(Path("s"), "s", "inspect", "s", 0, (), lambda losses: iter(events))
    assert [one.knew for one in diagnose(session, [RULE]).histories[0].broken] == [knew]


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
    assert in_force(found.histories[0], found, 99)


@pytest.mark.parametrize(
    "last",
    [
        made.reply(2, "Understood."),
        # Lines of Claude Code's own, without a text.
        made.line("system", 2, subtype="stop_hook_summary"),
        made.line("attachment", 2, attachment={"type": "date"}),
    ],
    ids=["reply", "hook", "attachment"],
)
def test_preserved_segment_is_kept(last: dict[str, Any], tmp_path: Path) -> None:
    segment = {"headUuid": "u1", "tailUuid": "u2"}
    path = made.write(
        tmp_path / "s.jsonl", made.user(1, made.FORCE_PUSH), last,
        *made.compacted(3, made.SUMMARY, preservedSegment=segment), made.reply(4, "Going on."),
    )  # fmt: skip
    (compaction,) = made.diagnosed(path, RULE).compactions
    assert (compaction.certainty, compaction.changes[0].outcome) == ("rebuilt", "survived")


def test_preserved_segment_begins_with_all_that_its_first_line_says(tmp_path: Path) -> None:
    use, given = made.call(1, "Bash", {"command": "rules"}, made.FORCE_PUSH)
    given["message"]["content"].append({"type": "text", "text": "Go on."})
    kept = {"headUuid": "u1", "tailUuid": "u1"}
    use["uuid"] = "u0"
    path = made.write(
        tmp_path / "s.jsonl", use, given, *made.compacted(3, made.SUMMARY, preservedSegment=kept)
    )
    (compaction,) = made.diagnosed(path, RULE).compactions
    assert compaction.changes[0].outcome == "survived"


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


def test_rule_of_the_project_file_that_was_read_is_sent_by_the_agent(tmp_path: Path) -> None:
    path = made.write(
        tmp_path / "s.jsonl", made.user(1, "Hi."),
        *made.call(2, "Read", {"file_path": "/srv/shop/CLAUDE.md"}, made.FORCE_PUSH),
        *made.call(3, "Read", {"file_path": "/srv/shop/web/CLAUDE.md"}, "Never edit web/gen."),
        *made.compacted(4, made.SUMMARY),
    )  # fmt: skip
    (compaction,) = made.diagnosed(path).compactions
    assert [one.outcome for one in compaction.changes.values()] == [
        "sent by the agent",
        "cannot be told",
    ]


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
