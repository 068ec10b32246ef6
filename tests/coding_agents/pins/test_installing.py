"""Installing into a user's settings and taking it back: every byte, mode, link and edit kept."""

import json
import os
import re
import shutil
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from constraintrot.coding_agents.pins import edits, file_edit, installing
from constraintrot.coding_agents.pins.agents import AGENTS
from constraintrot.coding_agents.pins.checking import health
from constraintrot.coding_agents.pins.compiled import Source
from constraintrot.coding_agents.pins.edits import Edit, apply_all
from constraintrot.coding_agents.pins.file_edit import FileState, PinInstallError
from constraintrot.coding_agents.pins.installing import Change, install, uninstall
from constraintrot.coding_agents.pins.record import (
    Pin,
    Record,
    pins_folder,
    read_record,
    records,
    together,
)
from constraintrot.coding_agents.pins.settings_edit import root_of
from tests.coding_agents.pins.conftest import CLAUDE as COMMENTED
from tests.coding_agents.pins.conftest import RULE, fire, settings, write_settings

Pinned = Callable[..., Change]
# Claude Code reads strict JSON.
CLAUDE = re.sub(r"(?m)^ *// .*\n| */\*.*\*/|, // last.*", "", COMMENTED).replace(
    'date"},', 'date"}'
)
TOML = '# mine\nmodel = "m"  # the good one\n\n[features]\nweb = true\n'
# As somebody would have them: comments, a byte order mark, Windows' line ends, blank, no hooks.
BEFORE: dict[str, list[str | None]] = {
    "claude": [CLAUDE, "{}", "\ufeff{}\n", "", '{\r\n\t"a": 1\r\n}', None],
    "codex": ['{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "x"}]}]}}', None],
    "gemini": ['{\n    // vim\n    "vimMode": true\n}\n', None],
    "copilot": [None],
    "opencode": [None],
    "openhands": ['{"hooks": {"Stop": [{"hooks": [{"command": "x"}]}]}}', "{}", None],
    "pi": [None],
    "qwen": ['\ufeff{\n    // vim\n    "general": {"vimMode": true}\n}\n', None],
}
CASES = [(agent, before) for agent, every in BEFORE.items() for before in every]


def faults(here: Path) -> str:
    """The faults of the only pin, for an agent that works in a folder."""
    (record,) = records()
    return "\n".join(health(record, here).faults)


@pytest.mark.parametrize(("agent", "before"), CASES)
def test_uninstalling_leaves_the_home_as_it_was(
    home: Path, pinned: Pinned, agent: str, before: str | None
) -> None:
    if before is not None:
        write_settings(home, before, agent).chmod(0o640)
    was = tree(home)
    change = pinned(agent)
    assert change.diffs
    assert faults(home) == ""
    if before is not None:
        assert settings(home, agent).stat().st_mode & 0o777 == 0o640
    uninstall(Pin(AGENTS[agent], "user", home))
    (pins_folder() / "lock").unlink()
    remove_empty(home, home / ".local")
    assert tree(home) == was


@pytest.mark.parametrize("agent", AGENTS)
def test_a_second_installation_changes_nothing(home: Path, pinned: Pinned, agent: str) -> None:
    first = pinned(agent)
    installed = tree(home)
    assert pinned(agent).diffs == []
    assert install(Pin(AGENTS[agent], "user", home), None).folder == first.folder
    assert tree(home) == installed


def test_a_dry_run_shows_the_change_and_touches_nothing(home: Path, pinned: Pinned) -> None:
    write_settings(home, CLAUDE)
    was = tree(home)
    (shown,) = pinned(dry_run=True).diffs
    assert '+    "UserPromptSubmit": [' in shown
    assert tree(home) == was
    pinned()
    installed = tree(home)
    uninstall(Pin(AGENTS["claude"], "user", home), dry_run=True)
    assert tree(home) == installed


