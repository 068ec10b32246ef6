"""A search that was killed."""

from __future__ import annotations

import signal
import time
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.log import read_eval_log

from tests import slow_model
from tests.attacks.search_results.cases import rows
from tests.runs.attack_search.cases import searched

pytestmark = pytest.mark.early

assert slow_model.slow, "registers the model that the killed search asks"

SLOW: dict[str, Any] = {
    "agent": "slow/obedient",
    "roles": {"summarizer": "slow/summarizer-resist"},
}


# From Python 3.12 on, a fork with threads about warns.
@pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning")
def test_a_killed_search_goes_on_without_asking_anything_twice(tmp_path: Path) -> None:
    path = tmp_path / "found.jsonl"
    unstopped = searched(tmp_path / "other", "resist", 3).history()
    # A fork, for a new interpreter takes longer to import Inspect than the search takes.
    process = get_context("fork").Process(
        target=searched, args=(tmp_path, "resist", 3), kwargs=SLOW
    )
    process.start()
    give_up = time.monotonic() + 300
    while time.monotonic() < give_up and process.is_alive():
        if path.exists() and path.read_bytes().count(b'"kind": "searched"') >= 4:
            break
        time.sleep(0.05)
    process.kill()
    process.join()
    assert process.exitcode == -signal.SIGKILL, "the search ended before it could be killed"
    killed = path.read_bytes()
    whole = killed[: killed.rfind(b"\n") + 1]
    before = whole.count(b'"kind": "searched"')
    assert 4 <= before < 8

    logs = set((tmp_path / "logs").glob("*.eval"))
    found = searched(tmp_path, "resist", 3, **SLOW)
    assert path.read_bytes().startswith(whole)
    played = [
        (row["kind"], row["query"], row["trial"]["seed"]) for row in rows(path) if "trial" in row
    ]
    assert len(set(played)) == len(played) == 2 * 4 + 2 * 2
    prompts = [row["query"] for row in rows(path) if row.get("kind") == "prompt"]
    assert prompts == [1, 2, 3]
    assert found.done == 3
    # Each episode asks the summarizer once and the agent once.
    (log,) = set((tmp_path / "logs").glob("*.eval")) - logs
    (sample,) = read_eval_log(str(log)).samples or []
    assert sum(event.event == "model" for event in sample.events) == 2 * (len(played) - before)
    assert found.history() == unstopped
