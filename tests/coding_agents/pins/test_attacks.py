"""Attacks on hooks and settings: by what an agent sends, and by what a repository brings along."""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from constraintrot.coding_agents.pins import hook
from constraintrot.coding_agents.pins.agents import AGENTS
from constraintrot.coding_agents.pins.checking import health, read_receipts
from constraintrot.coding_agents.pins.compiled import Source
from constraintrot.coding_agents.pins.file_edit import PinInstallError
from constraintrot.coding_agents.pins.installing import Change, install, uninstall
from constraintrot.coding_agents.pins.json_spans import parse
from constraintrot.coding_agents.pins.record import Pin, records
from constraintrot.coding_agents.pins.settings_edit import with_hooks, without_hooks
from constraintrot.coding_agents.pins.targets import toml_of
from tests.coding_agents.pins.conftest import RULE, fire, said

Pinned = Callable[..., Change]
START = {"hook_event_name": "SessionStart", "session_id": "s", "source": "compact"}
EVENTS: dict[str, dict[str, Any] | bytes] = {
    "a folder with a zero byte": START | {"cwd": "a\0b"},
    "a folder that is a list": START | {"cwd": ["/"]},
    "half of a character as the folder": b'{"session_id": "s", "cwd": "\\ud800"}',
    "a session that is an object": START | {"session_id": {"a": 1}},
    "half of a character as the session": b'{"session_id": "\\ud800"}',
    "half of a character as the source": b'{"session_id": "s", "source": "\\ud800"}',
    "an event that is a list": START | {"hook_event_name": ["x"]},
    "an event that moves the cursor": START | {"hook_event_name": "\x1b[2J\n"},
    "a session of five megabytes": START | {"session_id": "x" * 5_000_000},
    "an event of two megabytes": START | {"hook_event_name": "x" * 2_000_000},
    "lists a million deep": b"[" * 1_000_000,
    "a number of ten thousand digits": b'{"session_id": ' + b"9" * 10_000 + b"}",
    "a key twice": b'{"session_id": "a", "session_id": "b"}',
    "nothing": b"",
    "half of an object": b"{",
    "a list": b"[1]",
    "no text": b"\xff",
    "an event that is a number": b'{"hook_event_name": 5, "session_id": null}',
}


@pytest.mark.parametrize("case", EVENTS)
def test_no_event_voids_a_rule(pinned: Pinned, case: str) -> None:
    folder, event = pinned().folder, EVENTS[case]
    answer = fire(folder, event)
    assert RULE in said(answer)
    assert "WARNING" not in said(answer)
    assert len(json.dumps(answer)) < 5_000
    # A receipt is short, so that no event pushes the others out of the file.
    (receipt,) = read_receipts(folder).kept
    assert len(json.dumps(receipt)) < 5_000


