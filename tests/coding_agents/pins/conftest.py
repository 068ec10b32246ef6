"""A user's home with a blank in its name, and the settings that somebody has in it."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from constraintrot.coding_agents.pins.agents import AGENTS
from constraintrot.coding_agents.pins.compiled import Source
from constraintrot.coding_agents.pins.installing import Change, install
from constraintrot.coding_agents.pins.record import Pin

Answer = dict[str, Any]
VARIABLES = (
    "CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "GEMINI_CLI_HOME",
    "PI_CODING_AGENT_DIR", "QWEN_HOME", "COPILOT_HOME",
)  # fmt: skip
RULE = "Send email only to addresses at example.org."

CLAUDE = """\
{
  // how I like it
  "model": "opus", "permissions": {"allow": ["Read"], "deny": []},
  "hooks": {
    "SessionStart": [
      // greets me
      {"matcher": "startup", "hooks": [{"type": "command", "command": "echo hello"}]} /* mine */
    ],
    "PreToolUse": []
  },
  "statusLine": {"type": "command", "command": "date"}, // last, with a comma
}
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    made = tmp_path / "a home"
    made.mkdir()
    monkeypatch.setenv("HOME", str(made))
    return made


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    path = tmp_path / "rules.txt"
    path.write_text(f"{RULE}\n", encoding="utf-8")
    return path


@pytest.fixture
def pinned(home: Path, rules: Path) -> Callable[..., Change]:
    def made(agent: str = "claude", **options: Any) -> Change:
        return install(Pin(AGENTS[agent], "user", home), Source("rules", rules), **options)

    return made


def settings(home: Path, agent: str = "claude") -> Path:
    return Pin(AGENTS[agent], "user", home).settings


def write_settings(home: Path, text: str, agent: str = "claude") -> Path:
    path = settings(home, agent)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    return path


def fire(folder: Path, event: object, agent: str = "claude") -> Answer:
    """Start the hook as an agent does, and read its answer."""
    given = event if isinstance(event, bytes) else json.dumps(event).encode()
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(folder / "hook.py"), agent],
        input=given,
        capture_output=True,
        check=True,
        timeout=60,
    )
    assert not done.stderr
    answer: Answer = json.loads(done.stdout) if done.stdout else {}
    return answer


def said(answer: Answer) -> str:
    text: str = answer["hookSpecificOutput"]["additionalContext"]
    return text
