"""``constraintrot pin``: from a shell, on settings as somebody has them."""

import json
from functools import partial
from pathlib import Path

import pytest

from constraintrot.coding_agents.pins import checking
from constraintrot.coding_agents.pins.agents import AGENTS
from tests.invoked import invoked

MINE = '{\n  "model": "opus"\n}\n'


@pytest.fixture
def rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A rule, in a throw-away home with Claude Code's settings and no agent installed."""
    for name in (*(agent.user_folder[0] for agent in AGENTS.values()), "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(checking, "program_of", lambda agent: None)
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude" / "settings.json").write_text(MINE)
    path = tmp_path / "rules.txt"
    path.write_text("Mail nobody.\n")
    return path


call = partial(invoked, "pin")


def test_install_status_uninstall(rules: Path) -> None:
    settings = rules.parent / ".claude" / "settings.json"
    shown = call("install", "claude", "--rules", "rules.txt", "--dry-run")
    assert (shown.exit_code, settings.read_text()) == (0, MINE)
    assert '+  "hooks": {' in shown.output
    assert "not done" in shown.output

    assert call("install", "claude", "--rules", "rules.txt").exit_code == 0
    again = call("install", "claude")
    assert "nothing to change" in again.output

    status = call("status", "claude", exits=0)
    assert "the hook answers in" in status.output
    assert (
        "Claude Code itself was not played, because its program is not on this PATH"
        in status.output
    )
    (facts,) = json.loads(call("status", "--no-play", "--json").stdout)["pins"]
    assert facts["in_force"]
    assert facts["hook_answers"]
    assert facts["faults"] == []

    rules.unlink()
    broken = call("status", "--no-play", exits=1)
    assert "! constraintrot: the files of the policies cannot be read" in broken.output

    assert call("uninstall", "claude").exit_code == 0
    assert settings.read_text() == MINE
    assert call("uninstall", "claude").exit_code == 2
    nothing = call("status")
    assert (nothing.exit_code, nothing.output) == (1, "no pin is installed\n")
    assert json.loads(call("status", "--json").stdout)["pins"] == []


def test_a_list_that_replaces_another_says_what_is_no_longer_pinned(rules: Path) -> None:
    call("install", "claude", "--rules", "rules.txt", exits=0)
    other = rules.with_name("other.txt")
    other.write_text("Delete nothing.\n")
    for dry in (["--dry-run"], []):
        done = call("install", "claude", "--rules", "other.txt", *dry, exits=0).output
        assert "pinned other: Delete nothing." in done
        assert "! no longer pinned rules: Mail nobody." in done
    # The same rule from another place is still pinned.
    rules.write_text("Delete nothing.\n")
    assert "no longer" not in call("install", "claude", "--rules", "rules.txt", exits=0).output


def test_a_project_is_pinned_by_itself(rules: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = rules.parent / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    done = call("install", "codex", "--rules", str(rules), "--project")
    assert "do not commit it" in done.output
    assert "type /hooks, trust it" in done.output
    assert "hook.py" in (project / ".codex" / "hooks.json").read_text()
    assert call("uninstall", "codex", "--project").exit_code == 0
    assert not (project / ".codex").exists()


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["continue", "--rules", "rules.txt"], "was not tried; put the pins into its requests"),
        (
            ["zed", "--rules", "rules.txt"],
            "known: claude, codex, copilot, gemini, opencode, openhands, pi, qwen",
        ),
        (
            ["codex", "--rules", "rules.txt", "--project"],
            "is of your own settings: pin with --user",
        ),
        (["claude"], "--rules FILE or --seeds DIR"),
        (["claude", "--rules", "rules.txt", "--seeds", "."], "not both"),
        (["claude", "--rules", "rules.txt", "--user", "--project"], "not both"),
        (["claude", "--rules", "."], "name it with --seeds"),
        (["claude", "--seeds", "nowhere"], "is not there"),
        (["claude", "--seeds", "rules.txt"], "name a file with --rules"),
        (["pi", "--rules", "rules.txt", "--summarizer-prompt"], "leave --summarizer-prompt out"),
    ],
)
def test_what_cannot_be_pinned_is_said_without_a_traceback(
    rules: Path, arguments: list[str], why: str
) -> None:
    done = call("install", *arguments, exits=2)
    assert why in done.output
    assert (rules.parent / ".claude" / "settings.json").read_text() == MINE
