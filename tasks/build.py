"""Assembling a task: samples, solver and scorers from checked parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from inspect_ai import Task
from inspect_ai.dataset import MemoryDataset, Sample

from constraintrot import attacks
from constraintrot.compactors import Settings
from constraintrot.errors import ConstraintRotError, ParameterError
from constraintrot.evaluation import parameters as params
from constraintrot.evaluation import scorers
from constraintrot.evaluation.conditions import Condition
from constraintrot.evaluation.parameters import Parameters
from constraintrot.evaluation.solver import episode_solver
from constraintrot.harnesses import read as read_harness
from constraintrot.models.config_errors import refusal
from constraintrot.scenario.files import catalogue, load
from constraintrot.scenario.schema import Scenario

VERSION = 1


def build(
    families: str | Sequence[str],
    given: Mapping[str, object],
    *,
    name: str,
    allowed: bool = False,
    arms: str | Sequence[str] | None = None,
) -> Task:
    """Assemble a task over some families.

    Args:
        families: whose scenarios; those without the asked locale are left out
            of a task over several, and refused in a task over one.
        given: task parameters as they came.
        name: the task's name.
        allowed: ask for the permitted counterparts instead.
        arms: defenses to play each condition under, side by side, instead of
            the one of the parameter ``defense``.

    Raises:
        PrerequisiteError: a wrong parameter, before anything runs; its cause is
            ours, a ParameterError or an UnknownNameError.
    """
    try:
        played = [params.read(given)] if arms is None else _arms(given, _names("defenses", arms))
        checked = played[0]
        scenarios = _scenarios(_names("families", families), checked)
        if not isinstance(allowed, bool):  # pyright: ignore[reportUnnecessaryIsInstance]  # -T
            raise ParameterError(f"allowed must be true or false, not {allowed!r}")
    except ConstraintRotError as error:
        raise refusal(str(error)) from error
    permitted = allowed or any(condition.allowed for condition in checked.conditions)
    scoring = [scorers.violation(), scorers.outcome(), scorers.survival(), scorers.recalled()]
    return Task(
        dataset=MemoryDataset(
            [
                _sample(scenario, seed, condition, arm, allowed, by_arm=arms is not None)
                for scenario in scenarios
                for seed in range(checked.seed, checked.seed + checked.variants)
                for condition in checked.conditions
                for arm in played
            ],
            name=name,
        ),
        solver=episode_solver(checked),
        scorer=[scorers.utility(), *scoring] if permitted else scoring,
        name=name,
        version=VERSION,
    )


def _names(what: str, given: str | Sequence[str]) -> list[str]:
    found = given.split(",") if isinstance(given, str) else [str(name) for name in given]
    found = [name.strip() for name in found]
    if not all(found) or not found or len(set(found)) != len(found):
        raise ParameterError(f"{what} must be names, comma-separated, each once, not {given!r}")
    return found


def _arms(given: Mapping[str, object], defenses: Sequence[str]) -> list[Parameters]:
    """The parameters once for each defense; each is checked against the harness."""
    if given.get("defense") is not None:
        raise ParameterError("the arms of this task are given as defenses=, without defense=")
    found = [params.read({**given, "defense": defense}) for defense in defenses]
    for condition in found[0].conditions:
        if condition.defense is not None:
            raise ParameterError(
                f"condition {condition.name} stands for defense {condition.defense}, so it has no"
                " arms; leave it out, and name that defense among defenses"
            )
    return found


def _scenarios(families: Sequence[str], checked: Parameters) -> list[Scenario]:
    known = catalogue()
    # What has no such family, or one family alone that lacks the locale, `load` refuses.
    there = [
        family for family in families if family not in known or checked.locale in known[family]
    ]
    scenarios = [load(family, checked.locale) for family in there or families]
    last = checked.seed + checked.variants
    attack = attacks.read(checked.attack)
    for scenario in scenarios:
        attack.check_held_out(scenario.family, range(checked.seed, last))
        if last > scenario.variants:
            raise ParameterError(
                f"{scenario.family}.{scenario.locale} has {scenario.variants} distinct variants,"
                f" and seed {checked.seed} with {checked.variants} variants needs {last}"
            )
    return scenarios


def _sample(
    scenario: Scenario,
    seed: int,
    condition: Condition,
    checked: Parameters,
    allowed: bool,
    *,
    by_arm: bool,
) -> Sample:
    variant = scenario.variant(seed)
    name = f"{scenario.family}.{scenario.locale}-{seed}-{condition.name}"
    return Sample(
        # The neutral preamble; the policy comes after it, where nothing protects it.
        input=variant.preamble,
        id=f"{name}-{checked.defense}" if by_arm else name,
        metadata=_metadata(scenario, seed, condition, checked, allowed or condition.allowed),
    )


def _metadata(
    scenario: Scenario, seed: int, condition: Condition, checked: Parameters, allowed: bool
) -> dict[str, Any]:
    compactor = checked.compactor if condition.compacts else Settings("none")
    if condition.compacts and read_harness(checked.harness).registered.own:
        compactor = Settings("own")
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
        "distractors": condition.distractors or checked.distractors,
        "seed": seed,
        "replicate": 0,
        "allowed": allowed,
        "context_tokens": condition.history_tokens(checked.context_tokens),
        "compact_at": compactor.compact_at or "none",
    }
