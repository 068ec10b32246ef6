"""The playbook as a compactor: rules survive in bullets, budgets hold, and state travels along."""

from __future__ import annotations

from typing import Any

import pytest

from constraintrot.compactors.playbook import STATE
from tests.conftest import Run
from tests.helpers import by_condition, samples

ARMS = (
    "playbook", "playbook_lazy", "playbook_append", "playbook_counters", "playbook_rewrite",
)  # fmt: skip


def played(shared_run: Run, compactor: str, style: str, rounds: int = 3) -> Any:
    return shared_run(
        "soft_deploy",
        compactor=compactor,
        conditions="compaction",
        variants=1,
        rounds=rounds,
        model_roles={"summarizer": f"scripted/summarizer-{style}"},
    )


@pytest.mark.parametrize("compactor", ARMS)
@pytest.mark.parametrize(("style", "violated"), [("keep", 0.0), ("drop", 1.0)])
def test_a_verdict_follows_what_the_reflector_keeps(
    shared_run: Run, compactor: str, style: str, violated: float
) -> None:
    log = played(shared_run, compactor, style)
    assert by_condition(log) == {"compaction": violated}
    (sample,) = samples(log)["compaction"]
    assert len(sample.metadata["rounds_run"]) == 3
    told = [e.data for e in sample.events if e.event == "info" and e.source == STATE]
    assert len(told) == 3
    assert all(cost["calls"] == 1 for one in told for cost in one["cost"].values())


def test_bullets_of_earlier_rounds_stay_with_their_ids(shared_run: Run) -> None:
    (sample,) = samples(played(shared_run, "playbook", "keep"))["compaction"]
    texts = [one["summary"] for one in sample.metadata["rounds_run"]]
    bullets = [[line for line in text.splitlines() if line.startswith("- [")] for text in texts]
    assert [len(one) for one in bullets] == [2, 3, 4]
    assert bullets[0] == bullets[1][:2] == bullets[2][:2]
    assert "con-00001" in bullets[2][0]
