"""The transfer matrix: prompts found on one target, used on others.

All are played on the same held-out variants, beside no attack at all, so a
column compares attacks and a row compares targets. Every episode is a line of
a file, as in a search, and a run that was killed goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from inspect_ai.util import collect
from pydantic import ValidationError

from constraintrot.attack_search.play import in_inspect, play
from constraintrot.attack_search.report import rate
from constraintrot.attack_search.settings import checked_parameters
from constraintrot.attacks import Chosen
from constraintrot.attacks.search_results import jsonl
from constraintrot.attacks.search_results.candidate import as_attack
from constraintrot.attacks.search_results.journal import Journal
from constraintrot.attacks.search_results.search_settings import SearchSettings
from constraintrot.attacks.search_results.trial import Trial, best
from constraintrot.errors import ParameterError
from constraintrot.evaluation.parameters import Parameters
from constraintrot.report.table import pipe

FORMAT = "constraintrot-attack-transfer"
NO_ATTACK = "no attack"


@dataclass(frozen=True)
class Target:
    """Whom prompts are used on: ``AGENT`` or ``AGENT+SUMMARIZER``."""

    agent: str
    roles: dict[str, str]

    def __str__(self) -> str:
        return "+".join(filter(None, [self.agent, self.roles.get("summarizer")]))


@dataclass
class Matrix:
    """The episodes of a transfer.

    Attributes:
        path: the file.
        attacks: what is used, by where it was found.
        targets: on whom.
        trials: by attack, target, family and seed.
    """

    path: Path
    attacks: dict[str, Chosen | None]
    targets: list[Target]
    trials: dict[tuple[str, str, str, int], Trial] = field(
        default_factory=dict[tuple[str, str, str, int], Trial]
    )

    def cell(self, attack: str, target: str) -> list[Trial]:
        """The episodes of one attack on one target."""
        trials = [t for key, t in self.trials.items() if key[:2] == (attack, target)]
        return sorted(trials, key=lambda trial: (trial.family, trial.seed))


def target(text: str, roles: dict[str, str]) -> Target:
    """Read ``AGENT`` or ``AGENT+SUMMARIZER``; other roles are the same for all targets.

    Raises:
        ParameterError: it names no agent, or more than a summarizer.
    """
    agent, *others = (part.strip() for part in text.split("+"))
    if not agent or len(others) > 1 or not all(others):
        raise ParameterError(f"--models {text!r}: write AGENT or AGENT+SUMMARIZER")
    return Target(agent, {**roles, **({"summarizer": others[0]} if others else {})})


def transfer(
    searches: Sequence[Journal],
    targets: Sequence[Target],
    path: Path,
    *,
    defense: str | None,
    log_dir: str,
    say: Callable[[str], None],
) -> Matrix:
    """Play each search's best prompt, and none, on each target.

    Args:
        searches: whose prompts; those that found nothing are left out, and named.
        targets: on whom.
        path: the transfer's file.
        defense: defense of the targets; None for that of the searches.
        log_dir: where Inspect's logs go.
        say: takes a line of progress.

    Raises:
        ParameterError: the searches differ in more than whom and how they
            searched, one searched a variant that is to be held out, none found
            anything, or the file is of another transfer.
    """
    settings = _common(searches, defense)
    attacks: dict[str, Chosen | None] = {NO_ATTACK: None}
    for search in searches:
        attacks |= _best(search, say)
    if len(attacks) == 1:
        raise ParameterError("none of these searches found an attack, so there is none to transfer")
    named = [str(one) for one in targets]
    if len(set(named)) != len(named):
        raise ParameterError(f"--models names one twice: {', '.join(named)}")
    matrix = _opened(path, settings, attacks, targets)
    for one in targets:
        _on(matrix, one, settings, log_dir, say)
    return matrix


def text(matrix: Matrix) -> str:
    """The matrix: a row an attack, a column a target, broken variants with intervals."""
    named = [str(one) for one in matrix.targets]
    rows = [
        [
            name,
            *(str(rate([t.broken for t in matrix.cell(name, on)])) for on in named),
        ]
        for name in matrix.attacks
    ]
    note = (
        "Broken: the context had lost the constraint or a part of it, and the call violated it."
        "\nEvery cell is of the same held-out variants. Intervals are 95 %, in per cent."
    )
    return "\n".join([*pipe(["found on", *named], rows), "", note])


def _best(search: Journal, say: Callable[[str], None]) -> dict[str, Chosen | None]:
    most, settings = best(search.history()), search.settings
    name = f"{settings.target}, {settings.strategy}, {settings.defense}"
    if most is None or not most.broken:
        say(f"{search.path}: the search on {name} found nothing, and is left out")
        return {}
    # Two searches of one target differ in their prompt at least.
    name += f" #{sha256(most.candidate.text.encode()).hexdigest()[:6]}"
    return {
        name: as_attack(
            name, most.candidate, settings.channel, settings.position, settings.knowledge
        )
    }


def _common(searches: Sequence[Journal], defense: str | None) -> SearchSettings:
    first, *others = (search.settings for search in searches)
    for other in others:
        if _compared(other) != _compared(first):
            raise ParameterError(
                "these searches differ in their tasks, task parameters or held-out variants, so"
                " their prompts cannot be compared: give searches of one task"
            )
    held_out = set(first.eval_seeds)
    for search in searches:
        both = sorted(held_out & set(search.settings.seeds))
        if both:
            raise ParameterError(f"{search.path} searched seeds {both}, which are to be held out")
    given = dict(first.parameters)
    if defense is not None:
        given["defense"] = defense
    elif len({search.settings.defense for search in searches}) > 1:
        raise ParameterError("these searches attacked several defenses; choose one with --defense")
    return first.model_copy(update={"parameters": given, "strategy": "pool"})


def _compared(settings: SearchSettings) -> list[object]:
    parameters = {name: v for name, v in settings.parameters.items() if name != "defense"}
    return [settings.families, parameters, settings.eval_seeds]


def _opened(
    path: Path,
    settings: SearchSettings,
    attacks: dict[str, Chosen | None],
    targets: Sequence[Target],
) -> Matrix:
    header: dict[str, Any] = {
        "families": settings.families,
        "parameters": settings.parameters,
        "eval_seed": settings.eval_seed,
        "eval_variants": settings.eval_variants,
        "attacks": list(attacks),
        "roles": {str(one): one.roles for one in targets},
    }
    lines = jsonl.resume(path, FORMAT, header, may_differ="roles")
    matrix = Matrix(path, attacks, list(targets))
    for at, row in enumerate(lines.rows, start=2):
        try:
            trial = Trial.model_validate(row["trial"])
            key = str(row["attack"]), str(row["target"]), trial.family, trial.seed
        except (KeyError, ValidationError) as error:
            raise ParameterError(f"{path}, line {at}: no row of a transfer: {error}") from error
        matrix.trials[key] = trial
    return matrix


def _on(
    matrix: Matrix,
    on: Target,
    settings: SearchSettings,
    log_dir: str,
    say: Callable[[str], None],
) -> None:
    parameters: Parameters = checked_parameters(settings)
    cells = settings.cells(settings.eval_seeds)
    due = [
        (name, family, seed)
        for name in matrix.attacks
        for family, seed in cells
        if (name, str(on), family, seed) not in matrix.trials
    ]

    async def one(name: str, family: str, seed: int) -> None:
        trial = await play(parameters, matrix.attacks[name], family, seed)
        row = {"attack": name, "target": str(on), "trial": trial.model_dump(mode="json")}
        jsonl.append(matrix.path, row)
        matrix.trials[name, str(on), family, seed] = trial

    async def work() -> None:
        await collect(*(one(*cell) for cell in due))

    if due:
        in_inspect(work, model=on.agent, roles=on.roles, log_dir=log_dir)
    for name in matrix.attacks:
        broken = [trial.broken for trial in matrix.cell(name, str(on))]
        say(f"{name} on {on}: {rate(broken)}")