def test_what_the_user_changes_in_between_stays(home: Path, pinned: Pinned) -> None:
    path = write_settings(home, CLAUDE)
    pinned()
    path.write_text(path.read_text().replace('"model": "opus"', '"model": "haiku"'))
    # Once more: the settings hold the edit and our part, once.
    pinned()
    assert path.read_text().count("SessionStart\\") == 1
    path.write_text(path.read_text().replace("echo hello", "echo bye"))
    change = uninstall(Pin(AGENTS["claude"], "user", home))
    assert change.notes == [f"{path} was changed since: only our part of it is taken out"]
    edited = CLAUDE.replace("opus", "haiku").replace("echo hello", "echo bye")
    assert root_of(path.read_text()) == root_of(edited)
    assert not change.folder.exists()


def test_a_part_of_ours_that_the_user_took_out_is_no_error(home: Path, pinned: Pinned) -> None:
    path = write_settings(home, "{}")
    pinned()
    path.write_text('{"mine": 1}')
    (note,) = uninstall(Pin(AGENTS["claude"], "user", home)).notes
    assert "holds nothing of ours any more" in note
    assert path.read_text() == '{"mine": 1}'


def test_an_edited_plugin_is_kept_under_a_free_name(home: Path, pinned: Pinned) -> None:
    path = settings(home, "pi")
    for name in (f"{path.name}.edited", f"{path.name}.edited.edited"):
        pinned("pi")
        path.write_text(path.read_text() + f"// {name}\n")
        (note,) = uninstall(Pin(AGENTS["pi"], "user", home)).notes
        assert note.endswith(f" {name}")
        assert not path.exists()
    kept = path.parent.iterdir()
    assert all(one.read_text().endswith(f"// {one.name}\n") for one in kept)


@pytest.mark.parametrize(
    "broken", ["{", '{"hooks": 1}', '{"a": 1, "a": 2}', "[]", b"\xff\xfe{}", "null"]
)
def test_broken_settings_are_refused_and_nothing_is_changed(
    home: Path, pinned: Pinned, broken: str | bytes
) -> None:
    path = write_settings(home, "")
    path.write_bytes(broken.encode() if isinstance(broken, str) else broken)
    was = path.read_bytes()
    with pytest.raises(PinInstallError, match="nothing was changed"):
        pinned()
    assert path.read_bytes() == was
    assert records() == []


@pytest.mark.parametrize(
    ("agent", "text", "what"),
    [
        ("claude", COMMENTED, "line 2 has a comment"),
        ("claude", '{"a": [1],\n}', "line 1 has a trailing comma"),
        ("codex", '{"a": 1 /* x */}', "line 1 has a comment"),
        ("codex", "\ufeff{}", "a byte order mark"),
        ("gemini", '{"a": [1,]}', "a trailing comma"),
        ("gemini", "\ufeff{}", "a byte order mark"),
        ("qwen", '{"a": [1,]}', "a trailing comma"),
    ],
)
def test_settings_that_the_agent_itself_does_not_read_are_refused_and_no_pin_is_in_force_in_them(
    home: Path, pinned: Pinned, agent: str, text: str, what: str
) -> None:
    path = write_settings(home, text, agent)
    with pytest.raises(PinInstallError, match=f"{what}, for which {AGENTS[agent].title}"):
        pinned(agent)
    assert path.read_text() == text
    path.unlink()
    pinned(agent)
    # The user edits them later.
    installed = path.read_text()
    path.write_text("\ufeff" + installed if "mark" in what else installed[:-2] + ",}// x\n")
    assert "reads nothing of the file" in faults(home)
    uninstall(Pin(AGENTS[agent], "user", home))
    assert "hook.py" not in path.read_text()


def test_a_plugin_of_somebody_elses_is_not_overwritten(home: Path, pinned: Pinned) -> None:
    path = write_settings(home, "export default 1\n", "opencode")
    with pytest.raises(PinInstallError, match="a file of this name already"):
        pinned("opencode")
    assert path.read_text() == "export default 1\n"


def test_a_link_stays_a_link(home: Path, pinned: Pinned, tmp_path: Path) -> None:
    real = tmp_path / "dotfiles.json"
    real.write_text(CLAUDE)
    path = settings(home)
    path.parent.mkdir()
    path.symlink_to(real)
    pinned()
    assert path.is_symlink()
    assert "hook.py" in real.read_text()
    uninstall(Pin(AGENTS["claude"], "user", home))
    assert path.is_symlink()
    assert real.read_text() == CLAUDE


