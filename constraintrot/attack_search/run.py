"""The search itself: propose, play, note, until the budget is spent; then evaluate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from inspect_ai.util import collect

from constraintrot.attack_search import genetic, journal, model, pool
from constraintrot.attack_search.candidate import Candidate, chosen
from constraintrot.attack_search.journal import Journal
from constraintrot.attack_search.play import in_inspect, play
from constraintrot.attack_search.report import shown
from constraintrot.attack_search.settings import SearchSettings
from constraintrot.attack_search.trial import Query, best
from constraintrot.attacks import Chosen
from constraintrot.evaluation.parameters import Parameters

Say: TypeAlias = Callable[[str], None]


def search(
    settings: SearchSettings, path: Path, *, queries: int, log_dir: str, say: Say
) -> Journal:
    """Run a search, or go on with one that was stopped.

    Args:
        settings: what to search.
        path: the search's file.
        queries: how many prompts may be tried, each on all variants of the search.
        log_dir: where Inspect's log goes.
        say: takes a line of progress.

    Raises:
        ParameterError, UnknownNameError: wrong settings, or a file of another search.
        ConstraintRotError: the run broke off; the same command goes on.
    """
    parameters = settings.checked()
    found = journal.begin(path, settings)
    if found.done is not None and (found.done >= queries or _finished(found, queries)):
        say(f"{path}: this search is over; nothing is played again")
        return found
    running = _Running(found, parameters, queries, say)
    in_inspect(running.run, model=settings.agent, roles=settings.roles, log_dir=log_dir)
    return found


def _finished(found: Journal, queries: int) -> bool:
    """Whether a search needs no further prompt."""
    history = found.history()
    wanted = len(found.cells(1))
    if len(history) >= queries or not wanted:
        return True
    if found.settings.strategy == "pool":
        return len(history) >= len(pool.POOL)
    return not found.settings.exhaust and any(query.broken == wanted for query in history)


class _Running:
    """A search while it runs."""

    def __init__(self, found: Journal, parameters: Parameters, queries: int, say: Say) -> None:
        self.journal, self.parameters = found, parameters
        self.settings = found.settings
        self.queries, self.say = queries, say

    async def run(self) -> None:
        """Go on from where the file ends."""
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
            return pool.propose(locale, history)
        if self.settings.strategy == "genetic":
            return genetic.propose(locale, history, self.settings.random_seed)
        return await model.propose(
            locale,
            history,
            budget=self.queries,
            random_seed=self.settings.random_seed,
            defense=str(self.parameters.plays[0].defense),
        )

    async def _evaluate(self) -> None:
        found = best(self.journal.history())
        for number in (0, *([found.number] if found else [])):
            await self._play(number, held_out=True)
            name = f"prompt {number}" if number else "no attack"
            self.say(f"held out, {name}: {shown(self.journal.query(number, held_out=True))}")
        self.journal.end(found)

    async def _play(self, number: int, *, held_out: bool) -> None:
        played = self.journal.held_out if held_out else self.journal.searched
        cells = self.journal.cells(number, held_out=held_out)
        attack = self._attack(self.journal.query(number)) if number else None

        # A prompt is not judged on the phrasings that it was worked out on.
        parameters = self.parameters if held_out else replace(self.parameters, split="tuning")

        async def one(family: str, seed: int) -> None:
            trial = await play(parameters, attack, family, seed)
            self.journal.trial(number, trial, held_out=held_out)

        await collect(*(one(*cell) for cell in cells if (number, *cell) not in played))

    def _attack(self, query: Query) -> Chosen:
        settings = self.settings
        return chosen(
            f"prompt {query.number}",
            query.candidate,
            settings.channel,
            settings.position,
            settings.knowledge,
        )
