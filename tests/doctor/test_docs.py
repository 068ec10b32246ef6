"""The commands of docs/doctor.md, run on sessions of the names that they give."""

import re
import shlex
from pathlib import Path

import pytest

from constraintrot.extras import installed
from tests.doctor import sessions as made
from tests.invoked import invoked

PAGE = Path(__file__).parents[2] / "docs" / "doctor.md"
COMMANDS = re.findall(
    r"^\$ constraintrot (doctor .*)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE
)
RULES, TRIED = re.findall(
    r"^```yaml\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
)


def test_the_page_shows_commands_and_rules() -> None:
    assert len(COMMANDS) >= 6
    assert "trigger:" in TRIED


@pytest.mark.parametrize("command", COMMANDS)
def test_command_runs_as_it_is_written(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if (" -o " in command or "--pin" in command) and not installed("detect_secrets"):
        pytest.skip("constraintrot[doctor] is not installed")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("constraintrot.doctor.confirming.terminal", lambda what: None)
    # A real model is not here; the scripted one says what the page's would.
    command = command.replace("openai/gpt-5-mini", "mockllm/model").replace("~", str(tmp_path))
    (tmp_path / "rules.yaml").write_text(RULES, encoding="utf-8")
    (tmp_path / "tried.yaml").write_text(TRIED, encoding="utf-8")
    (tmp_path / "AGENTS.md").write_text(f"- {made.FORCE_PUSH}\n", encoding="utf-8")
    for name in ("session.jsonl", "sessions/s.jsonl", ".claude/projects/-srv-shop/session.jsonl"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        made.lost_session(tmp_path / name)
    # Without rules, those that were found are shown first, and none is struck out.
    answers = "y\n" if "--rules" in command else "\ny\n"
    result = invoked(*shlex.split(command), input=answers)
    wanted = 1 if "--fail-on" in command else 0
    assert result.exit_code == wanted, result.output
    assert "did not survive the compaction of 14:05" in result.output