def test_a_link_to_nothing_is_refused(home: Path, pinned: Pinned, tmp_path: Path) -> None:
    path = settings(home)
    path.parent.mkdir()
    path.symlink_to(tmp_path / "nowhere.json")
    with pytest.raises(PinInstallError, match="which is not there"):
        pinned()
    assert path.is_symlink()


def test_read_only_settings_are_refused(home: Path, pinned: Pinned) -> None:
    path = write_settings(home, CLAUDE)
    path.chmod(0o444)
    with pytest.raises(PinInstallError, match="read-only"):
        pinned()
    assert path.read_text() == CLAUDE
    assert records() == []


def test_settings_that_change_while_they_are_written_are_refused(
    home: Path, pinned: Pinned, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_settings(home, "{}")
    write_state = installing._write_state

    def meanwhile(*given: object) -> None:
        write_state(*given)  # type: ignore[arg-type]
        path.write_text('{"mine": 1}')

    monkeypatch.setattr(installing, "_write_state", meanwhile)
    with pytest.raises(PinInstallError, match="changed meanwhile"):
        pinned()
    assert path.read_text() == '{"mine": 1}'
    assert records() == []


def test_installations_at_once_leave_one(home: Path, rules: Path) -> None:
    path = write_settings(home, CLAUDE)
    pin = Pin(AGENTS["claude"], "user", home)
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda _: install(pin, Source("rules", rules)), range(6)))
    assert path.read_text().count("hook.py") == len(AGENTS["claude"].events)
    uninstall(pin)
    assert path.read_text() == CLAUDE