def test_receipts_are_counted_over_both_files(
    pinned: Pinned, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = pinned().folder
    monkeypatch.setattr(hook, "LONGEST_RECEIPTS", 100)
    hook.write_receipt(str(folder), {"event": "first", "filler": "x" * 100})
    monkeypatch.undo()
    hook.write_receipt(str(folder), {"event": "second"})
    with (folder / "receipts.jsonl").open("a") as file:
        file.write("{}\n")
    found = read_receipts(folder)
    assert [one["event"] for one in found.kept] == ["first", "second"]
    assert found.forged == ("receipts.jsonl line 2",)


def test_a_folder_that_the_agent_removed_voids_no_rule(pinned: Pinned, tmp_path: Path) -> None:
    folder = pinned().folder
    gone = tmp_path / "gone"
    gone.mkdir()
    script = (
        f"cd '{gone}' && rmdir '{gone}' && exec '{sys.executable}' -I -S '{folder}/hook.py' claude"
    )
    done = subprocess.run(
        ["sh", "-c", script], input=json.dumps(START).encode(), capture_output=True, check=True
    )
    answer = json.loads(done.stdout)
    assert RULE in said(answer)
    assert "systemMessage" not in answer


@pytest.mark.parametrize(
    "note", ["[]", "{", '{"said": [], "at": 0}', '{"said": "x", "at": "y"}', "[" * 100_000, "5"]
)
def test_no_note_of_a_session_voids_a_rule(pinned: Pinned, note: str) -> None:
    folder = pinned().folder
    assert said(fire(folder, START))
    (place,) = [one for one in (folder / "sessions").iterdir() if one.suffix != ".lock"]
    place.write_text(note)
    answer = fire(folder, START | {"hook_event_name": "UserPromptSubmit"})
    assert RULE in said(answer)
    assert "WARNING" not in said(answer)


@pytest.mark.parametrize("left", ["gone", "a file", "a link to nothing"])
def test_without_notes_the_rules_are_said(pinned: Pinned, left: str) -> None:
    folder = pinned().folder
    shutil.rmtree(folder / "sessions")
    if left == "a file":
        (folder / "sessions").write_text("")
    elif left == "a link to nothing":
        (folder / "sessions").symlink_to("/nowhere")
    assert RULE in said(hook.answer(str(folder), "claude", dict(START)))


def test_what_is_damaged_of_the_other_list_leaves_this_one(pinned: Pinned) -> None:
    folder = pinned().folder
    path = folder / "compiled.json"
    compiled = json.loads(path.read_text())
    path.write_text(json.dumps(compiled | {"list": 5}))
    answer = hook.answer(str(folder), "claude", dict(START))
    assert RULE in said(answer)


def test_modules_in_a_project_are_not_imported(
    pinned: Pinned, rules: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = pinned().folder
    for name in ("json", "hashlib", "sitecustomize", "constraintrot", "subprocess", "hmac"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit(0)")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("PYTHONSTARTUP", str(tmp_path / "json.py"))
    monkeypatch.setenv("PYTHONHOME", "/nowhere")
    assert RULE in said(fire(folder, START))
    rules.write_text("Never delete a file.\n")
    assert "Never delete" in said(fire(folder, START))


@pytest.mark.parametrize(
    ("agent", "link", "target"),
    [
        ("claude", ".claude/settings.local.json", ".claude/settings.json"),
        ("claude", ".claude", ".claude"),
        ("codex", ".codex", ".codex"),
        ("gemini", ".gemini/settings.json", ".gemini/settings.json"),
        ("opencode", ".opencode/plugins", ".config/opencode/plugins"),
        ("pi", ".pi", ".pi/agent"),
    ],
)
def test_a_repository_whose_settings_are_a_link_out_of_it_pins_nothing_elsewhere(
    home: Path, rules: Path, tmp_path: Path, agent: str, link: str, target: str
) -> None:
    project = tmp_path / "project"
    (project / link).parent.mkdir(parents=True)
    aim = home / target
    (aim.parent if aim.suffix else aim).mkdir(parents=True)
    if aim.suffix:
        aim.write_text("{}")
    (project / link).symlink_to(aim)
    before = sorted(home.rglob("*"))
    with pytest.raises(PinInstallError, match="is a link out of the project"):
        install(Pin(AGENTS[agent], "project", project), Source("rules", rules))
    after = [one for one in sorted(home.rglob("*")) if ".local" not in one.parts]
    assert after == before


def test_a_link_within_a_project_is_followed(home: Path, rules: Path, tmp_path: Path) -> None:
    project = tmp_path / "project"
    (project / "shared").mkdir(parents=True)
    (project / ".codex").symlink_to("shared")
    pin = Pin(AGENTS["codex"], "project", project)
    install(pin, Source("rules", rules))
    assert "hook.py" in (project / "shared" / "hooks.json").read_text()
    uninstall(pin)
    assert list((project / "shared").iterdir()) == []


HOOK = {"SessionStart": {"hooks": [{"type": "command", "command": "x/hook.py"}]}}
SETTINGS = {
    "the key in escapes": '{"hoo\\u006bs": {"SessionStart": []}}',
    "half of a character": '{"a": "\\ud800"}',
    "a number without end": '{"a": 1e999, "b": -0, "c": 1E5}',
    "a key named as a prototype": '{"__proto__": {"hooks": {}}, "constructor": 1}',
    "hooks in a text": '{"a": "\\"hooks\\": {}"}',
    "separators of lines": '{"a": "\u2028\u2029\u0085"}',
    "a key that is empty": '{"": {"": []}}',
}


@pytest.mark.parametrize("case", SETTINGS)
def test_odd_settings_come_back_to_the_byte(case: str) -> None:
    text = SETTINGS[case]
    made = with_hooks(text, HOOK)
    assert json.loads(made)["hooks"]["SessionStart"]
    created = [] if case == "the key in escapes" else ["SessionStart", "hooks"]
    assert json.loads(without_hooks(made, "x/hook.py", created)) == json.loads(text)


@pytest.mark.parametrize(
    "text",
    [
        "[" + "/*x*/1," * 40_000 + "1]",
        "[" + "[1,]," * 40_000 + "1]",
        "{" + ",".join(f'"{number}":1' for number in range(40_000)) + "}",
        "[" + "//\n" * 80_000 + "]",
    ],
    ids=["comments", "commas", "keys", "lines"],
)
def test_settings_of_a_repository_are_read_in_linear_time(text: str) -> None:
    start = time.process_time()
    parse(text)
    # Where each was looked up in all before it, it took a minute and more.
    assert time.process_time() - start < 10


def test_our_hook_without_number_is_left_to_the_user() -> None:
    entry = {"hooks": [{"type": "command", "command": "x/hook.py"}]}
    with pytest.raises(PinInstallError, match="more than 100 times"):
        without_hooks(json.dumps({"hooks": {"SessionStart": [entry] * 1_000}}), "x/hook.py")


@pytest.mark.parametrize(
    "text",
    [
        "a = " + "[" * 5_000 + "]" * 5_000,
        "a = " + "{a=" * 5_000 + "1" + "}" * 5_000,
        ".".join(["a"] * 100_000) + " = 1",
        "[" + " . ".join(['"a"'] * 100_000) + "]",
        "a = " + "9" * 5_000,
    ],
    ids=["lists", "tables", "a long key", "a long name", "a long number"],
)
def test_a_repository_s_toml_neither_hangs_nor_ends_a_status(
    home: Path, rules: Path, tmp_path: Path, text: str
) -> None:
    with pytest.raises(PinInstallError):
        toml_of(text)
    install(Pin(AGENTS["codex"], "user", tmp_path), Source("rules", rules))
    (tmp_path / ".codex").mkdir(exist_ok=True)
    (tmp_path / ".codex" / "config.toml").write_text(text)
    start = time.monotonic()
    assert health(records()[0], tmp_path).faults == []
    assert time.monotonic() - start < 60


def test_toml_with_numbers_in_a_row_is_read() -> None:
    assert toml_of("a = [" + ", ".join(["1.5"] * 200) + "]\nb.c.d = 1") == {
        "a": [1.5] * 200, "b": {"c": {"d": 1}},
    }  # fmt: skip


def test_a_rules_file_that_is_a_link_is_watched_where_it_leads(
    pinned: Pinned, rules: Path, tmp_path: Path
) -> None:
    real = tmp_path / "real.txt"
    os.replace(rules, real)
    rules.symlink_to(real)
    folder = pinned().folder
    assert RULE in said(fire(folder, START))
    other = tmp_path / "other.txt"
    other.write_text("Never delete a file.\n")
    rules.unlink()
    rules.symlink_to(other)
    assert "Never delete" in said(fire(folder, START | {"session_id": "t"}))
