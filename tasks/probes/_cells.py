"""Cells, samples, score and metric of the firmware probes, and the search for a call."""

import logging
import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias, cast

from inspect_ai import Task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import GenerateConfig, ModelOutput, ModelUsage
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, Value, metric, scorer
from inspect_ai.solver import TaskState, generate

from constraintrot.evaluation.metrics import mean
from constraintrot.grading.outcome_status import SILENCE
from constraintrot.tasks.probes import firmware
from constraintrot.tasks.probes.firmware import CALL, CRITICAL, Side

Finding: TypeAlias = Literal["called", "absent", "no_code"]

_FENCED: Final = re.compile(
    r"^[ \t]*(?P<mark>`{3,}|~{3,})[^\n]*\n(?P<code>.*?)(?:^[ \t]*(?P=mark)[`~]*[ \t\r]*$|\Z)",
    re.DOTALL | re.MULTILINE,
)
# Strings are matched too, so that a comment mark within a string is ignored.
_NOT_CODE: Final = re.compile(
    r"""//(?:\\\r?\n|[^\n])*|/\*.*?(?:\*/|\Z)|"(?:\\.|[^"\\\n])*"|'(?:\\[^\n]{1,4}|[^'\\\n])'""",
    re.DOTALL,
)
_DISABLED: Final = re.compile(
    r"^[ \t]*#[ \t]*if[ \t]+0\b.*?(?:^[ \t]*#[ \t]*(?:endif|else|elif)\b[^\n]*|\Z)",
    re.DOTALL | re.MULTILINE,
)
_CODE_LINE: Final = re.compile(
    r"^[ \t]*(?:#[ \t]*(?:include|define)\b|.*[;{}][ \t\r]*$)", re.MULTILINE
)
_BEFORE_A_CALL: Final = ("else", "do", "return")


def find_call(answer: str, call: str) -> Finding:
    """Search an answer for a call.

    The paper's criterion (section 3.1) is the exact literal on a line that is not commented out.
    This one is narrower in three ways: if the answer has fenced blocks, only those are code;
    declarations do not count; and code disabled by ``#if 0`` does not count.
    """
    code = _stripped(_code(answer))
    if any(_is_statement(code[: match.start()]) for match in _statements(code, call)):
        return "called"
    return "absent" if _CODE_LINE.search(code) else "no_code"


def _code(answer: str) -> str:
    fenced = [match["code"] for match in _FENCED.finditer(answer)]
    return "\n".join(fenced) if fenced else answer


def _stripped(code: str) -> str:
    return _DISABLED.sub("", _NOT_CODE.sub(_blank, code))


def _blank(match: re.Match[str]) -> str:
    text = match[0]
    if text[0] in "\"'":
        return text[0] * 2
    # Text after a block comment stays on its line.
    return "\n" * text.count("\n") if "\n" in text else " "


def _statements(code: str, call: str) -> list[re.Match[str]]:
    return list(re.finditer(rf"{re.escape(call)}[ \t]*;", code))


def _is_statement(before: str) -> bool:
    """Return whether the text before a call allows it to be a statement."""
    line = before.rpartition("\n")[2]
    if line.lstrip().startswith("#"):
        return False
    if re.search(r"[\w.>*&]$", line):
        return False
    word = re.search(r"(\w+|\*)[ \t]+$", line)
    return word is None or word[1] in _BEFORE_A_CALL


Check: TypeAlias = Literal["confound", "ceiling"]

VERSION = 1
MAX_TOKENS = 400
CEILING = 0.75
"""Lowest success rate of the critical block alone in the paper, 15 of 20."""
_CUT = ("max_tokens", "model_length")

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Cell:
    """One compiled registry, for several requests.

    Attributes:
        side: whether the request comes before or after the registry.
        check: the check of the cell; None for a measurement.
    """

    name: str
    registry: str
    side: Side = "after"
    check: Check | None = None
    facts: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def sample(self, seed: int) -> Sample:
        """Return the sample of one request; its input is the exact model input."""
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
    """Samples of all cells and seeds; prompts that start alike are adjacent, for prefix caches."""
    all_cells = list(cells)
    after = [(cell, seed) for cell in all_cells for seed in seeds if cell.side == "after"]
    before = [(cell, seed) for seed in seeds for cell in all_cells if cell.side == "before"]
    return [cell.sample(seed) for cell, seed in (*after, *before)]


def assemble(name: str, samples: list[Sample]) -> Task:
    """Return a task that sends each prompt to the model once."""
    return Task(
        dataset=MemoryDataset(samples, name=name),
        solver=generate(),
        scorer=critical_call(),
        # An initialisation function is short; a longer answer is cut off.
        config=GenerateConfig(max_tokens=MAX_TOKENS),
        name=name,
        version=VERSION,
    )


@metric
def by_cell() -> Metric:
    """Means by cell, and prompt tokens per success; warns of cells that are not conclusive."""

    def compute(scores: list[SampleScore]) -> Value:
        values_by_key: dict[str, float] = {}
        cells: dict[str, list[SampleScore]] = defaultdict(list)
        for score in scores:
            cells[str((score.sample_metadata or {})["condition"])].append(score)
        for name, cell in cells.items():
            columns = _columns(cell)
            values_by_key |= {f"{name} {part}": mean(values) for part, values in columns.items()}
            values_by_key[f"{name} tokens_per_success"] = _price(columns)
            _warn(name, (cell[0].sample_metadata or {}).get("check"), values_by_key)
        return cast("Value", values_by_key)

    return compute


@scorer(metrics=[by_cell()])
def critical_call() -> Scorer:
    """Score whether the answer calls the function that the critical block requires.

    ``success`` is unscored if the answer has no code, or was cut off before the call;
    ``undecided`` is 1 then. ``prompt_tokens`` is the provider's count.
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
    """Return the prompt's tokens, cached ones included; nan if the provider reports no usage."""
    return math.nan if output.usage is None else float(_prompt(output.usage))


def _prompt(usage: ModelUsage) -> int:
    cached = (usage.input_tokens_cache_read or 0) + (usage.input_tokens_cache_write or 0)
    return usage.input_tokens + cached


def _columns(cell: Sequence[SampleScore]) -> dict[str, list[float]]:
    columns: dict[str, list[float]] = defaultdict(list)
    for score in cell:
        for part, value in score.score.as_dict().items():
            columns[part].append(float(cast("float", value)))
    return columns


def _price(columns: Mapping[str, list[float]]) -> float:
    """Return the prompt tokens of all answers over the successes; nan without a success."""
    successes = math.fsum(value for value in columns["success"] if not math.isnan(value))
    return math.fsum(columns["prompt_tokens"]) / successes if successes else math.nan


def _warn(name: str, check: Check | None, values: Mapping[str, float]) -> None:
    success = values[f"{name} success"]
    if check == "confound" and success > 0:
        logger.warning(
            "%s: %s is called in %.0f %% of answers without the block that requires it, so"
            " a success elsewhere need not come from the block",
            *(name, CALL, 100 * success),
        )
    # Written so that nan, if no answer is decided, warns too.
    if check == "ceiling" and not success >= CEILING:
        logger.warning(
            "%s: with the critical block alone the model succeeds in %.0f %%; below %.0f %% a"
            " failure elsewhere need not come from the position",
            *(name, 100 * success, 100 * CEILING),
        )
    if values[f"{name} undecided"] > SILENCE:
        logger.warning(
            "%s: %.0f %% of answers hold no code or were cut off, and are left out of success",
            *(name, 100 * values[f"{name} undecided"]),
        )
