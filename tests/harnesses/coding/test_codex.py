"""The real Codex, where ``make agents`` has installed it."""

import os
from pathlib import Path
from typing import Any

import platformdirs
import pytest

from constraintrot.coding_agents import install
from constraintrot.coding_agents.catalogue import package
from constraintrot.coding_agents.pins.agents import agent_named
from constraintrot.coding_agents.sandbox import without_network
from constraintrot.harnesses.coding import files, play
from tests.conftest import Run
from tests.harnesses.episodes import compacted, violated

CODEX = package("codex")
# Where the user's are, before the tests' own cache is set.
AGENTS = Path(platformdirs.user_cache_dir("constraintrot")) / "agents"
PROGRAM = AGENTS / "codex" / CODEX.version / "node_modules/.bin/codex"


@pytest.fixture(autouse=True)
def _codex(monkeypatch: pytest.MonkeyPatch, _fake_agents: None) -> None:
    if not os.access(PROGRAM, os.X_OK):
        pytest.skip(f"Codex CLI {CODEX.version} is not installed: make agents")
    if without_network(processes=False) is None:
        pytest.skip("this system has no network namespaces for us")
    monkeypatch.setattr(install, "folder", lambda: AGENTS)
    monkeypatch.setattr(play, "needed", install.needed)
    monkeypatch.setattr(files, "agent_named", agent_named)


GIVEN: dict[str, Any] = {"harness": "coding/codex", "context_tokens": 300}


def test_codex_loses_what_a_tool_returned(run: Run) -> None:
    lost = compacted(run, channel="tool", **GIVEN)
    assert violated(lost)
    assert lost.metadata["framework"] == f"Codex CLI {CODEX.version}"
    assert lost.metadata["rounds_run"][0]["shown_verbatim"]


@pytest.mark.soak
def test_codex_keeps_what_the_user_said_and_what_our_hook_pins(run: Run) -> None:
    assert not violated(compacted(run, **GIVEN))
    pinned = compacted(run, channel="tool", defense="pin", **GIVEN)
    assert not violated(pinned)
    assert pinned.metadata["agent_requests"][-1]["pin_in"] == ["system"]
