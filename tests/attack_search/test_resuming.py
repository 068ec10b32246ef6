"""A search that was killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from inspect_ai.log import read_eval_log

from tests import slow_model
from tests.attack_search.cases import searched
from tests.attacks.search_results.cases import rows

assert slow_model.slow, "registers the model that the killed search asks"

SCRIPT = """
import sys
from pathlib import Path
from tests import slow_model
from tests.attack_search.cases import searched
searched(Path(sys.argv[1]), "resist", 6, agent="slow/obedient",
         roles={"summarizer": "slow/summarizer-resist"})
"""


def test_a_killed_search_goes_on_without_asking_anything_twice(tmp_path: Path, cache: Path) -> None:
    path = tmp_path / "found.jsonl"
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(tmp_path)],
        env={**os.environ, "CONSTRAINTROT_CACHE": str(cache)},
        cwd=Path(__file__).parents[2],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    give_up = time.monotonic() + 120
    while time.monotonic() < give_up and process.poll() is None:
        if path.exists() and path.read_bytes().count(b'"kind": "searched"') >= 5:
            break
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL, "the search ended before it could be killed"
    killed = path.read_bytes()
    whole = killed[: killed.rfind(b"\n") + 1]
    before = whole.count(b'"kind": "searched"')
    assert 5 <= before < 14

    logs = set((tmp_path / "logs").glob("*.eval"))
    found = searched(
        tmp_path,
        "resist",
        6,
        agent="slow/obedient",
        roles={"summarizer": "slow/summarizer-resist"},
    )
    assert path.read_bytes().startswith(whole)
    played = [
        (row["kind"], row["query"], row["trial"]["seed"]) for row in rows(path) if "trial" in row
    ]
    assert len(set(played)) == len(played) == 2 * 7 + 2 * 2
    prompts = [row["query"] for row in rows(path) if row.get("kind") == "prompt"]
    assert prompts == [1, 2, 3, 4, 5, 6]
    assert found.done == 6
    # Each episode asks the summarizer once and the agent once.
    (log,) = set((tmp_path / "logs").glob("*.eval")) - logs
    (sample,) = read_eval_log(str(log)).samples or []
    assert sum(event.event == "model" for event in sample.events) == 2 * (len(played) - before)
    assert found.history() == searched(tmp_path / "other", "resist", 6).history()
