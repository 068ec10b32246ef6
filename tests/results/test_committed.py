"""Runs and frames that do not fit each other are refused, each in words."""

from pathlib import Path
from typing import Any

import pytest

from constraintrot.errors import ConstraintRotError
from results.tools import committed
from tests.report.page.helpers import arm, row
from tests.results.conftest import DECAY, RUN, describe, put


def test_a_run_may_have_several_frames(results: Path) -> None:
    put(results, "other", arm("compaction", 2, 1))
    describe(results, [{**RUN, "frames": ["first.csv", "other.csv"]}], [])
    (found,) = committed.read(results)
    assert (len(found.frame), found.variants, len(found.sha256)) == (18, 8, 2)


def test_an_episode_without_a_verdict_is_not_counted_as_finished(results: Path) -> None:
    lost = row(seed=8) | {"status": "errored", "outcome": "", "violation": None}
    stopped = row(seed=9) | {"status": "not played", "outcome": "", "violation": None}
    rows = [one | {"status": "played"} for one in arm("compaction", 8, 8)]
    put(results, "first", [*rows, lost, stopped])
    (run,) = committed.joined(results, committed.read(results)).runs
    assert (run.planned, run.finished, run.failed) == (10, 8, 1)


@pytest.mark.parametrize(
    ("runs", "said"),
    [
        ([{**RUN, "n": 16}], "n: Extra inputs are not permitted"),
        ([{**RUN, "name": "../first"}], "String should match pattern"),
        ([{**RUN, "date": "today"}], "date: String should match pattern"),
        ([RUN, RUN], "names runs twice: first"),
        ([RUN, {**RUN, "name": "second", "frames": ["first.csv"]}], "names frames twice"),
        ([RUN, {**RUN, "name": "second"}], "second of runs.yaml: no such frame"),
        ([{**RUN, "models": {}}], "its frame holds the model a/model; name it under models"),
        ([], "holds first.csv, which no run of runs.yaml names"),
    ],
)
def test_what_does_not_fit_is_said(results: Path, runs: list[dict[str, Any]], said: str) -> None:
    describe(results, runs, [DECAY])
    with pytest.raises(ConstraintRotError, match=said):
        committed.read(results)


def test_no_list_of_runs_is_said(results: Path) -> None:
    (results / "runs.yaml").write_text("- name: [")
    with pytest.raises(ConstraintRotError, match=r"runs\.yaml:2: not YAML"):
        committed.read(results)
    (results / "runs.yaml").unlink()
    with pytest.raises(ConstraintRotError, match=r"runs\.yaml: No such file"):
        committed.read(results)
