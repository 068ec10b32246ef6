"""The registry against a plain model: 1,000 generated calls here, 100,000 in the soak."""

from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.defenses.rampart.machine import RegistryMachine

_HEALTH = [HealthCheck.too_slow, HealthCheck.filter_too_much]


@pytest.mark.parametrize("examples", [23, pytest.param(2300, marks=pytest.mark.soak)])
def test_as_many_calls(examples: int) -> None:
    # The same ones each time, but in the soak.
    again: dict[str, Any] = {} if examples > 23 else {"derandomize": True, "database": None}
    chosen = settings(
        max_examples=examples,
        stateful_step_count=50,
        deadline=None,
        suppress_health_check=_HEALTH,
        **again,
    )
    run_state_machine_as_test(RegistryMachine, settings=chosen)
