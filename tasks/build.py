"""Assembly of a task: samples, solver and scorers from checked parameters."""

from collections.abc import Mapping, Sequence
from typing import Any

from inspect_ai import Task
from inspect_ai.dataset import Sample
from inspect_ai.model import model_roles

from constraintrot.compactors import Settings
from constraintrot.episode.facts import LATER, NONE, SESSION, EpisodeFacts
from constraintrot.errors import ConstraintRotError, ParameterError
from constraintrot.evaluation import parameters as params
from constraintrot.evaluation import roles, scorers, viewer
from constraintrot.evaluation.awareness import awareness
from constraintrot.evaluation.conditions import DEFAULT, FAMILY, Condition
from constraintrot.evaluation.parameters import Parameters
from constraintrot.evaluation.play_settings import PlaySettings
from constraintrot.evaluation.scorers import refusal as refusal_scorer
from constraintrot.evaluation.selection import EpisodeDataset, Selection
from constraintrot.evaluation.solver import episode_solver
from constraintrot.models.config_errors import refusal
from constraintrot.scenario import private
from constraintrot.scenario.files import load, locales, origin
from constraintrot.scenario.schema import Scenario, Variant
from constraintrot.scenario.values import is_list

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
    own: Sequence[str] = (),
) -> Task:
    """Assemble a task over families.

    Args:
        families: names of the families. A family without the locale is left out of a task
            over several families, and refused in a task over one.
        given: the task parameters that were given.
        name: the task's name.
        conditions: the conditions of the task, by name.
        default: the conditions that are played if none are given.
        allowed: end the episodes with the permitted counterparts instead of the triggers.
        defenses: defenses under each of which every condition is played; None to use the
            parameter ``defense``.
        own: names of the task's own parameters, for errors.

    Raises:
        PrerequisiteError: a wrong parameter, before anything runs. Its cause is a
            ParameterError, an UnknownNameError or another ConstraintRotError.
    """
    try:
        # The roles of the evaluation that makes the task; the solver checks those of the others.
        roles.check(model_roles())
        several = None if defenses is None else _names("defenses", defenses)
        parameters = params.read(
            given, known=conditions, default=default, defenses=several, own=own
        )
        scenarios = _scenarios(_names("families", families), parameters)
        if not isinstance(allowed, bool):  # as -T gives it
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
    scoring += [scorers.probed()] if parameters.probe else []
    scoring += [awareness()] if parameters.awareness else []
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
        version=_version(scenarios, parameters),
        viewer=viewer.view(),
        # A broken sample, as by a summarizer that writes nothing, does not end the run; the run
        # is still marked as failed, so that eval-retry can complete it.
        continue_on_fail=True,
    )


def _version(scenarios: Sequence[Scenario], parameters: Parameters) -> int | str:
    """Return the task's version, with the digests of what it is made from outside the package.

    Inspect goes on from a log of the same name, parameters and version, and the content of a
    scenario file or of a private key may change under them.
    """
    outside = {facts["scenario_digest"] for one in scenarios if (facts := origin(one))}
    if parameters.split == "private":
        outside.add(private.fingerprint(private.key()))
    return "-".join([str(VERSION), *sorted(outside)]) if outside else VERSION


def _names(what: str, given: object) -> list[str]:
    listed = given.split(",") if isinstance(given, str) else given
    names = [str(name).strip() for name in listed] if is_list(listed) else []
    if not all(names) or not names or len(set(names)) != len(names):
        raise ParameterError(f"{what} must be names, comma-separated, each once, not {given!r}")
    return names


def _scenarios(families: Sequence[str], parameters: Parameters) -> list[Scenario]:
    # `load` raises for an unknown family, and for the locale if no family has it.
    with_locale = [
        family for family in families if not locales(family) or parameters.locale in locales(family)
    ]
    scenarios = [load(family, parameters.locale) for family in with_locale or families]
    last = parameters.seed + parameters.variants
    attacks = {play.attack.name: play.attack for play in parameters.plays}.values()
    for scenario in scenarios:
        for attack in attacks:
            attack.check_held_out(scenario.family, range(parameters.seed, last))
            attack.check_locale(parameters.locale)
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
    condition, policy = play.condition, variant.policy(parameters.wording_of(seed))
    permitted = allowed or condition.allowed
    request = variant.allowed_trigger if permitted else variant.trigger
    return Sample(
        # For readers: the harness plays the staged episode, with the neutral preamble.
        input=viewer.input_text(play, request),
        target=viewer.target_text(policy, allowed=permitted, stated=condition.policy),
        id=f"{name}-{play.defense}" if by_defense else name,
        metadata=_metadata(variant, play, parameters, permitted),
    )


def _metadata(
    variant: Variant, play: PlaySettings, parameters: Parameters, allowed: bool
) -> dict[str, Any]:
    scenario, wording = variant.scenario, parameters.wording_of(variant.seed)
    condition, compactor = play.condition, play.compactor.settings
    if not condition.compacts:
        compactor = Settings("none")
    elif parameters.harness.spec.compacts_itself:
        compactor = Settings("own")
    facts = EpisodeFacts(
        family=scenario.family,
        kind=scenario.kind,
        locale=scenario.locale,
        wording=wording,
        channel=parameters.channel,
        condition=condition.name,
        compactor=compactor.name,
        prompt=compactor.prompt or NONE,
        budget_words=compactor.budget_words or "none",
        rounds=parameters.rounds if condition.compacts else "none",
        scaffold=parameters.scaffold or NONE,
        decline_tool=parameters.decline_tool,
        steps=parameters.steps,
        attack=str(play.attack),
        defense=str(play.defense),
        harness=str(parameters.harness),
        agent=NONE,
        summarizer=NONE,
        distractors=parameters.distractors_of(condition),
        exercised=parameters.exercised,
        system_prompt=parameters.system_prompt,
        asked_by=parameters.asked_by,
        tools=parameters.tools,
        split=variant.split,
        phrasing=variant.phrasing,
        request=variant.request(allowed),
        context_tokens=condition.history_tokens(parameters.context_tokens),
        compact_at=compactor.compact_at or "none",
        allowed=allowed,
        seed=variant.seed,
        replicate=0,
    )
    own = {"private_key": private.fingerprint(variant.key)} if variant.key else {}
    own |= {SESSION: scenario.session} if scenario.session else {}
    told = facts.model_dump(exclude_unset=True)
    return {
        **{name: value for name, value in told.items() if LATER.get(name) != value},
        **origin(scenario),
        "probe": parameters.probe,
        "policy_phrasing": variant.policy_phrasing(wording),
        "texts": variant.texts,
        **own,
    }
