"""A worker that is killed at whatever byte, again and again: nothing lost, nothing counted twice."""

import csv
import json
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest
from inspect_ai.log import EvalSample, read_eval_log

from constraintrot.extras import installed
from constraintrot.report.frame import planned_episodes
from constraintrot.runs.sweep.cell import Cell
from constraintrot.runs.sweep.folder import SweepFolder
from constraintrot.runs.sweep.play import furthest, play
from tests.runs.sweep.drill import differing, main

pytestmark = pytest.mark.soak

ARGS = {"variants": 30, "context_tokens": 300, "compactor": "truncate"}
CELL = Cell({"name": "constraintrot/soft_email", "args": ARGS, "model": "scripted/obedient"})
OPTIONS = {"score_display": False, "log_buffer": 1, "max_samples": 2}
KILLS = 3
WORKER = """
import json, sys
from constraintrot.runs.sweep.cell import Cell
from constraintrot.runs.sweep.folder import SweepFolder
from constraintrot.runs.sweep.play import play
task, folder, options = map(json.loads, sys.argv[1:])
play(Cell(task), SweepFolder(folder), options)
"""


def started(folder: str) -> subprocess.Popen[bytes]:
    given = [json.dumps(one) for one in (CELL.task, folder, OPTIONS)]
    return subprocess.Popen([sys.executable, "-c", WORKER, *given])


def test_a_killed_worker_loses_nothing_that_was_finished(tmp_path: Path) -> None:
    folder = SweepFolder(str(tmp_path / "killed"))
    draw, reached = random.Random(0), [0]
    for _ in range(KILLS):
        worker = started(folder.url)
        give_up = time.monotonic() + 300
        while furthest(folder, CELL.id) <= reached[-1] and time.monotonic() < give_up:
            assert worker.poll() is None, "it ended before it could be killed"
            time.sleep(0.05)
        time.sleep(draw.random() / 2)
        worker.kill()
        worker.wait()
        reached.append(furthest(folder, CELL.id))
    assert sorted(set(reached)) == reached, "each try took up what the one before had finished"
    assert folder.finished() == set()

    kept = {one.uuid for path in folder.tries(CELL.id) for one in _samples(Path(path), reached[-1])}
    worker = started(folder.url)
    assert worker.wait() == 0
    calm = SweepFolder(str(tmp_path / "calm"))
    play(CELL, calm, OPTIONS)
    samples = read_eval_log(folder.log(CELL.id)).samples or []
    assert kept <= {one.uuid for one in samples}
    assert len({(one.id, one.epoch) for one in samples}) == len(samples) == 90
    frames = [
        planned_episodes([one.log(CELL.id)])[
            ["family", "seed", "condition", "violation", "outcome"]
        ]
        for one in (folder, calm)
    ]
    assert differing(*frames) == 0


@pytest.mark.skipif(
    not installed("ray"), reason="a Ray cluster: pip install 'constraintrot[scale]'"
)
def test_a_sweep_on_ray_with_kills_has_the_frames_of_a_calm_one(tmp_path: Path) -> None:
    table = tmp_path / "drill.csv"
    assert main(["--csv", str(table), "--kills", "12", "--workers", "2"]) == 0
    calm, killed = csv.DictReader(table.read_text().splitlines())
    assert calm["episodes"] == killed["episodes"] == "162"
    assert [name for name in ("twice", "different") if killed[name] != "0"] == []
    assert "0" not in [killed[f"killed_{what}"] for what in ("workers", "servers", "drivers")]


def _samples(path: Path, number: int) -> list[EvalSample]:
    """The finished samples of the log that got so far; none of the others."""
    try:
        found = [one for one in read_eval_log(str(path)).samples or [] if one.error is None]
    except Exception:
        return []
    return found if len(found) == number else []
