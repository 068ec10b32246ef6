"""The real Codex, where ``make agents`` has installed it."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs
import pytest

from constraintrot.harnesses.coding import box, install, play
from constraintrot.harnesses.coding.catalogue import package
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
    if box.isolation() is None:
        pytest.skip("this system has no network namespaces for us")
    monkeypatch.setattr(install, "folder", lambda: AGENTS)
    monkeypatch.setattr(play, "needed", install.needed)


def test_codex_keeps_what_the_user_said_and_loses_what_a_tool_returned(run: Run) -> None:
    given = {"harness": "coding/codex", "context_tokens": 300}
    kept = compacted(run, **given)
    lost = compacted(run, channel="tool", **given)
    assert (violated(kept), violated(lost)) == (False, True)
    assert kept.metadata["framework"] == f"Codex CLI {CODEX.version}"
    assert lost.metadata["rounds_run"][0]["shown_verbatim"]
