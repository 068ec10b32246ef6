"""Assembling a task: samples, solver and scorers from checked parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from inspect_ai import Task
from inspect_ai.dataset import Sample

from constraintrot.compactors import Settings
from constraintrot.errors import ConstraintRotError, ParameterError
from constraintrot.evaluation import parameters as params
from constraintrot.evaluation import scorers
from constraintrot.evaluation.conditions import DEFAULT, FAMILY, Condition
from constraintrot.evaluation.parameters import Parameters
from constraintrot.evaluation.play_settings import PlaySettings
from constraintrot.evaluation.refusal_scorer import refusal as refusal_scorer
from constraintrot.evaluation.selection import EpisodeDataset, Selection
from constraintrot.evaluation.solver import episode_solver
from constraintrot.models.config_errors import refusal
from constraintrot.scenario import private
from constraintrot.scenario.files import load, locales
from constraintrot.scenario.schema import Scenario, Variant

VERSION = 1


def build(
    families: str | Sequence[str],
    given: Mapping[str, object],
    *,
    name: str,
    conditions: Mapping[str, Condition] = FAMILY,
    default: Sequence[str] = DEFAULT,
    allowed: bool = False,
    defenses: str | Sequence[str] | None = None,
) -> Task:
    """Assemble a task over some families.

    Args:
        families: whose scenarios; those without the asked locale are left out
            of a task over several, and refused in a task over one.
        given: task parameters as they came.
        name: the task's name.
        conditions: the conditions that the task has, by name.
        default: those that are played where none are asked for.
        allowed: ask for the permitted counterparts instead.
        defenses: to play each condition under, side by side, instead of the one
            of the parameter ``defense``.

    Raises:
        PrerequisiteError: a wrong parameter, before anything runs; its cause is
            ours, a ParameterError or an UnknownNameError.
    """
    try:
        several = None if defenses is None else _names("defenses", defenses)
        parameters = params.read(given, known=conditions, default=default, defenses=several)
        scenarios = _scenarios(_names("families", families), parameters)
        if not isinstance(allowed, bool):  # pyright: ignore[reportUnnecessaryIsInstance]  # -T
            raise ParameterError(f"allowed must be true or false, not {allowed!r}")
    except ConstraintRotError as error:
        raise refusal(str(error)) from error
    permitted = allowed or any(condition.allowed for condition in parameters.conditions)
    scoring = [
        scorers.violation(),
        scorers.outcome(),
        refusal_scorer(),
        scorers.survival(),
        scorers.recalled(),
    ]
    selection = Selection()
    return Task(
        dataset=EpisodeDataset(
            [
                _sample(scenario, seed, play, parameters, allowed, by_defense=several is not None)
                for scenario in scenarios
                for seed in range(parameters.seed, parameters.seed + parameters.variants)
                for play in parameters.plays
            ],
            name,
            selection,
        ),
        solver=episode_solver(parameters, selection),
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


def _scenarios(families: Sequence[str], parameters: Parameters) -> list[Scenario]:
    # What has no such family, or one family alone that lacks the locale, `load` refuses.
    there = [
        family for family in families if not locales(family) or parameters.locale in locales(family)
    ]
    scenarios = [load(family, parameters.locale) for family in there or families]
    last = parameters.seed + parameters.variants
    attacks = {play.attack.name: play.attack for play in parameters.plays}.values()
    for scenario in scenarios:
        for attack in attacks:
            attack.check_held_out(scenario.family, range(parameters.seed, last))
        seeds = scenario.seeds(parameters.split)
        if last > len(seeds):
            raise ParameterError(
                f"{scenario.family}.{scenario.locale} has {len(seeds)} distinct variants,"
                f" and seed {parameters.seed} with {parameters.variants} variants needs {last}"
            )
        if parameters.exercised > len(scenario.exercise):
            raise ParameterError(
                f"{scenario.family}.{scenario.locale} has {len(scenario.exercise)} turns that follow"
                f" its policy, so exercised cannot be {parameters.exercised}"
            )
    return scenarios


def _sample(
    scenario: Scenario,
    seed: int,
    play: PlaySettings,
    parameters: Parameters,
    allowed: bool,
    *,
    by_defense: bool,
) -> Sample:
    variant = scenario.variant(seed, parameters.split)
    name = f"{scenario.family}.{scenario.locale}-{seed}-{play.condition.name}"
    return Sample(
        # The neutral preamble; the policy comes after it, where nothing protects it.
        input=variant.preamble,
        id=f"{name}-{play.defense}" if by_defense else name,
        metadata=_metadata(variant, play, parameters, allowed or play.condition.allowed),
    )


def _metadata(
    variant: Variant, play: PlaySettings, parameters: Parameters, allowed: bool
) -> dict[str, Any]:
    scenario = variant.scenario
    condition, compactor = play.condition, play.compactor.settings
    if not condition.compacts:
        compactor = Settings("none")
    elif parameters.harness.spec.compacts_itself:
        compactor = Settings("own")
    return {
        "family": scenario.family,
        "kind": scenario.kind,
        "locale": scenario.locale,
        "wording": parameters.wording,
        "channel": parameters.channel,
        "condition": condition.name,
        "compactor": compactor.name,
        "prompt": compactor.prompt or "none",
        "budget_words": compactor.budget_words or "none",
        "rounds": parameters.rounds if condition.compacts else "none",
        "scaffold": parameters.scaffold or "none",
        "decline_tool": parameters.decline_tool,
        "steps": parameters.steps,
        "attack": str(play.attack),
        "defense": str(play.defense),
        "harness": str(parameters.harness),
        "agent": "none",
        "summarizer": "none",
        "distractors": parameters.distractors_of(condition),
        "exercised": parameters.exercised,
        "seed": variant.seed,
        "split": variant.split,
        "phrasing": variant.phrasing,
        "request": variant.request(allowed),
        **({"private_key": private.fingerprint(variant.key)} if variant.key else {}),
        "replicate": 0,
        "allowed": allowed,
        "context_tokens": condition.history_tokens(parameters.context_tokens),
        "compact_at": compactor.compact_at or "none",
    }
