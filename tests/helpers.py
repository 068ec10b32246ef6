"""What several tests ask of a log."""

from collections import defaultdict
from collections.abc import Callable, Container, Iterable
from typing import Any, cast

import pytest
from _pytest.mark import ParameterSet
from inspect_ai.log import EvalLog, EvalSample
from inspect_ai.model import Model, ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import SampleScore

from constraintrot.components import ComponentRegistry
from constraintrot.defenses import DEFENSES, HOOKS, Defense, DefenseSpec
from constraintrot.evaluation.metrics import by_condition as metrics_by_condition
from constraintrot.stats.interval import Estimate, Interval

# Lengths of a text over which a slow pattern takes too long: what is quadratic takes a hundred
# times as long for the whole text. The first is odd, so that of many quotes one stays open.
AT_LENGTHS = pytest.mark.parametrize(
    "length", [20_001, pytest.param(200_000, marks=pytest.mark.soak)]
)


# One family's task, and in `make soak` that of all of them.
A_FAMILY_OR_ALL = pytest.mark.parametrize(
    "task", ["soft_deploy", pytest.param("suite", marks=pytest.mark.soak)]
)


def shortened(text: str, length: int) -> str:
    """A text at a length, less of its middle: its end is what makes some patterns go back."""
    return text if len(text) <= length else text[: length - 20] + text[-20:]


def longest_seconds(length: int) -> float:
    """How long the reading of such a text may take.

    What is read in quadratic time takes minutes at full length, in `make soak`. The shorter
    texts of `make test` leave room for a busy machine.
    """
    return 20 if length < 50_000 else length / 50_000


def soaked(values: Iterable[Any], keep: Container[Any]) -> list[Any]:
    """The values of a parameter: those to keep for `make test`, and the others for `make soak`."""

    def param(value: Any) -> ParameterSet:
        parts = value if isinstance(value, tuple) else (value,)
        return pytest.param(*parts, marks=() if value in keep else pytest.mark.soak)

    return [param(value) for value in values]


def first(few: int, of: int) -> pytest.MarkDecorator:
    """A parameter ``seeds``: the first few for `make test`, and all of them for `make soak`."""
    every = pytest.param(range(of), marks=pytest.mark.soak)
    return pytest.mark.parametrize("seeds", [range(few), every], ids=["few", "all"])


def known(found: Estimate) -> Interval:
    """An estimate that has to have an interval."""
    assert isinstance(found, Interval)
    return found


def by_condition(log: EvalLog, score: str = "violation") -> dict[str, float]:
    """A score's means by condition, as the log's results hold them, less their intervals."""
    ends = (" lower", " upper")
    return {name: mean for name, mean in metrics(log, score).items() if not name.endswith(ends)}


def shares(log: EvalLog, score: str = "survival") -> dict[str, float]:
    """The means by condition of all parts of a score, those too that the log's results leave out."""
    found = [
        SampleScore(score=(sample.scores or {})[score], sample_metadata=sample.metadata)
        for sample in log.samples or []
    ]
    made: Any = metrics_by_condition()
    return cast("dict[str, float]", made(found))


def metrics(log: EvalLog, score: str) -> dict[str, float]:
    """All metrics of a score."""
    assert log.results is not None
    (found,) = [entry for entry in log.results.scores if entry.name == score]
    return {name: metric.value for name, metric in found.metrics.items()}


def samples(log: EvalLog) -> dict[str, list[EvalSample]]:
    """Samples by condition."""
    found: dict[str, list[EvalSample]] = defaultdict(list)
    for sample in log.samples or []:
        assert sample.error is None, sample.error.message
        found[sample.metadata["condition"]].append(sample)
    return found


def answering(text: str | Callable[[], str]) -> Model:
    """A model that always answers the same text; its usage spares a network count."""
    return playing(lambda *_: text if isinstance(text, str) else text())


def playing(answer: Callable[..., str | tuple[str, dict[str, Any]]]) -> Model:
    """A model that says a text or calls a tool, as a function of its messages and tools has it."""

    def output(*given: Any) -> ModelOutput:
        said = answer(*given[:2])
        made = (
            ModelOutput.from_content("mockllm/model", said)
            if isinstance(said, str)
            else ModelOutput.for_tool_call("mockllm/model", *said)
        )
        made.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        return made

    return get_model("mockllm/model", custom_outputs=output, memoize=False)


def register(
    monkeypatch: pytest.MonkeyPatch, registry: ComponentRegistry[Any], name: str, component: object
) -> None:
    """Register a component for one test."""
    # Complete first, so that what is loaded later does not clash with it.
    registry.names()
    monkeypatch.setitem(registry._components, name, component)


def defended(
    monkeypatch: pytest.MonkeyPatch, name: str, make: Callable[[], Defense], declared: bool = False
) -> None:
    """Register a defense for one test."""
    register(monkeypatch, DEFENSES, name, DefenseSpec(lambda _: make(), HOOKS, declared))
