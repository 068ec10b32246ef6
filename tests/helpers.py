"""What several tests ask of a log."""

from __future__ import annotations

from collections import defaultdict

from inspect_ai.log import EvalLog, EvalSample


def by_condition(log: EvalLog, score: str = "violation") -> dict[str, float]:
    """A score's metrics by condition, as the log's results hold them."""
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
