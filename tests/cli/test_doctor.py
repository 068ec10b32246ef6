"""``constraintrot doctor`` as somebody runs it."""

import json
from functools import partial
from pathlib import Path

import pytest

from constraintrot.coding_agents import sessions as readers
from constraintrot.coding_agents.pins import checking, hook
from constraintrot.coding_agents.pins.agents import AGENTS
from constraintrot.extras import installed
from tests.doctor import sessions as made
from tests.invoked import invoked


@pytest.fixture(autouse=True)
def no_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("constraintrot.doctor.reading.lacking", lambda: "no weights here")


run = partial(invoked, "doctor")


@pytest.fixture
def session(tmp_path: Path) -> Path:
    return made.lost_session(tmp_path / "s.jsonl")


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    path = tmp_path / "rules.yaml"
    path.write_text(f"rules:\n  - {made.FORCE_PUSH}\n", encoding="utf-8")
    return path


def test_loss_is_named_and_fails_where_asked(session: Path, rules: Path) -> None:
    result = run(session, "--rules", rules, exits=0)
    assert "1 of 1 rules did not survive the compaction of 14:05" in result.output
    assert run(session, "--rules", rules, "--fail-on", "lost").exit_code == 1
    assert run(session, "--rules", rules, "--fail-on", "broken").exit_code == 0


def test_a_file_that_is_not_there_and_an_empty_folder_are_one_line(tmp_path: Path) -> None:
    (missing,) = run(tmp_path / "none.jsonl", exits=2).output.splitlines()
    assert missing.endswith("none.jsonl: No such file or directory")
    (empty,) = run(tmp_path, exits=2).output.splitlines()
    assert "no file in this folder may be a session" in empty


def test_nobody_to_ask_is_said(session: Path) -> None:
    result = run(session, exits=2)
    assert "--yes takes all of them" in result.output
    assert run(session, "--yes", "--fail-on", "lost").exit_code == 1


def test_sessions_of_the_machine_are_listed_before_they_are_read(
    session: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(readers, "on_this_machine", lambda: [session])
    result = run(exits=2)
    assert f"1 in {session.parent}" in result.output
    assert "--yes answers yes" in result.output
    monkeypatch.setattr(readers, "on_this_machine", list)
    assert "name files or folders" in run().output


def test_rules_that_are_none_are_left_out(session: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("constraintrot.doctor.confirming.terminal", lambda what: None)
    assert run(session, "--fail-on", "lost", input="1\n").exit_code == 0
    assert run(session, "--fail-on", "lost", input="\n").exit_code == 1


def test_calls_are_judged_by_a_draft_only_once_it_is_confirmed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    push = {"command": "git push --force origin release"}
    path = made.lost_session(tmp_path / "b.jsonl", *made.call(6, "Bash", push, "ok"))
    same = made.lost_session(tmp_path / "c.jsonl")
    given = (path, same, "--fail-on", "broken")
    unasked = run(*given, "--yes", exits=0)
    assert "Not judged: whether a call broke a rule, for 2 of 2" in unasked.output
    monkeypatch.setattr("constraintrot.doctor.confirming.terminal", lambda what: None)
    monkeypatch.setattr("constraintrot.doctor.confirming.at_terminal", lambda: True)
    taken = run(*given, input="\n\n", exits=1)
    assert "Rules that were said in these sessions: 1" in taken.output
    assert "and in 1 more sessions" in taken.output
    assert '"matches": ' in taken.output
    assert "line 7: Bash: git push --force origin release" in taken.output
    assert "Confirmed: 1 call broke a rule that was lost before" in taken.output
    assert run(*given, input="\n1\n").exit_code == 0


def test_reader_is_named_first_and_a_judge_needs_a_model(session: Path, rules: Path) -> None:
    result = run(session, "--rules", rules)
    assert result.stdout.splitlines()[0].startswith("Read by words (no weights here).")
    told = json.loads(run(session, "--rules", rules, "--json").stdout)
    assert told["reader"]["name"] == "words"
    assert told["totals"]["lost"] == 1
    assert told["sessions"][0]["compactions"][0]["how_sure"]
    refused = run(session, "--reader", "judge", exits=2)
    assert "name the model with --model" in refused.output


def test_rules_that_nobody_confirmed_are_not_pinned(
    session: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("constraintrot.cli.doctor._checked", lambda *given: None)
    result = run(session, "--yes", "--pin", tmp_path / "pins")
    assert "confirmed by nobody" in result.output
    assert not (tmp_path / "pins").exists()


def test_files_and_rules_are_read_once_and_a_relative_file_is_the_project_s(
    session: Path, rules: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session.write_text(session.read_text().replace("/srv/shop", str(session.parent)))
    (session.parent / "CLAUDE.md").write_text(f"- {made.FORCE_PUSH}\n")
    monkeypatch.chdir(session.parent)
    sent = run(session, session.parent, "--rules", "CLAUDE.md", "--rules", "./CLAUDE.md")
    assert "No rule was lost (1 sent by the agent)." in sent.output
    named = run(session, "--rules", rules, "--rules", rules, "--json")
    assert len(json.loads(named.stdout)["sessions"][0]["rules"]) == 1


def test_nothing_readable_is_no_success(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text("no session", encoding="utf-8")
    result = run(tmp_path, "--yes", exits=2)
    assert "no session that this reads" in result.output


def test_wrong_rules_file_is_no_traceback(session: Path, tmp_path: Path) -> None:
    result = run(session, "--rules", tmp_path / "none.md")
    assert (result.exit_code, type(result.exception)) == (2, SystemExit)


@pytest.mark.skipif(installed("detect_secrets"), reason="the extra is installed")
def test_files_need_the_library_that_masks(session: Path, tmp_path: Path) -> None:
    result = run(session, "--yes", "-o", tmp_path / "report", exits=2)
    assert "pip install 'constraintrot[doctor]'" in result.output
    assert not (tmp_path / "report").exists()


@pytest.mark.skipif(
    not installed("detect_secrets"), reason="constraintrot[doctor] is not installed"
)
def test_files_and_pins_are_written(session: Path, rules: Path, tmp_path: Path) -> None:
    run(session, "--rules", rules, "-o", tmp_path / "report", "--pin", tmp_path / "pins", exits=0)
    assert {one.name for one in (tmp_path / "report").iterdir()} == {
        "doctor.html", "doctor.json", "junit.xml",
    }  # fmt: skip
    assert made.FORCE_PUSH in (tmp_path / "pins" / "lost-rules.md").read_text(encoding="utf-8")


def test_what_was_lost_is_pinned_in_the_agent(
    session: Path, rules: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The seeds need no library; what is written with -o does.
    monkeypatch.setattr("constraintrot.cli.doctor._checked", lambda *given: None)
    for name in (*(agent.user_folder[0] for agent in AGENTS.values()), "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(checking, "program_of", lambda agent: None)
    (tmp_path / ".claude").mkdir()
    pins = tmp_path / "pins"
    assert run(session, "--rules", rules, "--pin", pins).exit_code == 0
    invoked("pin", "install", "claude", "--seeds", pins, exits=0)
    (folder,) = (tmp_path / ".local/share/constraintrot/pins").glob("claude-*")
    started: dict[str, object] = {
        "hook_event_name": "SessionStart",
        "source": "compact",
        "session_id": "s",
    }
    assert made.FORCE_PUSH in json.dumps(hook.answer(str(folder), "claude", started))
