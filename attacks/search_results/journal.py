"""The file of a search: every prompt, every episode, and its end.

``-T attack=@file`` is the search's best prompt as an attack, ``@file#7`` its seventh; settings
follow as for every attack, ``@file#7:channel=document``.
"""

import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from constraintrot.attacks.definition import Chosen, parse_settings
from constraintrot.attacks.search_results import journal, jsonl
from constraintrot.attacks.search_results.trial import (
    Candidate,
    Query,
    SearchSettings,
    Trial,
    as_attack,
    best,
)
from constraintrot.errors import ParameterError

FORMAT = "constraintrot-attack-search"
NO_ATTACK = Candidate(text="", made={"name": "none"})


@dataclass
class Journal:
    """A search's file, and its content.

    Attributes:
        prompts: the prompts by number, from 1.
        searched: episodes by prompt's number (0 is no attack), family and seed.
        held_out: the same for the final evaluation.
        done: number of prompts at the end of the search; None before the end, and again from the
            first prompt of a larger budget on.
    """

    path: Path
    settings: SearchSettings
    prompts: dict[int, Candidate] = field(default_factory=dict[int, Candidate])
    searched: dict[tuple[int, str, int], Trial] = field(
        default_factory=dict[tuple[int, str, int], Trial]
    )
    held_out: dict[tuple[int, str, int], Trial] = field(
        default_factory=dict[tuple[int, str, int], Trial]
    )
    done: int | None = None

    def query(self, number: int, *, held_out: bool = False) -> Query:
        """Return a prompt's episodes so far; 0 is no attack."""
        trials = self.held_out if held_out else self.searched
        keys = ((number, *cell) for cell in self.cells(number, held_out=held_out))
        candidate = self.prompts.get(number, NO_ATTACK)
        return Query(number, candidate, tuple(trials[key] for key in keys if key in trials))

    def cells(self, number: int, *, held_out: bool = False) -> list[tuple[str, int]]:
        """Return family and seed of each variant that a prompt is played on.

        The search leaves out variants that break without an attack.
        """
        if held_out:
            return self.settings.cells(self.settings.eval_seeds)
        cells = self.settings.cells(self.settings.seeds)
        if not number:
            return cells
        without = {cell: self.searched.get((0, *cell)) for cell in cells}
        return [cell for cell, trial in without.items() if not (trial and trial.broken)]

    def history(self) -> list[Query]:
        """Return the prompts that were played on all variants of the search, in order."""
        wanted = len(self.cells(1))
        queries = [self.query(number) for number in sorted(self.prompts)]
        return [q for q in queries if not q.candidate.text or len(q.trials) == wanted]

    def prompt(self, number: int, candidate: Candidate) -> None:
        """Record a prompt before it is played."""
        jsonl.append(
            self.path, {"kind": "prompt", "query": number, "candidate": candidate.model_dump()}
        )
        self._proposed(number, candidate)

    def _proposed(self, number: int, candidate: Candidate) -> None:
        # Of a search that goes on with a larger budget, the best prompt is not evaluated yet.
        self.prompts[number], self.done = candidate, None

    def trial(self, number: int, trial: Trial, *, held_out: bool) -> None:
        kind = "held_out" if held_out else "searched"
        jsonl.append(
            self.path, {"kind": kind, "query": number, "trial": trial.model_dump(mode="json")}
        )
        self._trials(kind)[number, trial.family, trial.seed] = trial

    def end(self, best: Query | None) -> None:
        queries = len(self.history())
        row = {"kind": "done", "queries": queries, "best": best.number if best else None}
        jsonl.append(self.path, row | {"broken": best.broken if best else 0})
        self.done = queries

    def _trials(self, kind: str) -> dict[tuple[int, str, int], Trial]:
        return self.held_out if kind == "held_out" else self.searched

    def take(self, row: dict[str, Any], at: int) -> None:
        try:
            kind, number = row["kind"], row.get("query")
            if kind == "prompt":
                self._proposed(int(number or 0), Candidate.model_validate(row["candidate"]))
            elif kind in ("searched", "held_out"):
                trial = Trial.model_validate(row["trial"])
                self._trials(kind)[int(number or 0), trial.family, trial.seed] = trial
            elif kind == "done":
                self.done = int(row["queries"])
            else:
                raise ParameterError(f"{self.path}, line {at}: unknown kind {kind!r}")
        except (KeyError, TypeError, ValidationError) as error:
            raise ParameterError(f"{self.path}, line {at}: no row of a search: {error}") from error


def begin(path: Path, settings: SearchSettings) -> Journal:
    """Start a search's file, or continue it."""
    lines = jsonl.resume(path, FORMAT, settings.model_dump(mode="json"))
    return _journal(path, settings, lines)


def read(path: Path) -> Journal:
    """Read the file of a finished search."""
    lines = jsonl.read(path, FORMAT)
    try:
        settings = SearchSettings.model_validate(lines.settings)
    except ValidationError as error:
        raise ParameterError(f"{path}, line 1: not the settings of a search: {error}") from error
    journal = _journal(path, settings, lines)
    if lines.torn or journal.done is None:
        raise ParameterError(
            f"{path} is cut short after line {len(lines.rows) + 1}: the search did not end; go on"
            " with the command that began it, nothing is asked twice"
        )
    return journal


def _journal(path: Path, settings: SearchSettings, lines: jsonl.Lines) -> Journal:
    journal = Journal(path, settings)
    for at, row in enumerate(lines.rows, start=2):
        journal.take(row, at)
    return journal


_WRITTEN = re.compile(
    r"(?:@|file:)(?P<path>.+?)(?:#(?P<query>\d+))?(?::(?P<listed>[^:/\\]*=[^:/\\]*))?", re.DOTALL
)


def found_attack(text: str) -> Chosen:
    """Return the attack of ``@file``, for ``attacks.read``."""
    match = _WRITTEN.fullmatch(text.strip())
    if match is None:
        raise ParameterError(f"attack {text!r} names no file; write @FILE, or @FILE#7 for a prompt")
    search = journal.read(Path(match["path"]))
    query = _query(search, match["query"])
    name = f"@{match['path']}" + (f"#{query.number}" if match["query"] else "")
    settings = search.settings
    found = as_attack(name, query.candidate, settings)
    return replace(
        found,
        settings=parse_settings(name, found.attack, match["listed"]),
        searched=dict.fromkeys(settings.families, settings.seeds),
    )


def _query(search: journal.Journal, number: str | None) -> Query:
    history = search.history()
    if number is not None:
        query = next((one for one in history if one.number == int(number)), None)
        if query is None or not query.candidate.text:
            raise ParameterError(
                f"{search.path} holds no prompt {number}; it has 1 to {len(history)}"
            )
        return query
    query = best(history)
    if query is None:
        raise ParameterError(f"{search.path} holds no prompt at all, so there is nothing to play")
    if not query.broken:
        raise ParameterError(
            f"the search of {search.path} found no attack: 0 successes in {len(history)} prompts;"
            f" @{search.path}#{query.number} plays the one that came closest"
        )
    return query
