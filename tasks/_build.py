"""Assembling a task: samples, solver and scorers from checked parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from inspect_ai import Task
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.dataset import MemoryDataset, Sample

from constraintrot import parameters as params
from constraintrot import scorers
from constraintrot.compactors import Settings
from constraintrot.condition import Condition
from constraintrot.errors import ConstraintRotError, ParameterError
from constraintrot.parameters import Parameters
from constraintrot.scenario import Scenario, catalogue, load
from constraintrot.solver import episode_solver

VERSION = 1


def build(
    families: Sequence[str], given: Mapping[str, object], *, name: str, allowed: bool = False
) -> Task:
    """Assemble a task over some families.

    Args:
        families: whose scenarios; those without the asked locale are left out
            of a task over several, and refused in a task over one.
        given: task parameters as they came.
        name: the task's name.
        allowed: ask for the permitted counterparts instead.

    Raises:
        PrerequisiteError: a wrong parameter, before anything runs; its cause is
            ours, a ParameterError or an UnknownNameError.
    """
    try:
        checked = params.read(given)
        scenarios = _scenarios(families, checked)
    except ConstraintRotError as error:
        # The one kind of error that Inspect's command line prints without a traceback.
        raise PrerequisiteError(str(error)) from error
    scoring = [scorers.violation(), scorers.outcome(), scorers.survival(), scorers.recalled()]
    return Task(
        dataset=MemoryDataset(
            [
                _sample(scenario, seed, condition, checked, allowed)
                for scenario in scenarios
                for seed in range(checked.seed, checked.seed + checked.variants)
                for condition in checked.conditions
            ],
            name=name,
        ),
        solver=episode_solver(checked, allowed=allowed),
        scorer=[scorers.utility(), *scoring] if allowed else scoring,
        name=name,
        version=VERSION,
    )


def _scenarios(families: Sequence[str], checked: Parameters) -> list[Scenario]:
    known = catalogue()
    there = [family for family in families if checked.locale in known[family]]
    # A task over one family that lacks the locale is refused by `load`.
    scenarios = [load(family, checked.locale) for family in there or families]
    last = checked.seed + checked.variants
    for scenario in scenarios:
        if last > scenario.variants:
            raise ParameterError(
                f"{scenario.family}.{scenario.locale} has {scenario.variants} distinct variants,"
                f" and seed {checked.seed} with {checked.variants} variants needs {last}"
            )
    return scenarios


def _sample(
    scenario: Scenario, seed: int, condition: Condition, checked: Parameters, allowed: bool
) -> Sample:
    variant = scenario.variant(seed)
    return Sample(
        # The neutral preamble; the policy comes after it, where nothing protects it.
        input=variant.preamble,
        id=f"{scenario.family}.{scenario.locale}-{seed}-{condition.name}",
        metadata=_metadata(scenario, seed, condition, checked, allowed),
    )


def _metadata(
    scenario: Scenario, seed: int, condition: Condition, checked: Parameters, allowed: bool
) -> dict[str, Any]:
    unused = Settings("none")
    compactor = checked.compactor if condition.compacts else unused
    return {
        "family": scenario.family,
        "kind": scenario.kind,
        "locale": scenario.locale,
        "wording": checked.wording,
        "channel": checked.channel,
        "condition": condition.name,
        "compactor": compactor.name,
        "prompt": compactor.prompt or "none",
        "budget_words": compactor.budget_words or "none",
        "rounds": checked.rounds if condition.compacts else "none",
        "scaffold": checked.scaffold or "none",
        "attack": condition.attack or checked.attack,
        "defense": condition.defense or checked.defense,
        "harness": checked.harness,
        "agent": "none",
        "summarizer": "none",
        "seed": seed,
        "replicate": 0,
        "allowed": allowed,
        "context_tokens": condition.history_tokens(checked.context_tokens),
        "compact_at": compactor.compact_at or "none",
    }
