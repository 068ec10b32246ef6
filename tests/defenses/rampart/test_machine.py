"""The registry against a plain model: 1,000 generated calls here, 100,000 in the soak."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.defenses.rampart.machine import RegistryMachine

_HEALTH = [HealthCheck.too_slow, HealthCheck.filter_too_much]


def test_a_thousand_calls() -> None:
    run_state_machine_as_test(
        RegistryMachine,
        settings=settings(
            max_examples=23,
            stateful_step_count=50,
            deadline=None,
            derandomize=True,
            database=None,
            suppress_health_check=_HEALTH,
        ),
    )


@pytest.mark.soak
def test_a_hundred_thousand_calls() -> None:
    run_state_machine_as_test(
        RegistryMachine,
        settings=settings(
            max_examples=2300,
            stateful_step_count=50,
            deadline=None,
            suppress_health_check=_HEALTH,
        ),
    )
