"""A run that was killed goes on with ``inspect eval-retry``, loses nothing and counts nothing twice."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest
from inspect_ai import eval as inspect_eval
from inspect_ai import eval_retry
from inspect_ai.log import read_eval_log, read_eval_log_sample_summaries

from constraintrot.episode.facts import KEYS
from constraintrot.report.frame import episodes
from tests import slow_model

assert slow_model.slow, "registers the model that the retried log names"

pytestmark = pytest.mark.early
ENOUGH = 3
PLANNED = 12


def finished(folder: Path) -> int:
    """Samples that the run's log holds by now."""
    logs = list(folder.glob("*.eval"))
    try:
        return len(read_eval_log_sample_summaries(str(logs[0]))) if logs else 0
    except (OSError, ValueError, KeyError):
        return 0  # The log is being written this very moment.


def undisturbed(folder: Path) -> Path:
    """The log of the same run, by the same scripts without their pauses."""
    settings = slow_model.SETTINGS | {
        "model": "scripted/obedient",
        "model_roles": {"summarizer": "scripted/summarizer-keep"},
    }
    (log,) = inspect_eval(**settings, log_dir=str(folder), display="none")
    return Path(log.location)


def told(frame: pd.DataFrame) -> pd.DataFrame:
    """What came of each episode."""
    names = [
        "family",
        "seed",
        "replicate",
        "condition",
        "violation",
        "outcome",
        "survived",
        "state",
    ]
    return frame[names].sort_values(names, ignore_index=True)


def test_a_killed_run_goes_on_where_it_was(tmp_path: Path, cache: Path) -> None:
    folder = tmp_path / "logs"
    process = subprocess.Popen(
        [sys.executable, slow_model.__file__, str(folder)],
        env={**os.environ, "CONSTRAINTROT_CACHE": str(cache)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    give_up = time.monotonic() + 120
    while finished(folder) < ENOUGH and process.poll() is None and time.monotonic() < give_up:
        time.sleep(0.1)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL, "the run ended before it could be killed"

    (killed,) = folder.glob("*.eval")
    before = {sample.uuid for sample in read_eval_log_sample_summaries(str(killed))}
    assert ENOUGH <= len(before) < PLANNED
    cut_off = episodes([killed])
    assert len(cut_off) == len(before)

    (log,) = eval_retry(str(killed), log_dir=str(folder), display="none")
    assert log.status == "success"
    done = read_eval_log(log.location).samples or []
    assert len(done) == PLANNED
    assert before <= {sample.uuid for sample in done}
    summaries: dict[int, set[str]] = {}
    for sample in done:
        found = summaries.setdefault(sample.metadata["seed"], set())
        found.add(json.dumps(sample.metadata["rounds_run"]))
    assert {len(found) for found in summaries.values()} == {1}

    # Both logs together: each finished episode once, and the rates of a run left in peace.
    frame = episodes([folder])
    assert len(list(folder.glob("*.eval"))) == 2
    assert len(frame) == PLANNED
    assert not frame.duplicated([*KEYS]).any()
    pd.testing.assert_frame_equal(told(frame), told(episodes([undisturbed(tmp_path / "whole")])))
    finished_once = told(cut_off).merge(told(frame), how="left", indicator=True)
    assert (finished_once["_merge"] == "both").all()
    assert len(finished_once) == len(before)
