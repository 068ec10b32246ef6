"""An evaluation in coding agents that is killed leaves nothing behind, and can be gone on with."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from inspect_ai import eval_retry
from inspect_ai.log import read_eval_log, read_eval_log_sample_summaries

from constraintrot.coding_agents.box import PREFIX
from tests.harnesses.coding.fakes import NETWORK, commands

REPOSITORY = Path(__file__).parents[3]
PLANNED = 9
# Plays the fake agent's episodes, two at once.
RUNS = f"""
import sys
from inspect_ai import eval
from constraintrot.harnesses.coding import play
from tests.harnesses.coding import fakes
play.needed = lambda package: fakes.INSTALLED
fakes.register()
given = dict(harness="fake_daemon", network={NETWORK!r}, context_tokens=300, variants=3)
eval("constraintrot/soft_email", model="scripted/obedient", task_args=given,
     log_dir=sys.argv[1], log_buffer=1, max_samples=2, display="none")
"""


def finished(logs: Path) -> int:
    try:
        return sum(len(read_eval_log_sample_summaries(str(log))) for log in logs.glob("*.eval"))
    except (OSError, ValueError, KeyError):
        return 0  # It is being written this very moment.


def alive(folder: Path) -> list[str]:
    """The commands of the processes of agents whose boxes are in a folder."""
    return commands(folder / PREFIX)


# When a run is killed, by what there is then.
MOMENTS: dict[str, Callable[[Path, Path], bool]] = {
    "a folder": lambda logs, folders: any(folders.glob(f"{PREFIX}*")),
    "an agent": lambda logs, folders: any("fake_agent" in one for one in alive(folders)),
    # Between two episodes there is no folder, and reading the log takes as long as an episode.
    "a sample": lambda logs, folders: finished(logs) >= 1 and any(folders.glob(f"{PREFIX}*")),
}


def _killed(logs: Path, folders: Path, cache: Path, moment: str) -> None:
    """Begin a run, and kill it at a moment; nothing of it is left after that."""
    given = {
        "TMPDIR": str(folders),
        "CONSTRAINTROT_CACHE": str(cache),
        "PYTHONPATH": str(REPOSITORY),
    }
    process = subprocess.Popen(
        [sys.executable, "-c", RUNS, str(logs)],
        env={**os.environ, **given},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    until = time.monotonic() + 180
    due = MOMENTS[moment]
    while not due(logs, folders) and process.poll() is None and time.monotonic() < until:
        time.sleep(0.02)
    assert any(folders.glob(f"{PREFIX}*"))
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL, "the run ended before it could be killed"
    until = time.monotonic() + 30
    while (alive(folders) or any(folders.glob(f"{PREFIX}*"))) and time.monotonic() < until:
        time.sleep(0.1)
    assert alive(folders) == []
    assert not any(folders.glob(f"{PREFIX}*"))


@pytest.mark.soak  # Its small siblings are in ``test_box``.
@pytest.mark.parametrize("moment", MOMENTS)
def test_a_killed_evaluation_leaves_no_agent_and_goes_on(
    moment: str, tmp_path: Path, cache: Path
) -> None:
    logs = tmp_path / "logs"
    # Short enough for the socket in it.
    with tempfile.TemporaryDirectory(prefix="kill-") as name:
        _killed(logs, Path(name), cache, moment)
    (killed,) = logs.glob("*.eval")
    summaries = read_eval_log_sample_summaries(str(killed))
    assert [sample.error for sample in summaries if sample.error] == []
    before = {sample.uuid for sample in summaries}
    assert (1 if moment == "a sample" else 0) <= len(before) < PLANNED
    (log,) = eval_retry(str(killed), log_dir=str(logs), display="none")
    assert log.status == "success"
    done = read_eval_log(log.location).samples or []
    assert len(done) == PLANNED
    assert before <= {sample.uuid for sample in done}
