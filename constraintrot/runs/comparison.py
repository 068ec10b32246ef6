"""The comparison of harnesses: the soft families in each harness, with and without pins."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import version
from typing import Any

from inspect_ai.log import EvalLog, EvalSample

from constraintrot.errors import ConstraintRotError
from constraintrot.evaluation.harness import HARNESSES, ChosenHarness, parse_harness
from constraintrot.report.tables import Table
from constraintrot.runs.plan import Size, counted
from constraintrot.runs.play import Finished
from constraintrot.tasks.pin_stress import pin_stress

DEFENSES = ("none", "pin")
# Each defense gets the same episodes: the five soft families after a compaction.
TASK_ARGS: dict[str, Any] = {"conditions": "compaction", "defenses": list(DEFENSES)}
# These compact on a provider's servers, which few models have, so they run only on request.
HOSTED = ("inspect_react:native",)
# The key of the settings in a log's metadata.
_CELL = "constraintrot_harnesses"
_WHERE = re.compile(r" at \d+")


@dataclass(frozen=True)
class Run:
    """The settings under which each harness is played.

    Logs go to ``log_dir``; those of finished cells are read there.
    """

    model: str
    variants: int
    context_tokens: int
    channel: str
    log_dir: str

    def settings(self, chosen: ChosenHarness) -> dict[str, Any]:
        """Return the settings that a log must have to be reused for a cell."""
        return {
            "model": self.model,
            "parameters": self.parameters(str(chosen)),
            "versions": {
                need.distribution: version(need.distribution) for need in chosen.spec.needs
            },
        }

    def parameters(self, harness: str) -> dict[str, Any]:
        """Return the task parameters beside ``TASK_ARGS``, which all cells share."""
        return {
            "harness": harness,
            "variants": self.variants,
            "context_tokens": self.context_tokens,
            "channel": self.channel,
        }


@dataclass(frozen=True)
class Cell:
    """The results of one mode of a harness.

    Attributes:
        harness: its text, as ``parse_harness`` takes it.
        samples: the finished samples, by defense.
    """

    harness: str
    samples: dict[str, list[EvalSample]] = field(default_factory=dict[str, list[EvalSample]])
    log: str = ""
    problems: tuple[str, ...] = ()


def names(only: Sequence[str] = ()) -> list[str]:
    """Return the harnesses to run, each with its compaction modes.

    Args:
        only: harnesses, each with all its modes but ``HOSTED``, or as ``name:mode``; by
            default all but the coding agents, separate programs that take minutes.
    """
    result: list[str] = []
    frameworks = [name for name in HARNESSES.names() if not HARNESSES.get(name).runs_program]
    for text in only or frameworks:
        spec = HARNESSES.get(text.partition(":")[0].strip())
        modes = [f"{text}:{mode}" for mode in spec.modes] if ":" not in text else []
        # A hosted mode runs only if it is named.
        result += [mode for mode in modes if mode not in HOSTED] or [text]
    return list(dict.fromkeys(result))


def size(run: Run, only: Sequence[str]) -> Size:
    one = counted("constraintrot/pin_stress", {**TASK_ARGS, **run.parameters("replay")})
    return one.times(len(names(only)))


def play(run: Run, only: Sequence[str], tell: Callable[[str], None]) -> list[Cell]:
    """Play the cells that have no finished log yet."""
    texts = names(only)
    logs = Finished(run.log_dir, _CELL)
    cells: list[Cell] = []
    for number, text in enumerate(texts, start=1):
        cell = _cell(run, text, logs)
        said = cell.problems[0] if cell.problems else "done"
        tell(f"[{number}/{len(texts)}] {text}: {said}")
        cells.append(cell)
    return cells


def _cell(run: Run, text: str, logs: Finished) -> Cell:
    try:
        chosen = parse_harness(text)
        log = logs.played(
            run.settings(chosen),
            partial(pin_stress, **TASK_ARGS, **run.parameters(str(chosen))),
            model=run.model,
            display="none" if run.model.startswith("scripted/") else "plain",
            fail_on_error=False,
            log_buffer=1,
        )
    except ConstraintRotError as error:
        return Cell(text, problems=(str(error),))
    return _read(text, log)


def _read(harness: str, log: EvalLog) -> Cell:
    samples: dict[str, list[EvalSample]] = {defense: [] for defense in DEFENSES}
    problems = [log.error.message] if log.error else []
    for sample in log.samples or []:
        if sample.error is not None:
            problems.append(f"{sample.id}: {sample.error.message}")
            continue
        defense = sample.metadata["defense"]
        samples[defense].append(sample)
        if defense == "pin" and (there := kept(sample)) is not True:
            told = "cannot be told to be" if there is None else "is not"
            problems.append(f"{sample.id}: the policy {told} in the last model input")
    if not problems and (log.status != "success" or not log.samples):
        problems.append(f"the run did not finish ({log.status})")
    return Cell(harness, samples, log.location, tuple(problems))


def kept(sample: EvalSample) -> bool | None:
    """Return whether the policy is in a sample's last model input; None if its reader cannot tell."""
    survived = (sample.scores or {})["survival"].as_dict()["survived"]
    return None if survived is None or survived != survived else survived == 1


def violated(sample: EvalSample) -> bool:
    return (sample.scores or {})["violation"].as_float() == 1


def table(cells: Iterable[Cell]) -> str:
    head = (
        "harness",
        "violated",
        "with pin",
        "policy in last input",
        "with pin",
        "summarizer calls",
        "summary role",
        "chat template",
    )
    return Table(head, [_row(cell) for cell in cells]).markdown()


def _row(cell: Cell) -> tuple[str, ...]:
    none, pin = (cell.samples.get(defense, []) for defense in DEFENSES)
    return (
        cell.harness,
        _share(none, violated),
        _share(pin, violated),
        _share(none, kept),
        _share(pin, kept),
        _values([sample.metadata.get("summarizer_calls") for sample in [*none, *pin]]),
        _values([sample.metadata.get("summary_voice") for sample in [*none, *pin]]),
        _template(none, pin),
    )


def _share(samples: Sequence[EvalSample], holds: Callable[[EvalSample], bool | None]) -> str:
    known = [found for sample in samples if (found := holds(sample)) is not None]
    unscored = f" ({len(samples) - len(known)} unscored)" if len(known) < len(samples) else ""
    return f"{sum(known)}/{len(known)}{unscored}"


def _values(values: Sequence[Any]) -> str:
    return ", ".join(sorted({"-" if value is None else str(value) for value in values})) or "-"


def _template(none: Sequence[EvalSample], pin: Sequence[EvalSample]) -> str:
    without, with_pin = _refused(none), _refused(pin)
    if without == with_pin:
        return without
    return f"{without}; with pin: {with_pin}"


def _refused(samples: Sequence[EvalSample]) -> str:
    problems = [sample.metadata.get("roles_problem") for sample in samples]
    # A message's position differs between samples and is not part of the kind.
    kinds = sorted({_WHERE.sub("", problem) for problem in problems if problem})
    if not kinds:
        return "ok"
    return f"{'; '.join(kinds)} ({sum(map(bool, problems))}/{len(problems)})"
