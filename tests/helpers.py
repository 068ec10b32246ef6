"""What several tests ask of a log."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Any

import pytest
from inspect_ai.log import EvalLog, EvalSample
from inspect_ai.model import Model, ModelOutput, ModelUsage, get_model

from constraintrot.components import ComponentRegistry
from constraintrot.defenses import DEFENSES, HOOKS, Defense, DefenseSpec


def by_condition(log: EvalLog, score: str = "violation") -> dict[str, float]:
    """A score's means by condition, as the log's results hold them, less their intervals."""
    ends = (" lower", " upper")
    return {name: mean for name, mean in metrics(log, score).items() if not name.endswith(ends)}


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

    def answer(*_: Any) -> ModelOutput:
        output = ModelOutput.from_content(
            "mockllm/model", text if isinstance(text, str) else text()
        )
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        return output

    return get_model("mockllm/model", custom_outputs=answer, memoize=False)


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
