"""Run a search: propose a prompt, play it and log it, until the budget is spent; then evaluate."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from inspect_ai import Task
from inspect_ai.dataset import Sample
from inspect_ai.model import ChatMessage, get_model
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import collect

from constraintrot import attacks
from constraintrot.attacks import Chosen
from constraintrot.attacks.attacker_task import POOL
from constraintrot.attacks.search_results.journal import Journal, begin
from constraintrot.attacks.search_results.trial import (
    Candidate,
    SearchSettings,
    Trial,
    as_attack,
    best,
)
from constraintrot.episode.episode import Episode
from constraintrot.episode.messages import before_trigger, message_texts
from constraintrot.errors import ConstraintRotError, EpisodeError, ParameterError
from constraintrot.evaluation import parameters as task_parameters
from constraintrot.evaluation.harness import Played
from constraintrot.evaluation.parameters import Parameters
from constraintrot.evaluation.solver import answer_form, staged
from constraintrot.grading.verdict import blocked, grade
from constraintrot.rule_text.survival import Mentions, mentions
from constraintrot.runs.attack_search import strategies
from constraintrot.runs.attack_search.report import shown
from constraintrot.runs.plan import Size, counted
from constraintrot.runs.play import alone, once
from constraintrot.scenario.files import load
from constraintrot.scenario.schema import Scenario, Variant
from constraintrot.scenario.splits import Split

Say: TypeAlias = Callable[[str], None]
# Task parameters that a search sets itself.
_SET_BY_SEARCH = ("attack", "conditions", "variants", "seed")


def search(
    settings: SearchSettings, path: Path, *, queries: int, log_dir: str, say: Say
) -> Journal:
    """Run a search, or resume one that was stopped.

    Its log at ``path`` is created or continued, and Inspect's go to ``log_dir``. At most
    ``queries`` prompts are tried, each on all variants of the search; ``say`` is called with each
    line of progress.
    """
    parameters = checked_parameters(settings)
    with alone(path, folder=False):
        journal = begin(path, settings)
        if journal.done is not None and (journal.done >= queries or _finished(journal, queries)):
            say(f"{path}: this search is over; nothing is played again")
            return journal
        running = _Running(journal, parameters, queries, say)
        in_inspect(running.run, model=settings.agent, roles=settings.roles, log_dir=log_dir)
    return journal


def size(settings: SearchSettings, queries: int) -> Size:
    """Return the largest size of a search, without its attacker's calls."""
    # One more play without a prompt; held-out variants with the best prompt and without.
    return played(settings, (queries + 1) * settings.variants + 2 * settings.eval_variants)


def played(settings: SearchSettings, variants: int) -> Size:
    """Return the size of some variants of each family of a search, played once."""
    given = {**settings.parameters, "conditions": "compaction", "variants": 1}
    one = counted("constraintrot/suite", {**given, "families": list(settings.families)})
    return one.times(variants)


def _finished(journal: Journal, queries: int) -> bool:
    history = journal.history()
    wanted = len(journal.cells(1))
    if len(history) >= queries or not wanted:
        return True
    if journal.settings.strategy == "pool":
        return len(history) >= len(POOL)
    return not journal.settings.exhaust and any(query.broken == wanted for query in history)


class _Running:
    def __init__(self, journal: Journal, parameters: Parameters, queries: int, say: Say) -> None:
        self.journal, self.parameters = journal, parameters
        self.settings = journal.settings
        self.queries, self.say = queries, say

    async def run(self) -> None:
        await self._play(0, held_out=False)
        self.say(f"no attack: {shown(self.journal.query(0))}")
        while not _finished(self.journal, self.queries):
            number = len(self.journal.history()) + 1
            candidate = self.journal.prompts.get(number) or await self._propose()
            if candidate is None:
                break
            if number not in self.journal.prompts:
                self.journal.prompt(number, candidate)
            if candidate.text:
                await self._play(number, held_out=False)
            self.say(f"prompt {number} of {self.queries}: {shown(self.journal.query(number))}")
        await self._evaluate()

    async def _propose(self) -> Candidate | None:
        history, locale = self.journal.history(), self.parameters.locale
        if self.settings.strategy == "pool":
            return strategies.from_pool(locale, history)
        if self.settings.strategy == "genetic":
            return strategies.propose(locale, history, self.settings.random_seed)
        return await strategies.rewritten(
            locale,
            history,
            budget=self.queries,
            random_seed=self.settings.random_seed,
            defense=str(self.parameters.plays[0].defense),
        )

    async def _evaluate(self) -> None:
        most = best(self.journal.history())
        for number in (0, *([most.number] if most else [])):
            await self._play(number, held_out=True)
            name = f"prompt {number}" if number else "no attack"
            self.say(f"held out, {name}: {shown(self.journal.query(number, held_out=True))}")
        self.journal.end(most)

    async def _play(self, number: int, *, held_out: bool) -> None:
        played = self.journal.held_out if held_out else self.journal.searched
        cells = self.journal.cells(number, held_out=held_out)
        prompt = self.journal.query(number).candidate
        attack = as_attack(f"prompt {number}", prompt, self.settings) if number else None

        # A prompt must not be judged on the phrasings that it was developed on.
        parameters = self.parameters if held_out else replace(self.parameters, split="tuning")

        async def one(family: str, seed: int) -> None:
            trial = await play(parameters, attack, family, seed)
            self.journal.trial(number, trial, held_out=held_out)

        await collect(*(one(*cell) for cell in cells if (number, *cell) not in played))


def checked_parameters(settings: SearchSettings) -> Parameters:
    """Check the settings of a search and return its task parameters."""
    given = sorted(set(_SET_BY_SEARCH) & set(settings.parameters))
    if given:
        raise ParameterError(f"a search sets {', '.join(given)} itself; leave it out of -T")
    checked = task_parameters.read({**settings.parameters, "conditions": "compaction"})
    for family in settings.families:
        _check_variants(settings, load(family, checked.locale), checked.split)
    if settings.strategy == "model" and "attacker" not in settings.roles:
        raise ParameterError(
            "strategy model asks the role attacker; give one: --model-role attacker=MODEL"
        )
    return checked


def _check_variants(settings: SearchSettings, scenario: Scenario, split: Split) -> None:
    both = sorted(set(settings.seeds) & set(settings.eval_seeds))
    if both:
        raise ParameterError(
            f"seeds {', '.join(map(str, both))} are both searched and held out; what is found"
            " is evaluated on other variants only, so move --seed or --eval-seed"
        )
    least = min(settings.seed, settings.eval_seed)
    last = max(settings.seeds.stop, settings.eval_seeds.stop)
    # The search itself plays ``tuning``, which may have another number of seeds.
    seeds = min(scenario.seeds(split), scenario.seeds("tuning"), key=len)
    if least not in seeds or last > len(seeds):
        raise ParameterError(
            f"{scenario.family}.{scenario.locale} has the seeds 0 to {seeds[-1]};"
            f" these go from {least} to {last - 1}"
        )


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
