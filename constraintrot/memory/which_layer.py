"""The search for the layer that loses the rule, with each layer alone and without it.

Every episode is played through all layers, through none, and for each layer through all others
and through this one alone. Results are stored in a file, episode by episode.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from inspect_ai import Task
from inspect_ai import eval as inspect_eval
from inspect_ai.dataset import Sample
from inspect_ai.model import get_model
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.tool import ToolInfo, ToolParams
from inspect_ai.util import JSONSchema

from constraintrot.errors import ConstraintRotError, EpisodeError, ParameterError
from constraintrot.evaluation.parameters import Parameters, read
from constraintrot.evaluation.solver import answer_form, staged
from constraintrot.grading.verdict import grade
from constraintrot.memory.harness.harness import Run, Stack
from constraintrot.memory.pipeline.context import PipelineOverflowError
from constraintrot.memory.pipeline.profiles import NAMES, PROFILES, Profile
from constraintrot.scenario.files import load, origin

ALL, NONE = "all", "none"
ROWS: Final = "rows.jsonl"
# Task parameters that the command sets itself.
_SET: Final = frozenset(["conditions", "harness", "variants", "seed"])
_FILLERS: Final = 20


@dataclass(frozen=True)
class Question:
    """The settings of a search: episodes, models and layers."""

    families: tuple[str, ...]
    variants: int  # the number of variants of each family
    model: str  # the agent's model, as Inspect names it
    # Models by role, as ``summarizer``.
    roles: Mapping[str, str] = field(default_factory=dict[str, str])
    profile: Profile = "kept"  # the profile of layers, ``kept`` or ``literal``
    # Further task parameters, such as ``rounds`` and ``channel``.
    parameters: Mapping[str, Any] = field(default_factory=dict[str, Any])
    seed: int = 0  # the seed of the first variant
    layers: tuple[str, ...] = ()  # the layers to test; empty for all of them

    def checked(self) -> Parameters:
        if given := sorted(_SET & set(self.parameters)):
            raise ParameterError(f"which-layer sets {', '.join(given)} itself; leave it out of -T")
        if self.profile not in PROFILES:
            raise ParameterError(f"profile is {' or '.join(PROFILES)}, not {self.profile!r}")
        if unknown := sorted(set(self.layers) - set(self.every)):
            raise ParameterError(
                f"no layer {unknown[0]!r} in profile {self.profile}; there are {', '.join(self.every)}"
            )
        if self.variants < 1:
            raise ParameterError("variants is a number of episodes, at least 1")
        return read({**self.parameters, "conditions": "compaction", "harness": "pipeline"})

    @property
    def every(self) -> tuple[str, ...]:
        return tuple(one for one in NAMES if not (self.profile == "literal" and one == "roles"))

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(one for one in self.every if not self.layers or one in self.layers)

    @property
    def arms(self) -> dict[str, frozenset[str]]:
        """The layers that are on, by arm."""
        every = frozenset(self.every)
        found = {ALL: every, NONE: frozenset[str]()}
        found |= {f"without {name}": every - {name} for name in self.names}
        return found | {f"only {name}": frozenset({name}) for name in self.names}

    @property
    def key(self) -> str:
        """A digest of the settings that an episode's result depends on."""
        told = [self.model, dict(self.roles), self.profile, dict(self.parameters)]
        locale = self.parameters.get("locale", "en")
        # A user's own file may be edited between two runs.
        told += [own for one in self.families if (own := origin(load(one, locale)))]
        return sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:12]


@dataclass(frozen=True)
class Row:
    """One episode through one arm."""

    key: str  # the digest of the question's settings
    family: str
    seed: int  # the seed of its variant
    arm: str  # the name of the enabled layers
    outcome: str  # the verdict; ``error`` if the machinery stopped
    kept: bool = False  # whether the policy's words were in the last input
    lost_at: str | None = None  # the layer that removed them
    replayed: str | None = None  # the cache that the answer came from
    reason: str = ""  # the reason of the verdict or the error

    @property
    def violated(self) -> bool:
        return self.outcome == "violated"

    @property
    def culprit(self) -> str | None:
        """The layer that removed the rule, or the cache that answered."""
        return self.replayed or self.lost_at


def fillers(number: int = _FILLERS) -> tuple[ToolInfo, ...]:
    """Return tools that no request needs, so that the pruning layer has tools to prune."""
    parameters = ToolParams(properties={"id": JSONSchema(type="string")}, required=["id"])
    return tuple(
        ToolInfo(
            name=f"badge_printer_{at:02}", description=f"Badge printer {at}: status of a print job.",
            parameters=parameters,
        )
        for at in range(number)
    )  # fmt: skip


