"""Play a prompt with the same staging, harness and grading as in a task."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from inspect_ai import Task
from inspect_ai.dataset import Sample
from inspect_ai.model import ChatMessage, get_model
from inspect_ai.solver import Generate, Solver, TaskState, solver

from constraintrot import attacks
from constraintrot.attacks import Chosen
from constraintrot.attacks.search_results.trial import Trial
from constraintrot.episode.episode import Episode
from constraintrot.episode.messages import before_trigger, message_texts
from constraintrot.errors import ConstraintRotError, EpisodeError
from constraintrot.evaluation.harness import Played
from constraintrot.evaluation.parameters import Parameters
from constraintrot.evaluation.solver import answer_form, staged
from constraintrot.grading.verdict import blocked, grade
from constraintrot.rule_text.survival import Mentions, mentions
from constraintrot.runs.play import once
from constraintrot.scenario.files import load
from constraintrot.scenario.schema import Variant

Work = Callable[[], Awaitable[None]]


async def play(parameters: Parameters, attack: Chosen | None, family: str, seed: int) -> Trial:
    """Play one episode, in a running Inspect sample.

    The parameters have one condition and no attack.
    """
    (settings,) = parameters.plays
    agent = get_model(role="agent")
    form = answer_form(parameters, agent)
    variant = load(family, parameters.locale).variant(seed, parameters.split)
    episode = staged(variant, parameters, settings, False, form)
    if attack is not None:
        episode = attacks.deliver(attack, episode)
    try:
        played = await parameters.harness.make()(
            episode, replace(settings, scaffold=form.scaffold, steps=parameters.steps)
        )
    except EpisodeError as error:
        # A prompt may cause an error, such as an empty summary; that is not a success.
        return Trial(family=family, seed=seed, outcome=None, reason=str(error))
    return _graded(variant, episode, played)


def _graded(variant: Variant, episode: Episode, played: Played) -> Trial:
    verdict = grade(variant, played.calls, fault=played.fault, text=played.prose)
    if played.blocked is not None:
        verdict = blocked(verdict, played.blocked)
    survived = _survival(variant, episode, played.last_input)
    rounds = played.compacted.rounds if played.compacted else []
    return Trial(
        family=variant.scenario.family,
        seed=variant.seed,
        outcome=verdict.outcome,
        reason=verdict.reason,
        kept=survived.kept,
        share=survived.share,
        lost=tuple(name for name, kept in survived.slots.items() if not kept),
        summary=rounds[-1].summary if rounds else None,
    )


def _survival(variant: Variant, episode: Episode, sent: Sequence[ChatMessage]) -> Mentions:
    context = message_texts(before_trigger(sent, variant.trigger))
    return mentions(context, episode.policy, variant.slots)


def in_inspect(work: Work, *, model: str, roles: dict[str, str], log_dir: str) -> None:
    """Run a coroutine as the only sample of an Inspect run, so that all model calls are Inspect's."""
    raised: list[ConstraintRotError] = []

    @solver(name="attack_search")
    def working() -> Solver:
        async def solve(state: TaskState, generate: Generate) -> TaskState:
            try:
                await work()
            except ConstraintRotError as error:
                raised.append(error)
                raise
            return state

        return solve

    task = Task(dataset=[Sample(input="Attack search.")], solver=working(), name="attack_search")
    log = once(task, model=model, model_roles=dict(roles), log_dir=log_dir)
    if raised:
        raise raised[0]
    if log.status != "success":
        why = log.error.message if log.error else log.status
        raise ConstraintRotError(
            f"the search stopped ({why}); what was played is kept: go on with the same command"
        )
