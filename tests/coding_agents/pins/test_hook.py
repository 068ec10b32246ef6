"""The program that an agent starts: what it hands out, and what it says when it cannot."""

import ast
import json
import os
import shutil
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, get_args

import pytest

from constraintrot.coding_agents.pins import hook, targets
from constraintrot.coding_agents.pins.agents import AGENTS, Scope
from constraintrot.coding_agents.pins.checking import read_receipts
from constraintrot.coding_agents.pins.compiled import Source
from constraintrot.coding_agents.pins.installing import Change, install, uninstall
from constraintrot.coding_agents.pins.record import Pin
from tests.coding_agents.pins.conftest import RULE, fire, said

Pinned = Callable[..., Change]
START = {"hook_event_name": "SessionStart", "session_id": "s", "source": "compact"}
PROMPT = {"hook_event_name": "UserPromptSubmit", "session_id": "s"}
HOSTILE = (
    "<script>alert(1)</script> </system-reminder> $(touch pwned) `id` ${HOME} 'one' \"two\""
    " back\\slash %s {0} || true; ~~~ ~~~~\n\n\ttabbed\r\n日本語 é 🦊 \u2028 " + "long " * 500
)


def test_a_session_is_handed_the_policies_and_once_more_only_when_they_change(
    pinned: Pinned, rules: Path
) -> None:
    folder = pinned().folder
    first = said(fire(folder, START))
    assert RULE in first
    assert fire(folder, PROMPT) == {}

    rules.write_text("Never delete a file.\n", encoding="utf-8")
    amended = said(fire(folder, PROMPT))
    assert "Never delete a file." in amended
    assert RULE not in amended
    assert "WARNING" not in amended
    assert fire(folder, PROMPT) == {}
    # After a compaction the earlier text is gone, so it is said again.
    assert said(fire(folder, START)) == amended

    kept = read_receipts(folder).kept
    assert [(one["event"], one["revision"], one["state"]) for one in kept] == [
        ("SessionStart", 1, "injected"),
        ("UserPromptSubmit", 2, "injected"),
        ("SessionStart", 2, "injected"),
    ]
    assert kept[0]["source"] == "compact"


def test_any_text_arrives_word_for_word(pinned: Pinned, rules: Path, tmp_path: Path) -> None:
    rules.write_bytes(HOSTILE.encode())
    assert HOSTILE in said(fire(pinned().folder, START))
    assert not (tmp_path / "pwned").exists()


def test_a_hundred_kilobytes_arrive_where_the_agent_takes_them(pinned: Pinned, rules: Path) -> None:
    rules.write_text("r" * 99_000, encoding="utf-8")
    assert "r" * 99_000 in said(fire(pinned("codex").folder, START, "codex"))


@pytest.mark.parametrize("spoilt", ["gone", "binary", "empty", "control"])
def test_rules_that_cannot_be_read_leave_the_last_ones_in_force_and_it_says_so(
    pinned: Pinned, rules: Path, spoilt: str
) -> None:
    folder = pinned().folder
    contents = {"binary": b"\xff\xfe\x00", "empty": b"\n", "control": b"a\x1b[2J"}
    rules.unlink() if spoilt == "gone" else rules.write_bytes(contents[spoilt])
    answer = fire(folder, START)
    text = said(answer)
    assert text.startswith("WARNING from constraintrot")
    assert "the last ones that could be read, and they hold" in text
    assert RULE in text
    assert "constraintrot: " in answer["systemMessage"]
    (receipt,) = read_receipts(folder).kept
    assert receipt["state"] == "stale"


def test_without_anything_compiled_it_says_so(pinned: Pinned) -> None:
    folder = pinned().folder
    for damage in ("gone", "{", "[]", '{"version": 2, "text": "x"}'):
        path = folder / "compiled.json"
        path.unlink() if damage == "gone" else path.write_text(damage)
        answer = hook.answer(str(folder), "claude", dict(START))
        assert "No policy could be read, though there are some" in said(answer)
        assert answer["systemMessage"]
    states = [one["state"] for one in read_receipts(folder).kept]
    assert states == ["failed"] * 4


def test_where_the_hook_itself_is_gone_the_command_says_so(pinned: Pinned) -> None:
    folder = pinned().folder
    command = targets.command(AGENTS["claude"], "SessionStart", str(folder / "hook.py"))
    shutil.rmtree(folder)
    done = subprocess.run(["sh", "-c", command], capture_output=True, input=b"{}", check=True)
    assert said(json.loads(done.stdout)).startswith("WARNING from constraintrot")


def test_a_receipt_that_cannot_be_written_is_told(pinned: Pinned) -> None:
    folder = pinned().folder
    (folder / "key").unlink()
    answer = hook.answer(str(folder), "claude", dict(START))
    assert RULE in said(answer)
    assert "no receipt could be written" in str(answer["systemMessage"])


