"""The transfer matrix: prompts found on one target, played on others.

All prompts, and no attack, are played on the same held-out variants, so a column
compares attacks and a row compares targets. Every episode is appended to a log, as in
a search, and a run that was killed can be resumed.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from inspect_ai.util import collect
from pydantic import ValidationError

from constraintrot.attacks import Chosen
from constraintrot.attacks.search_results import jsonl
from constraintrot.attacks.search_results.journal import Journal
from constraintrot.attacks.search_results.trial import SearchSettings, Trial, as_attack, best
from constraintrot.errors import ParameterError
from constraintrot.report.tables import Table
from constraintrot.runs.attack_search.report import rate, unheeded
from constraintrot.runs.attack_search.run import checked_parameters, in_inspect, play, played
from constraintrot.runs.plan import Size
from constraintrot.runs.play import alone

FORMAT = "constraintrot-attack-transfer"
NO_ATTACK = "no attack"


@dataclass(frozen=True)
class Target:
    """The models that prompts are played on, written ``AGENT`` or ``AGENT+SUMMARIZER``."""

    agent: str
    roles: dict[str, str]

    def __str__(self) -> str:
        named = "+".join(filter(None, [self.agent, self.roles.get("summarizer")]))
        others = sorted(self.roles.keys() - {"summarizer"})
        return named + "".join(f", {role} {self.roles[role]}" for role in others)


@dataclass
class Matrix:
    """The episodes of a transfer.

    Attributes:
        attacks: attacks by the name of their search; None for ``NO_ATTACK``.
        trials: episodes by attack, target, family and seed.
    """

    path: Path
    attacks: dict[str, Chosen | None]
    targets: list[Target]
    trials: dict[tuple[str, str, str, int], Trial] = field(
        default_factory=dict[tuple[str, str, str, int], Trial]
    )

    def cell(self, attack: str, target: str) -> list[Trial]:
        trials = [t for key, t in self.trials.items() if key[:2] == (attack, target)]
        return sorted(trials, key=lambda trial: (trial.family, trial.seed))


def target(text: str, roles: dict[str, str]) -> Target:
    """Parse ``AGENT`` or ``AGENT+SUMMARIZER``."""
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
    """Play each search's best prompt, and no attack, on each target.

    Searches without a successful prompt are left out, with a line of progress. ``defense`` is
    by default that of the searches. The log at ``path`` is created or continued.
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
    with alone(path, folder=False):
        matrix = _opened(path, settings, attacks, targets)
        for one in targets:
            _on(matrix, one, settings, log_dir, say)
    return matrix


def sizes(searches: Sequence[Journal], targets: Sequence[Target]) -> dict[str, Size]:
    """Return the largest size of a transfer by the target's agent: each prompt, and no attack."""
    found: dict[str, Size] = {}
    for one in targets:
        settings = searches[0].settings
        size = played(settings, (len(searches) + 1) * settings.eval_variants)
        found[one.agent] = found.get(one.agent, Size()) + size
    return found


def text(matrix: Matrix) -> str:
    """Return the matrix as text: rates of broken variants by attack (row) and target (column)."""
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
    warned = [line for on in named for line in unheeded(f"On {on}", matrix.cell(NO_ATTACK, on))]
    return "\n".join([Table(["found on", *named], rows).text(), "", note, *warned])


def _best(search: Journal, say: Callable[[str], None]) -> dict[str, Chosen | None]:
    most, settings = best(search.history()), search.settings
    where = settings.channel, settings.position
    name = f"{settings.target}, {settings.strategy}, {settings.defense}"
    # Without the default place, as in files of earlier releases.
    name += "" if where == ("tool_output", "early") else f", {', '.join(where)}"
    if most is None or not most.broken:
        say(f"{search.path}: the search on {name} found nothing, and is left out")
        return {}
    # Distinguishes two searches of one target.
    name += f" #{sha256(most.candidate.text.encode()).hexdigest()[:6]}"
    return {name: as_attack(name, most.candidate, settings)}


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
    parameters = checked_parameters(settings)
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