def play(question: Question, folder: Path) -> list[Row]:
    """Play the episodes that the folder lacks, and return all rows of the question.

    Each finished episode is stored, so a killed run continues with the same call.
    """
    parameters = question.checked()
    wanted = list(_wanted(question, parameters))
    known = _known(question, folder)
    if todo := [one for one in wanted if one not in known]:
        folder.mkdir(parents=True, exist_ok=True)
        _evaluated(question, parameters, todo, folder)
        known = _known(question, folder)
    found = [known[one] for one in wanted]
    for arm in question.arms:
        failed = [row.reason for row in found if row.arm == arm and row.outcome == "error"]
        if len(failed) * len(question.arms) == len(found):
            raise ConstraintRotError(f"layers {arm!r}: no episode could be played ({failed[0]})")
    return found


def _known(question: Question, folder: Path) -> dict[tuple[str, int, str], Row]:
    key = question.key
    return {(row.family, row.seed, row.arm): row for row in rows(folder) if row.key == key}


def _wanted(question: Question, parameters: Parameters) -> Iterator[tuple[str, int, str]]:
    for name in question.families:
        seeds = load(name, parameters.locale).seeds(parameters.split)
        last = question.seed + question.variants - 1
        if question.seed not in seeds or last not in seeds:
            raise ParameterError(
                f"{name} has the seeds {seeds[0]} to {seeds[-1]}; these go from {question.seed} to"
                f" {last}"
            )
        for seed in range(question.seed, question.seed + question.variants):
            for arm in question.arms:
                yield name, seed, arm


def rows(folder: Path) -> list[Row]:
    """Read the rows of a folder, except a last line that a kill cut off."""
    path = folder / ROWS
    if not path.exists():
        return []
    # Invalid UTF-8 then fails as invalid JSON.
    lines = path.read_text(encoding="utf-8", errors="backslashreplace").splitlines(keepends=True)
    found: list[Row] = []
    try:
        for line in lines:
            if line.endswith("\n"):
                found.append(Row(**json.loads(line)))
    except (ValueError, TypeError) as error:
        raise ConstraintRotError(
            f"{path}, line {len(found) + 1}: no episode of which-layer's ({error}); put the file"
            " right, remove it, or name another folder by -o"
        ) from error
    return found


def _evaluated(
    question: Question, parameters: Parameters, todo: Sequence[tuple[str, int, str]], folder: Path
) -> None:
    _mended(folder / ROWS)
    dataset = [
        Sample(input="Which layer.", id=f"{name}-{seed}-{arm}", metadata={"episode": [name, seed, arm]})
        for name, seed, arm in todo
    ]  # fmt: skip
    task = Task(
        dataset=dataset, solver=_solver(question, parameters, folder / ROWS), name="which_layer"
    )
    (log,) = inspect_eval(
        task,
        model=question.model,
        model_roles=dict(question.roles),
        log_dir=str(folder / "logs"),
        display="none",
    )
    if log.status != "success":
        why = log.error.message if log.error else log.status
        raise ConstraintRotError(
            f"the run stopped ({why}); what was played is kept: go on with the same command"
        )


def _mended(path: Path) -> None:
    """Remove a last line that a kill cut off, before anything is appended."""
    if path.is_file():
        data = path.read_bytes()
        whole = data[: data.rfind(b"\n") + 1]
        if whole != data:
            path.write_bytes(whole)


@solver(name="which_layer")
def _solver(question: Question, parameters: Parameters, path: Path) -> Solver:
    (settings,) = parameters.plays
    arms = question.arms

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        name, seed, arm = state.metadata["episode"]
        form = answer_form(parameters, get_model(role="agent"))
        variant = load(name, parameters.locale).variant(seed, parameters.split)
        episode = staged(variant, parameters, settings, False, form)
        chosen = replace(settings, scaffold=form.scaffold, steps=parameters.steps)
        stack = Stack(question.profile, arms[arm], fillers(), primed=True, core=False)
        run = Run(episode, chosen, stack)
        try:
            played = await run.played()
        except (EpisodeError, PipelineOverflowError) as error:
            row = Row(question.key, name, seed, arm, "error", reason=str(error))
        else:
            verdict = grade(variant, played.calls, fault=played.fault, text=played.prose)
            row = Row(
                question.key, name, seed, arm, verdict.outcome, run.watch.holds(played.last_input),
                played.facts["lost_at"], played.facts["replayed"], verdict.reason,
            )  # fmt: skip
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(row)) + "\n")
        return state

    return solve
