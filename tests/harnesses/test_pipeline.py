"""``harness=pipeline``: every request of an episode goes through all layers."""

import pytest

from tests.conftest import Run
from tests.harnesses.episodes import violated
from tests.helpers import samples


def test_the_rule_goes_with_the_history_and_a_pin_keeps_it(shared_run: Run) -> None:
    log = shared_run(
        "soft_email", harness="pipeline", variants=1,
        conditions="floor,control,compaction,defense_pin",
    )  # fmt: skip
    found = {name: one for name, (one,) in samples(log).items()}
    assert {name: violated(one) for name, one in found.items()} == {
        "floor": True, "control": False, "compaction": True, "defense_pin": False,
    }  # fmt: skip
    assert found["compaction"].metadata["lost_at"] == "compaction"
    assert found["compaction"].metadata["compaction_ran"]
    assert found["defense_pin"].metadata["lost_at"] is None
    assert found["control"].metadata["lost_at"] is None


@pytest.mark.parametrize("task", ["soft_channel", "soft_spend"])
def test_neither_a_masked_address_nor_pruned_tools_make_the_agent_silent(
    shared_run: Run, task: str
) -> None:
    log = shared_run(task, harness="pipeline", variants=1, conditions="compaction")
    (sample,) = samples(log)["compaction"]
    assert violated(sample)
    (tools,) = [one for one in sample.metadata["layers"] if one["layer"] == "tools"]
    assert tools["pruned"]
