"""Inspect's own frame of samples gives the same episodes as the logs."""

from __future__ import annotations

import shutil
from pathlib import Path

import pandas as pd
import pytest
from inspect_ai import Task
from inspect_ai import eval as inspect_eval
from inspect_ai.analysis import samples_df
from inspect_ai.dataset import Sample
from inspect_ai.scorer import includes

from constraintrot.errors import ConstraintRotError
from constraintrot.report.episode_counts import counts
from constraintrot.report.frame import episodes
from constraintrot.report.samples import from_samples_df, samples_columns
from tests.conftest import Run
from tests.helpers import answering

# Inspect's own, of a newer pandas.
pytestmark = pytest.mark.filterwarnings("ignore:The inplace keyword in DataFrame")
ORDER = ["log", "family", "seed", "replicate", "condition", "defense"]


def in_order(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.sort_values(ORDER, ignore_index=True)


@pytest.fixture
def logs(shared_run: Run, tmp_path: Path) -> Path:
    """Conditions with and without compaction, rounds, replicates, recall, allowed requests."""
    (tmp_path / "logs").mkdir()
    played = [
        shared_run("soft_email", variants=2, epochs=2, rounds=2, conditions="control,compaction"),
        shared_run("soft_spend", variants=1, scaffold="deliberate", conditions="floor,compaction"),
        shared_run("utility", model="scripted/refuser", variants=1, defense="pin", conditions="compaction"),
    ]  # fmt: skip
    for log in played:
        shutil.copy(log.location, tmp_path / "logs")
    return tmp_path / "logs"


def test_the_full_frame_gives_the_same_episodes(logs: Path) -> None:
    theirs = samples_df(str(logs), columns=samples_columns(), full=True, quiet=True)
    pd.testing.assert_frame_equal(in_order(from_samples_df(theirs)), in_order(episodes([logs])))


def test_the_default_frame_gives_all_but_what_it_does_not_hold(logs: Path) -> None:
    found = in_order(from_samples_df(samples_df(str(logs), quiet=True)))
    told = in_order(episodes([logs]))
    assert found["reason"].isna().all()
    assert found["task"].isna().all()
    left = ["reason", "task", "prefix_tokens", "prefix_broken", "defense_calls"]
    same = [name for name in told if name not in left]
    pd.testing.assert_frame_equal(found[same], told[same], check_dtype=False)


def test_samples_that_failed_are_counted_and_have_no_verdict(logs: Path) -> None:
    theirs = samples_df(str(logs), quiet=True)
    broken = theirs.assign(error=["boom"] + [""] * (len(theirs) - 1))
    found = from_samples_df(broken)
    told = counts(found)
    assert (told.planned, told.played, told.errored) == (len(theirs), len(theirs) - 1, 1)
    (failed,) = found[found["status"] == "errored"].to_dict("records")
    assert failed["reason"] == "boom"
    assert failed["family"] == theirs["metadata_family"].iloc[0]
    assert failed["violation"] != failed["violation"]


def test_the_frame_of_another_task_is_refused(tmp_path: Path) -> None:
    task = Task(dataset=[Sample(input="hello", target="hi")], scorer=includes())
    inspect_eval(task, model=answering("hi"), log_dir=str(tmp_path / "other"), display="none")
    theirs = samples_df(str(tmp_path / "other"), quiet=True)
    with pytest.raises(ConstraintRotError, match="no finished ConstraintRot episode in the frame"):
        from_samples_df(theirs)
