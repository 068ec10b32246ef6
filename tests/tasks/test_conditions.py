"""Each task owns its conditions: a label of another task would name what never happened."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from inspect_ai import Task
from inspect_ai._util.error import PrerequisiteError

from constraintrot.evaluation.conditions import FAMILY, LAUNDERING, OPERATOR, QUALIFICATION, STRESS
from constraintrot.tasks.catalogue import soft_email, suite, utility
from constraintrot.tasks.laundering import laundering
from constraintrot.tasks.operator_channel import operator_channel
from constraintrot.tasks.pin_stress import pin_stress
from constraintrot.tasks.qualification import qualification

OWNED = {
    soft_email: FAMILY,
    suite: FAMILY,
    utility: FAMILY,
    pin_stress: STRESS,
    operator_channel: OPERATOR,
    laundering: LAUNDERING,
    qualification: QUALIFICATION,
}
ALL = {**STRESS, **OPERATOR, **LAUNDERING, **QUALIFICATION}


@pytest.mark.parametrize("make", OWNED, ids=lambda task: task.__name__)
def test_a_condition_of_another_task_is_refused_with_the_list(make: Callable[..., Task]) -> None:
    for name in ALL.keys() - OWNED[make].keys():
        with pytest.raises(PrerequisiteError, match=f"of this task '{name}'; known: ") as raised:
            make(conditions=f"control,{name}", variants=1)
        assert all(known in str(raised.value) for known in OWNED[make])


@pytest.mark.parametrize("make", OWNED, ids=lambda task: task.__name__)
def test_a_condition_of_its_own_is_played(make: Callable[..., Task]) -> None:
    for name in OWNED[make].keys() - {"defense_pin", "defense_pin_attack"}:
        # A defense's edit would undo a counterfactual's, so those are played without.
        undefended = {"defenses": "none"} if make in (pin_stress, operator_channel) else {}
        samples = make(conditions=name, variants=1, **undefended).dataset
        assert {(sample.metadata or {})["condition"] for sample in samples} == {name}


@pytest.mark.parametrize("make", [suite, utility], ids=lambda task: task.__name__)
def test_a_task_of_several_families_takes_those_that_are_named(make: Callable[..., Task]) -> None:
    made = make(families="soft_deploy,hard_pii", variants=1)
    assert {(sample.metadata or {})["family"] for sample in made.dataset} == {
        "soft_deploy",
        "hard_pii",
    }
    with pytest.raises(PrerequisiteError, match="soft_nothing"):
        make(families="soft_nothing", variants=1)
