"""What ``--limit`` leaves of the conditions is said in the log and in the metadata."""

from __future__ import annotations

from pathlib import Path

import pytest
from inspect_ai import eval as inspect_eval
from inspect_ai.log import EvalLog, resolve_sample_attachments


def evaluated(folder: Path, **options: object) -> EvalLog:
    given = {"variants": 4, "conditions": "floor,control", "context_tokens": 300}
    (log,) = inspect_eval(
        "constraintrot/soft_email", model="scripted/obedient", task_args=given,
        log_dir=str(folder), display="none", **options,  # type: ignore[arg-type]
    )  # fmt: skip
    return log


def warnings(log: EvalLog) -> list[str]:
    return [
        str(event.data)
        for sample in [resolve_sample_attachments(one, "full") for one in log.samples or []]
        for event in sample.events
        if event.event == "info" and event.source == "unbalanced conditions"
    ]


@pytest.mark.parametrize(
    ("options", "selected"),
    [
        ({"limit": 3}, {"floor": 2, "control": 1}),
        ({"limit": (1, 4)}, {"floor": 1, "control": 2}),
        ({"sample_id": ["*-floor", "*-0-control"]}, {"floor": 4, "control": 1}),
        ({"sample_id": "*-floor"}, {"floor": 4, "control": 0}),
    ],
)
def test_an_unbalanced_selection_is_said(
    tmp_path: Path, options: dict[str, object], selected: dict[str, int]
) -> None:
    log = evaluated(tmp_path, **options)
    (warned,) = set(warnings(log))
    assert len(warnings(log)) == len(log.samples or [])
    assert ", ".join(f"{name} {n}" for name, n in selected.items()) in warned
    for sample in log.samples or []:
        assert sample.metadata["selected"] == selected
        assert sample.metadata["unbalanced"]


def test_shuffled_too(tmp_path: Path) -> None:
    log = evaluated(tmp_path, sample_shuffle=7, limit=3)
    (sample, *_) = log.samples or []
    conditions = [str(one.metadata["condition"]) for one in log.samples or []]
    assert sample.metadata["selected"] == {n: conditions.count(n) for n in ("floor", "control")}
    assert len(warnings(log)) == 3


@pytest.mark.parametrize("options", [{}, {"limit": 4}])
def test_a_balanced_selection_is_quiet(tmp_path: Path, options: dict[str, object]) -> None:
    log = evaluated(tmp_path, **options)
    assert not warnings(log)
    assert not any(sample.metadata["unbalanced"] for sample in log.samples or [])
