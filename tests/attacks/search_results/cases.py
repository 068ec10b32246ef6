"""Helpers of the tests of searches' files: settings, episodes and files made by hand."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from constraintrot.attacks.search_results import journal
from constraintrot.attacks.search_results.journal import Journal
from constraintrot.attacks.search_results.trial import Candidate, Query, SearchSettings, Trial


def settings(kind: str = "half", **more: Any) -> SearchSettings:
    """A small search on ``soft_email`` against a scripted summarizer."""
    roles = {"summarizer": f"scripted/summarizer-{kind}", **more.pop("roles", {})}
    given = {"variants": 2, "eval_variants": 2, "strategy": "genetic", **more}
    given = {"families": ("soft_email",), "agent": "scripted/obedient", **given}
    return SearchSettings(roles=roles, **given)


def trial(seed: int = 20, *, broken: bool = False, share: float | None = None) -> Trial:
    """An episode that was broken, or was not."""
    held = (0.0 if broken else 1.0) if share is None else share
    return Trial(
        family="soft_email",
        seed=seed,
        outcome="violated" if broken else "declined",
        reason="",
        kept=held == 1,
        share=held,
    )


def query(number: int, text: str, *trials: Trial, **made: Any) -> Query:
    """A prompt and its episodes."""
    return Query(number, Candidate(text=text, made=made), trials)


def written(path: Path, *broken: bool, done: bool = True, **more: Any) -> Journal:
    """A search's file made by hand: a prompt for each of ``broken``, on one variant."""
    path.unlink(missing_ok=True)
    found = journal.begin(path, settings(**{"variants": 1, "eval_variants": 1, **more}))
    found.trial(0, trial(), held_out=False)
    for number, fell in enumerate(broken, start=1):
        found.prompt(number, Candidate(text=f"Text {number} for {{{{org}}}}.", made={"name": "x"}))
        found.trial(number, trial(broken=fell), held_out=False)
    history: Sequence[Query] = found.history()
    if done:
        found.end(max(history, key=lambda one: one.fitness, default=None))
    return found


def rows(path: Path) -> list[dict[str, Any]]:
    """All rows of a file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