def test_forged_receipts_do_not_count(pinned: Pinned) -> None:
    folder = pinned().folder
    for _ in range(2):
        hook.answer(str(folder), "claude", dict(START))
    path = folder / "receipts.jsonl"
    first, second = path.read_text().splitlines()
    forged = [
        first.replace('"injected"', '"verified"'),
        '{"receipt": {"state": "injected"}, "seal": "00"}',
        '{"receipt": {}}',
        "not json",
        '{"receipt":' + "[" * 10_000,
    ]
    path.write_text("\n".join([first, *forged, second]) + "\n")
    receipts = read_receipts(folder)
    assert len(receipts.kept) == 2
    assert receipts.forged == tuple(f"receipts.jsonl line {at}" for at in range(2, 7))


def test_receipts_of_several_sessions_at_once_are_whole(pinned: Pinned) -> None:
    folder = pinned().folder
    events = [{**START, "session_id": str(number)} for number in range(64)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda event: hook.answer(str(folder), "claude", event), events))
    receipts = read_receipts(folder)
    assert sorted(int(one["session"]) for one in receipts.kept) == list(range(64))
    assert receipts.forged == ()


def test_a_seed_folder_is_read_anew_when_a_file_comes_or_goes(home: Path, tmp_path: Path) -> None:
    seeds = tmp_path / "seeds"
    seeds.mkdir()
    (seeds / "mail.md").write_text("---\nblocks:\n  - name: mail\n---\n## mail\nMail nobody.\n")
    folder = install(Pin(AGENTS["claude"], "user", home), Source("seeds", seeds)).folder
    assert "~~~ pin by owner: mail\nMail nobody.\n~~~" in said(fire(folder, START))
    (seeds / "files.md").write_text("Delete nothing.\n")
    text = said(fire(folder, START))
    assert "Delete nothing." in text
    assert "Mail nobody." in text


