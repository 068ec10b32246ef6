"""What the firmware probes share: cells, samples, the score and its metric."""

from __future__ import annotations

import logging
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, cast

from inspect_ai import Task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import GenerateConfig, ModelOutput, ModelUsage
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, Value, metric, scorer
from inspect_ai.solver import TaskState, generate

from constraintrot.evaluation.metrics import SILENCE, mean
from constraintrot.tasks.probes import firmware
from constraintrot.tasks.probes.checker import find_call
from constraintrot.tasks.probes.firmware import CALL, CRITICAL, Side

Check: TypeAlias = Literal["confound", "ceiling"]

VERSION = 1
MAX_TOKENS = 400
CEILING = 0.75
"""The lowest ceiling that the paper reports, 15 of 20."""
_CUT = ("max_tokens", "model_length")

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Cell:
    """One compiled registry that a number of requests is put to.

    Attributes:
        name: in metrics and sample ids, one word.
        registry: the compiled prompt.
        side: where the request stands.
        check: what the cell checks, if it is no measurement.
        facts: further metadata of its samples.
    """

    name: str
    registry: str
    side: Side = "after"
    check: Check | None = None
    facts: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def sample(self, seed: int) -> Sample:
        """One request, as the exact model input."""
        return Sample(
            input=firmware.prompt(self.registry, seed, self.side),
            id=f"{self.name}-{seed}",
            metadata={
                "condition": self.name,
                "seed": seed,
                "side": self.side,
                "check": self.check,
                "critical_held": CALL in self.registry,
                **self.facts,
            },
        )


def samples(cells: Iterable[Cell], seeds: Sequence[int]) -> list[Sample]:
    """Samples in the order that lets a prefix cache help the most.

    Prompts that begin with the registry follow each other by registry, those
    that begin with the request by request.
    """
    found = list(cells)
    after = [(cell, seed) for cell in found for seed in seeds if cell.side == "after"]
    before = [(cell, seed) for seed in seeds for cell in found if cell.side == "before"]
    return [cell.sample(seed) for cell, seed in (*after, *before)]


def assemble(name: str, found: list[Sample]) -> Task:
    """A task that puts each prompt to the model once."""
    return Task(
        dataset=MemoryDataset(found, name=name),
        solver=generate(),
        scorer=critical_call(),
        # An initialisation function is short; a model that goes on is cut off.
        config=GenerateConfig(max_tokens=MAX_TOKENS),
        name=name,
        version=VERSION,
    )


@metric
def by_cell() -> Metric:
    """Means by cell, and prompt tokens for each success; warns of cells that say little."""

    def compute(scores: list[SampleScore]) -> Value:
        found: dict[str, float] = {}
        cells: dict[str, list[SampleScore]] = defaultdict(list)
        for score in scores:
            cells[str((score.sample_metadata or {})["condition"])].append(score)
        for name, cell in cells.items():
            columns = _columns(cell)
            found |= {f"{name} {part}": mean(values) for part, values in columns.items()}
            found[f"{name} tokens_per_success"] = _price(columns)
            _warn(name, (cell[0].sample_metadata or {}).get("check"), found)
        return cast(Value, found)

    return compute


@scorer(metrics=[by_cell()])
def critical_call() -> Scorer:
    """Whether the answer calls what the critical block orders.

    ``success`` is unscored where nothing is decided: no code at all, or an answer
    that was cut off before the call; ``undecided`` counts those. ``prompt_tokens``
    are the model's own count.
    """

    async def score(state: TaskState, target: Target) -> Score:
        finding = find_call(state.output.completion, CALL)
        cut = finding == "absent" and state.output.stop_reason in _CUT
        undecided = cut or finding == "no_code"
        return Score(
            value={
                "success": math.nan if undecided else float(finding == "called"),
                "undecided": float(undecided),
                "prompt_tokens": prompt_tokens(state.output),
                "critical_held": float(state.metadata["critical_held"]),
            },
            answer=state.output.completion,
            explanation=f"{CRITICAL}: {'cut off' if cut else finding}",
        )

    return score


def prompt_tokens(output: ModelOutput) -> float:
    """Tokens of the prompt, those from a cache included; nan where the model reports none."""
    return math.nan if output.usage is None else float(_prompt(output.usage))


def _prompt(usage: ModelUsage) -> int:
    cached = (usage.input_tokens_cache_read or 0) + (usage.input_tokens_cache_write or 0)
    return usage.input_tokens + cached


def _columns(cell: Sequence[SampleScore]) -> dict[str, list[float]]:
    columns: dict[str, list[float]] = defaultdict(list)
    for score in cell:
        for part, value in score.score.as_dict().items():
            columns[part].append(float(cast(float, value)))
    return columns


def _price(columns: Mapping[str, list[float]]) -> float:
    """Prompt tokens of all answers over the number of successes; nan without any."""
    successes = math.fsum(value for value in columns["success"] if not math.isnan(value))
    return math.fsum(columns["prompt_tokens"]) / successes if successes else math.nan


def _warn(name: str, check: Check | None, found: Mapping[str, float]) -> None:
    success = found[f"{name} success"]
    if check == "confound" and success > 0:
        logger.warning(
            "%s: %s is called in %.0f %% of answers without the block that orders it, so"
            " a success elsewhere need not come from the block",
            *(name, CALL, 100 * success),
        )
    # A ceiling of which nothing is decided (nan) is no ceiling either.
    if check == "ceiling" and not success >= CEILING:
        logger.warning(
            "%s: with the critical block alone the model succeeds in %.0f %%; below %.0f %% a"
            " failure elsewhere need not come from the position",
            *(name, 100 * success, 100 * CEILING),
        )
    if found[f"{name} undecided"] > SILENCE:
        logger.warning(
            "%s: %.0f %% of answers hold no code or were cut off, and are left out of success",
            *(name, 100 * found[f"{name} undecided"]),
        )