def test_the_user_and_a_project_are_pinned_apart(home: Path, rules: Path, tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    agent, source = AGENTS["claude"], Source("rules", rules)
    of_user = install(Pin(agent, "user", project), source)
    of_project = install(Pin(agent, "project", project), source)
    assert of_user.folder != of_project.folder
    assert (project / ".claude" / "settings.local.json").exists()
    assert [record.scope for record in records()] == ["project", "user"]
    uninstall(Pin(agent, "project", project))
    assert list(project.iterdir()) == []
    assert settings(home).exists()


@pytest.mark.parametrize("moved", [False, True])
@pytest.mark.parametrize("agent", ["claude", "codex", "opencode"])
def test_a_hook_without_a_record_is_replaced_and_taken_out(
    home: Path, pinned: Pinned, agent: str, moved: bool
) -> None:
    pin = Pin(AGENTS[agent], "user", home)
    folder = pinned(agent, summarizer=agent != "claude").folder
    files = [
        path for path in (pin.settings, pin.settings.with_name("config.toml")) if path.exists()
    ]
    shutil.rmtree(folder)
    if moved:
        # As in settings that are copied from another machine.
        text = pin.settings.read_text().replace(str(home), "/home/ann")
        pin.settings.write_text(text.replace(folder.name, f"{agent}-user-0123456789ab"))
    pinned(agent)
    assert "0123456789ab" not in pin.settings.read_text()
    assert pin.settings.read_bytes().count(b"hook.py") == max(1, len(AGENTS[agent].events))
    shutil.rmtree(folder)
    uninstall(pin)
    texts = [path.read_text() for path in files if path.exists()]
    assert not any("hook.py" in text or "compact_prompt" in text for text in texts)
    with pytest.raises(PinInstallError, match="no pin for"):
        uninstall(pin)


@pytest.mark.parametrize("killed", ["before", "after"])
@pytest.mark.parametrize("agent", ["claude", "opencode"])
def test_a_kill_while_the_settings_are_written_leaves_a_home_that_can_be_restored(
    home: Path, pinned: Pinned, monkeypatch: pytest.MonkeyPatch, agent: str, killed: str
) -> None:
    def kill(edits: list[Edit]) -> None:
        if killed == "after":
            apply_all(edits)
        raise KeyboardInterrupt

    if agent == "claude":
        # Our part cannot be taken out of this text to the byte.
        write_settings(home, '{"hooks": {"SessionStart":[ ]  , "Stop" :[]}}')
    was = {name: one for name, one in tree(home).items() if ".local" not in name}
    for program in (sys.executable, "/usr/bin/python3"):
        monkeypatch.setattr(installing, "apply_all", kill)
        monkeypatch.setattr(sys, "executable", program)
        with pytest.raises(KeyboardInterrupt):
            pinned(agent)
        monkeypatch.setattr(installing, "apply_all", apply_all)
        if program == sys.executable:
            assert pinned(agent)
    assert uninstall(Pin(AGENTS[agent], "user", home)).notes == []
    assert {name: one for name, one in tree(home).items() if ".local" not in name} == was


def test_a_project_s_pin_in_the_file_of_the_user_s_own_is_refused(home: Path, rules: Path) -> None:
    with pytest.raises(PinInstallError, match="pin with --user"):
        install(Pin(AGENTS["codex"], "project", home), Source("rules", rules))
    assert records() == []


def test_the_summarizer_prompt_of_codex_is_told_and_taken_back(home: Path, pinned: Pinned) -> None:
    config = home / ".codex" / "config.toml"
    config.parent.mkdir()
    config.write_text(TOML)
    pinned("codex", summarizer=True)
    assert RULE in config.read_text()
    assert config.read_text().endswith(TOML)
    pinned("codex")
    assert config.read_text() == TOML
    pinned("codex", summarizer=True)
    # Codex writes a new key of the user's before the comment that ends our part.
    later = config.read_text().replace(
        "# constraintrot pin: end", "a = 1\n# constraintrot pin: end"
    )
    config.write_text(later.replace("\n", "\r\n"), newline="")
    uninstall(Pin(AGENTS["codex"], "user", home))
    assert config.read_bytes().decode() == f"a = 1\n{TOML}".replace("\n", "\r\n")


@pytest.mark.parametrize("error", [PinInstallError("full"), PermissionError("full")])
def test_a_second_file_that_cannot_be_written_leaves_the_first_as_it_was(
    home: Path, pinned: Pinned, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    config = home / ".codex" / "config.toml"
    config.parent.mkdir()
    config.write_text(TOML)
    write_file = file_edit.write_file

    def full(state: FileState, data: bytes) -> None:
        if state.path == config:
            raise error
        write_file(state, data)

    monkeypatch.setattr(edits, "write_file", full)
    with pytest.raises(type(error), match="full"):
        pinned("codex", summarizer=True)
    assert list(config.parent.iterdir()) == [config]
    assert records() == []


@pytest.mark.parametrize(
    ("text", "why"), [('compact_prompt = "x"\n', "of yours"), ("a = = 1", "it is not TOML")]
)
def test_a_prompt_of_the_users_is_left_alone(
    home: Path, pinned: Pinned, text: str, why: str
) -> None:
    config = home / ".codex" / "config.toml"
    config.parent.mkdir()
    config.write_text(text)
    with pytest.raises(PinInstallError, match=why):
        pinned("codex", summarizer=True)
    assert config.read_text() == text
    assert not settings(home, "codex").exists()


def test_only_two_agents_have_a_way_to_tell_the_summarizer(home: Path, pinned: Pinned) -> None:
    assert pinned("opencode", summarizer=True)
    assert "experimental.session.compacting" in settings(home, "opencode").read_text()
    with pytest.raises(PinInstallError, match="--summarizer-prompt"):
        pinned("claude", summarizer=True)


@pytest.mark.parametrize(
    ("contents", "why"),
    [
        (b"", "empty"),
        (b"a\x1b[31mred", "control character"),
        (b"a\x00b", "control character"),
        (b"\xff", "not UTF-8"),
        (b"x" * 20_000, "hands no more than"),
        (None, "not there"),
    ],
)
def test_rules_that_no_pin_can_be_are_refused(
    home: Path, rules: Path, pinned: Pinned, contents: bytes | None, why: str
) -> None:
    rules.unlink() if contents is None else rules.write_bytes(contents)
    with pytest.raises(Exception, match=why):
        pinned()
    assert not settings(home).exists()
    assert records() == []


def test_a_damaged_record_names_where_the_settings_are(home: Path, pinned: Pinned) -> None:
    folder = pinned().folder
    (folder / "install.json").write_text("{")
    with pytest.raises(PinInstallError, match="what the settings were before is in"):
        read_record(folder)


def test_what_is_switched_off_or_taken_out_is_a_fault(home: Path, pinned: Pinned) -> None:
    path = write_settings(home, '{"disableAllHooks": true}')
    pinned()
    assert "switched off" in faults(home)
    path.write_text("{}")
    assert "install again" in faults(home)


def test_a_project_s_settings_come_over_the_user_s_switch(
    home: Path, rules: Path, tmp_path: Path
) -> None:
    write_settings(home, '{"disableAllHooks": true}')
    install(Pin(AGENTS["claude"], "project", tmp_path), Source("rules", rules))
    assert "switched off" in faults(tmp_path)
    path = records()[0].pin.settings
    path.write_text(path.read_text().replace("{", '{"disableAllHooks": false, ', 1))
    assert "switched off" not in faults(tmp_path)


def test_a_pin_in_settings_that_were_moved_is_no_fault_and_not_in_force(
    home: Path, pinned: Pinned, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "moved"))
    folder = pinned("codex").folder
    monkeypatch.delenv("CODEX_HOME")
    (record,) = records()
    state = health(record, home)
    assert (state.applies, state.faults) == (False, [])
    assert state.says == ["in force where CODEX_HOME is as it was when this was installed"]
    assert pinned("codex").folder != folder
    known = records()
    (here,) = (one for one in known if one.applies(home))
    assert len(known) == 2
    assert together(here, known, home) == [here]


@pytest.mark.parametrize(
    ("trusted", "said"),
    [
        ({}, True),
        ({"project": "TRUST_FOLDER"}, False),
        (None, False),
        ({"project/below": "TRUST_PARENT"}, False),
        ({"project": "DO_NOT_TRUST"}, True),
        ({"other": "TRUST_FOLDER"}, True),
    ],
)
def test_a_project_that_gemini_does_not_trust_is_not_in_force(
    home: Path, rules: Path, tmp_path: Path, trusted: dict[str, str] | None, said: bool
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    install(Pin(AGENTS["gemini"], "project", project), Source("rules", rules))
    asks = '{"security": {"folderTrust": {"enabled": false}}} // mine' if trusted is None else "{}"
    write_settings(home, asks, "gemini")
    folders = {str(tmp_path / name): rule for name, rule in (trusted or {}).items()}
    settings(home, "gemini").with_name("trustedFolders.json").write_text(json.dumps(folders))
    assert ("does not trust" in faults(project)) == said
    assert faults(project) == "" or said


@pytest.mark.parametrize(("trusted", "said"), [([], True), (["."], False), (["project"], False)])
def test_a_project_that_copilot_does_not_trust_is_not_in_force(
    home: Path, rules: Path, tmp_path: Path, trusted: list[str], said: bool
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    install(Pin(AGENTS["copilot"], "project", project), Source("rules", rules))
    folder = AGENTS["copilot"].folder()
    folder.mkdir()
    folders = [str(tmp_path / name) for name in trusted]
    (folder / "config.json").write_text("// mine\n" + json.dumps({"trustedFolders": folders}))
    assert ("start copilot there, and trust the folder" in faults(project)) == said
    (folder / "settings.json").write_text('{"disableAllHooks": true}')
    assert "switched off" in faults(project)


@pytest.mark.parametrize("asks", [False, True])
def test_qwen_trusts_every_project_unless_the_user_wants_to_be_asked(
    home: Path, rules: Path, tmp_path: Path, asks: bool
) -> None:
    install(Pin(AGENTS["qwen"], "project", tmp_path), Source("rules", rules))
    own = {"security": {"folderTrust": {"enabled": True}}} if asks else {}
    write_settings(home, json.dumps(own), "qwen")
    assert ("start qwen there, and trust the folder" in faults(tmp_path)) == asks


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (
            '{"stop": []}',
            'OpenHands CLI reads nothing beside "hooks" once that is there; put "stop"',
        ),
        ('{"hooks": {"user_prompt_submit": []}}', 'takes no "user_prompt_submit" beside ours'),
    ],
)
def test_hooks_in_the_other_form_of_openhands_are_not_made_void_by_ours(
    home: Path, pinned: Pinned, text: str, why: str
) -> None:
    path = write_settings(home, text, "openhands")
    with pytest.raises(PinInstallError, match=why):
        pinned("openhands")
    assert path.read_text() == text
    path.unlink()
    pinned("openhands")
    # The user adds them later.
    path.write_text(json.dumps({**json.loads(path.read_text()), "stop": []}))
    assert 'put "stop" below it' in faults(home)


def test_openhands_reads_the_hooks_of_one_folder_alone(
    home: Path, rules: Path, tmp_path: Path
) -> None:
    project, below = tmp_path / "project", tmp_path / "project/below"
    below.mkdir(parents=True)
    pins = [Pin(AGENTS["openhands"], scope, project) for scope in ("user", "project")]
    install(pins[0], Source("rules", rules))
    (user,) = records()
    assert health(user, project).faults == []
    mine = project / ".openhands/hooks.json"
    mine.parent.mkdir()
    mine.write_text("{}")
    (fault,) = health(user, project).faults
    assert fault.startswith(
        f"OpenHands CLI reads {mine} in this folder and not {user.pin.settings}"
    )
    install(pins[1], Source("rules", rules))
    assert health(user, project).faults == []
    of_project = next(one for one in records() if one.scope == "project")
    assert [of_project.applies(one) for one in (project, below)] == [True, False]
    # The project's hook says the user's list, too.
    event = {"event_type": "UserPromptSubmit", "session_id": "s", "working_dir": str(project)}
    text = fire(pins[1].folder, event, "openhands")["additionalContext"]
    assert [f'the list "{scope}", revision 1' in text for scope in ("user", "project")] == [
        True
    ] * 2


@pytest.mark.parametrize(
    ("agent", "read"),
    [
        ("claude", "in root"),
        ("codex", "in root mid"),
        ("opencode", "in root mid"),
        ("gemini", "in"),
    ],
)
def test_a_pin_of_a_project_is_in_force_where_the_agent_reads_its_settings(
    home: Path, tmp_path: Path, agent: str, read: str
) -> None:
    root = tmp_path / "repository"
    here = root / "mid" / "here"
    for folder in (root / ".git", here / "inner" / ".git"):
        folder.mkdir(parents=True)
    places = {"in": here, "mid": here.parent, "root": root, "outside": tmp_path}
    pins = {name: Record(agent, "project", str(place)) for name, place in places.items()}
    assert {name for name, pin in pins.items() if pin.applies(here)} == set(read.split())
    assert not Record(agent, "project", str(here)).applies(here / "inner")
    assert pins["outside"].applies(tmp_path / "below") == (agent == "opencode")


def test_a_path_that_agents_would_change_is_refused(
    rules: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "a$HOME"))
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    (tmp_path / "a$HOME").mkdir()
    with pytest.raises(PinInstallError, match="agents replace"):
        install(Pin(AGENTS["claude"], "user", tmp_path), Source("rules", rules))


def tree(folder: Path) -> dict[str, tuple[int, bytes | str]]:
    """Each file of a folder but those that say when a hook ran: its mode and bytes."""
    return {
        str(path.relative_to(folder)): (
            path.lstat().st_mode,
            os.readlink(path)
            if path.is_symlink()
            else path.read_bytes()
            if path.is_file()
            else b"",
        )
        for path in sorted(folder.rglob("*"))
        if not {"receipts.jsonl", "sessions", "lock", "compile.lock"} & set(path.parts)
    }


def remove_empty(home: Path, folder: Path) -> None:
    for path in sorted(folder.rglob("*"), reverse=True):
        path.rmdir()
    folder.rmdir()
    assert home.exists()