def test_it_needs_neither_the_package_nor_its_dependencies(pinned: Pinned) -> None:
    tree = ast.parse((pinned().folder / "hook.py").read_text())
    imported = {
        name
        for node in ast.walk(tree)
        for name in (
            [alias.name for alias in node.names] if isinstance(node, ast.Import) else
            [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        )
    }  # fmt: skip
    assert {name.partition(".")[0] for name in imported} <= sys.stdlib_module_names


def test_nobody_else_can_read_what_a_pin_keeps(pinned: Pinned) -> None:
    folder = pinned().folder
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((folder / "key").stat().st_mode) == 0o600


def test_a_rule_that_is_reverted_is_another_text_than_the_first(
    pinned: Pinned, rules: Path
) -> None:
    folder = pinned().folder
    first = said(fire(folder, START))
    rules.write_text("Never delete a file.\n", encoding="utf-8")
    said(fire(folder, PROMPT))
    rules.write_text(f"{RULE}\n", encoding="utf-8")
    reverted = said(fire(folder, PROMPT))
    assert RULE in reverted
    assert reverted != first
    assert 'the list "user", revision 3' in reverted


def test_rules_that_can_be_read_again_are_said_again_as_a_new_revision(
    pinned: Pinned, rules: Path
) -> None:
    folder = pinned().folder
    first, kept = said(fire(folder, START)), rules.read_bytes()
    rules.unlink()
    lost = said(fire(folder, PROMPT))
    rules.write_bytes(kept)
    repaired = said(fire(folder, PROMPT))
    assert len({first, lost, repaired}) == 3
    assert "WARNING" not in repaired
    assert fire(folder, PROMPT) == {}
    rules.unlink()
    assert said(fire(folder, PROMPT)) not in (lost, repaired)


def test_openhands_is_handed_the_text_with_each_turn_where_it_looks_for_it(pinned: Pinned) -> None:
    folder = pinned("openhands").folder
    turn = {"event_type": "UserPromptSubmit", "session_id": "s", "working_dir": str(folder)}
    answers = [fire(folder, turn, "openhands") for _ in range(2)]
    assert all(RULE in one["additionalContext"] == said(one) for one in answers)
    assert [one["event"] for one in read_receipts(folder).kept] == ["UserPromptSubmit"] * 2


def test_copilot_is_handed_the_text_with_each_turn_where_it_looks_for_it(
    home: Path, pinned: Pinned, rules: Path
) -> None:
    folder = pinned("copilot").folder
    turn = {"hook_event_name": "UserPromptSubmit", "session_id": "s"}
    answers = [fire(folder, turn, "copilot") for _ in range(2)]
    assert all(RULE in one["additionalContext"] == said(one) for one in answers)
    within = {**turn, "hook_event_name": "PostToolUse"}
    assert fire(folder, within, "copilot") == {}
    rules.write_text("Never delete a file.\n")
    assert "Never delete" in fire(folder, within, "copilot")["additionalContext"]
    (folder / "hook.py").unlink()
    written: Any = json.loads(AGENTS["copilot"].settings("user", home).read_text())
    command = written["hooks"]["PostToolUse"][0]["bash"]
    done = subprocess.run(
        command, shell=True, capture_output=True, check=True, stdin=subprocess.DEVNULL
    )
    assert json.loads(done.stdout)["additionalContext"] == targets.LOST


def test_an_agent_with_the_text_in_its_system_prompt_is_handed_it_there_at_each_start(
    pinned: Pinned, rules: Path
) -> None:
    folder = pinned("qwen").folder
    resume, turn = {**START, "source": "resume"}, {**START, "hook_event_name": "UserPromptSubmit"}
    assert all(RULE in said(fire(folder, resume, "qwen")) for _ in range(2))
    assert fire(folder, turn, "qwen") == {}
    rules.write_text("Never delete a file.\n")
    # The system prompt is that of the start, and a turn is summarised away.
    assert all("Never delete" in said(fire(folder, turn, "qwen")) for _ in range(2))
    within = {**START, "hook_event_name": "PostToolUse"}
    assert fire(folder, within, "qwen") == {}
    assert said(fire(folder, START, "qwen"))
    assert fire(folder, turn, "qwen") == {}
    rules.write_text(f"{RULE}\n")
    assert said(fire(folder, resume, "qwen"))
    # The history has the list before it, behind the system prompt.
    assert RULE in said(fire(folder, turn, "qwen"))
    assert fire(folder, turn, "qwen") == {}


def test_a_resumed_session_is_handed_nothing_that_it_holds(pinned: Pinned, rules: Path) -> None:
    folder = pinned("codex").folder
    resume = {**START, "source": "resume"}
    assert said(fire(folder, START, "codex"))
    assert [fire(folder, resume, "codex") for _ in range(3)] == [{}] * 3
    assert said(fire(folder, START, "codex")), "after a compaction"
    assert said(fire(folder, {**resume, "session_id": "unknown"}, "codex"))
    rules.write_text("Never delete a file.\n", encoding="utf-8")
    assert "Never delete" in said(fire(folder, resume, "codex"))


def both(
    project: Path, folder: Path, scopes: Sequence[Scope] = get_args(Scope)
) -> dict[Scope, Path]:
    """Pin a rule of the user's and one of a project's; the folders of the pins."""
    project.mkdir()
    made: dict[Scope, Path] = {}
    for scope in scopes:
        rules = folder / f"{scope}.txt"
        rules.write_text(f"A rule of the {scope}'s.\n")
        made[scope] = install(Pin(AGENTS["claude"], scope, project), Source("rules", rules)).folder
    return made


@pytest.mark.parametrize("first", ["user", "project"])
def test_the_lists_of_two_scopes_are_said_once_and_replace_their_own_only(
    home: Path, tmp_path: Path, first: Scope
) -> None:
    project = tmp_path / "project"
    scopes: tuple[Scope, ...] = ("user", "project") if first == "user" else ("project", "user")
    folders = both(project, tmp_path, scopes)
    here = {**START, "cwd": str(project)}
    text = said(fire(folders[scopes[0]], here))
    for scope in scopes:
        assert f"A rule of the {scope}'s." in text
        assert f'replaces every earlier list named "{scope}", and no other list' in text
    # The other hook of the same event has nothing to add; a later compaction has.
    assert fire(folders[scopes[1]], here) == {}
    assert said(fire(folders[scopes[0]], here)) == text
    (tmp_path / "user.txt").write_text("Amended.\n")
    prompt = {**PROMPT, "cwd": str(project)}
    amended = said(fire(folders["project"], prompt))
    assert "Amended." in amended
    assert "A rule of the project's." in amended
    assert fire(folders["user"], prompt) == {}
    elsewhere = {**START, "cwd": str(tmp_path), "session_id": "other"}
    assert "project's" not in said(fire(folders["user"], elsewhere))
    uninstall(Pin(AGENTS["claude"], "user", project))
    assert "Amended." not in said(fire(folders["project"], here))


def test_a_sub_agent_does_not_take_an_amendment_away_from_the_session(
    pinned: Pinned, rules: Path
) -> None:
    folder = pinned().folder
    assert said(fire(folder, START))
    within = {"hook_event_name": "PostToolUse", "session_id": "s", "agent_id": "a1"}
    assert RULE in said(fire(folder, within))
    rules.write_text("Never delete a file.\n", encoding="utf-8")
    for event in (within, PROMPT, {**within, "agent_id": "a2"}):
        assert "Never delete" in said(fire(folder, event))
        assert fire(folder, event) == {}


def test_rules_that_take_too_long_are_told_while_the_agent_waits(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hook, "LONGEST_WAIT", 1)
    project = tmp_path / "project"
    folders = both(project, tmp_path)
    for scope, folder in folders.items():
        compiled = json.loads((folder / "compiled.json").read_text())
        compiled["recompile"] = ["sh", "-c", "exec sleep 20"]
        (folder / "compiled.json").write_text(json.dumps(compiled))
        (tmp_path / f"{scope}.txt").write_text("Amended.\n")
    events = [{**PROMPT, "cwd": str(project), "session_id": str(number)} for number in range(4)]
    begun = time.monotonic()
    with ThreadPoolExecutor(4) as pool:
        user = str(folders["user"])
        answers = list(pool.map(lambda event: hook.answer(user, "claude", event), events))
    assert time.monotonic() - begun < 10
    assert all(said(one).count("the last ones that could be read") == 2 for one in answers)


@pytest.mark.parametrize("left", ["a device", "a pipe", "a folder", "nothing", "no text"])
def test_a_repository_s_settings_do_not_silence_the_user_s_pin(
    home: Path, tmp_path: Path, left: str
) -> None:
    """A pull may put anything in the place of the settings that start the project's hook."""
    project = tmp_path / "project"
    folders = both(project, tmp_path)
    place = Pin(AGENTS["claude"], "project", project).settings
    place.unlink()
    if left == "a device":
        place.symlink_to("/dev/zero")
    elif left == "a pipe":
        os.mkfifo(place)
    elif left == "a folder":
        place.mkdir()
    elif left == "no text":
        place.write_bytes(b"\xff\xfe")
    answer = said(fire(folders["user"], {**START, "cwd": str(project)}))
    assert "A rule of the user's." in answer
    assert "A rule of the project's." not in answer
    assert "WARNING" not in answer


def test_a_hook_that_fails_hands_out_the_rules_that_it_knows(pinned: Pinned) -> None:
    folder = pinned().folder
    path = folder / "hook.py"
    code = path.read_text("utf-8").replace(
        "    name = name_of(event)\n", "    raise MemoryError\n", 1
    )
    path.write_text(code, encoding="utf-8")
    answer = said(fire(folder, START))
    assert "its hook failed (MemoryError" in answer
    assert "the last ones that could be read" in answer
    assert RULE in answer


def test_hooks_at_once_after_an_amendment_hand_out_the_new_text(
    pinned: Pinned, rules: Path
) -> None:
    folder = pinned().folder
    rules.write_text("Never delete a file.\n", encoding="utf-8")
    events = [{**START, "session_id": str(number)} for number in range(24)]
    with ThreadPoolExecutor(12) as pool:
        answers = list(pool.map(lambda event: fire(folder, event), events))
    assert all("Never delete" in said(one) and "systemMessage" not in one for one in answers)
    assert {one["revision"] for one in read_receipts(folder).kept} == {2}


@pytest.mark.parametrize("kind", ["fifo", "large"])
def test_rules_that_became_no_bounded_file_do_not_hold_the_agent_up(
    pinned: Pinned, rules: Path, kind: str
) -> None:
    folder = pinned().folder
    rules.unlink()
    if kind == "fifo":
        os.mkfifo(rules)
    else:
        with rules.open("wb") as file:
            file.truncate(hook.LARGEST_RULES + 1)
    answer = fire(folder, START)
    assert RULE in said(answer)
    assert {"fifo": "no regular file", "large": "larger than"}[kind] in answer["systemMessage"]


def test_below_a_project_both_lists_are_said_once(home: Path, tmp_path: Path) -> None:
    project = tmp_path / "project"
    user, own = both(project, tmp_path).values()
    (project / "below").mkdir()
    below = {"cwd": str(project / "below")}
    text = said(fire(user, START | below))
    assert "A rule of the user's." in text
    assert "A rule of the project's." in text
    assert fire(own, START | below) == {}
    assert [fire(one, PROMPT | below) for one in (user, own, user)] == [{}] * 3
    beside = said(fire(user, START | {"cwd": f"{project}-2", "session_id": "t"}))
    assert "project's" not in beside


def test_a_home_of_any_name_holds_pins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / 'José O\'Brien "x"'
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    project = tmp_path / "project"
    both(project, tmp_path)
    pin = Pin(AGENTS["claude"], "user", project)
    settings = json.loads(pin.settings.read_text())
    command = settings["hooks"]["SessionStart"][0]["hooks"][0]["command"]
    event = json.dumps(START | {"cwd": str(project)}).encode()
    done = subprocess.run(["sh", "-c", command], input=event, capture_output=True, check=True)
    text = said(json.loads(done.stdout))
    assert "A rule of the user's." in text
    assert "A rule of the project's." in text
    # The user edits the file, so that only our part is taken out of it.
    pin.settings.write_text(json.dumps(settings | {"mine": 1}))
    uninstall(pin)
    assert json.loads(pin.settings.read_text()) == {"mine": 1}
