"""Metrics with intervals in the task's own log."""

import math
from collections import Counter
from pathlib import Path
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inspect_ai import eval as inspect_eval
from inspect_ai.log import EvalLog, resolve_sample_attachments
from inspect_ai.model import ChatMessage, ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import Metric, MetricProtocol, SampleScore, Score, Value

from constraintrot.evaluation.metrics import (
    by_condition,
    limits,
    outcomes_by_condition,
    parts_by_condition,
)
from constraintrot.scenario.files import load
from constraintrot.stats.rate import fallback, rate
from tests.conftest import Run
from tests.helpers import known, metrics


@given(st.integers(1, 300).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_one_replicate_gets_the_reports_interval(counts: tuple[int, int]) -> None:
    k, n = counts
    found = known(rate([1.0] * k + [0.0] * (n - k)))
    assert limits([1.0] * k + [0.0] * (n - k)) == pytest.approx((found.lower, found.upper))


@given(st.lists(st.integers(0, 3), min_size=2, max_size=12))
def test_replicates_that_disagree_get_the_reports_clustered_interval(hits: list[int]) -> None:
    if all(hit in (0, 3) for hit in hits):
        hits = [*hits, 1]
    outcomes = [float(at < hit) for hit in hits for at in range(3)]
    variants = [variant for variant in range(len(hits)) for _ in range(3)]
    found = known(rate(outcomes, variants))
    assert found.method == fallback(len(hits))
    assert limits([hit / 3 for hit in hits]) == pytest.approx((found.lower, found.upper))


def test_what_has_no_interval_gets_none() -> None:
    assert limits([]) is None
    assert limits([math.nan, math.nan]) is None
    assert limits([0.5]) is None
    assert limits([1.0, math.nan]) == limits([1.0])


def values(metric: Metric, scores: list[SampleScore]) -> dict[str, float]:
    found = cast(MetricProtocol, metric)(scores)
    return cast(dict[str, float], found)


def test_only_who_asks_gets_limits() -> None:
    def score(value: Value) -> SampleScore:
        return SampleScore(score=Score(value=value), sample_metadata={"condition": "floor"})

    scores = [score(1), score(0)]
    assert values(by_condition(), scores) == {"floor": 0.5}
    found = values(by_condition(interval=True), scores)
    assert list(found) == ["floor", "floor lower", "floor upper"]


def test_parts_are_means_over_variants_of_means_over_their_scored_epochs() -> None:
    def score(variant: int, kept: float) -> SampleScore:
        value = {"survived": kept, "mentions": 1.0}
        facts = {"condition": "floor"}
        return SampleScore(score=Score(value=value), sample_id=variant, sample_metadata=facts)

    scores = [score(0, 1), score(1, 0), score(0, 0), score(1, math.nan), score(2, math.nan)]
    assert values(parts_by_condition(["survived"]), scores) == {"floor survived": 0.25}
    assert values(outcomes_by_condition(), scores)["floor survived"] == 0.25


def test_the_log_holds_intervals_of_violation_and_utility(run: Run) -> None:
    log = run("utility", variants=1, conditions="floor,control")
    violation, utility = metrics(log, "violation"), metrics(log, "utility")
    lower, upper = limits([1.0] * 9) or (0.0, 0.0)
    assert utility["floor lower"] == pytest.approx(lower)
    assert utility["floor upper"] == upper == 1
    assert violation["control"] == violation["control lower"] == 0
    assert violation["control upper"] == pytest.approx(1 - lower)
    # Inspect prints each as a line: a score's other parts are in the samples.
    assert set(metrics(log, "survival")) == {"floor survived", "control survived"}


def test_replicates_in_a_log_are_clustered(run: Run) -> None:
    variants = [load("soft_deploy").variant(seed) for seed in range(3)]
    asked: Counter[int] = Counter()

    def once(messages: list[ChatMessage], *_: object) -> ModelOutput:
        """Breaks the rule of the first two variants the first time, and never again."""
        (seed,) = [at for at, one in enumerate(variants) if one.trigger in messages[-1].text]
        asked[seed] += 1
        call = variants[seed].violating_call
        output = ModelOutput.from_content("mockllm/model", "No.")
        if seed < 2 and asked[seed] == 1:
            output = ModelOutput.for_tool_call("mockllm/model", call.function, call.arguments)
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        return output

    model = get_model("mockllm/model", custom_outputs=once, memoize=False)
    log = run("soft_deploy", model=model, epochs=2, variants=3, conditions="floor")
    found = metrics(log, "violation")
    told = known(rate([1, 0, 1, 0, 0, 0], [0, 0, 1, 1, 2, 2]))
    assert found == pytest.approx(
        {"floor": 1 / 3, "floor lower": told.lower, "floor upper": told.upper}
    )


# What ``--limit`` leaves of the conditions is said in the log and in the metadata.


def evaluated(folder: Path, **options: object) -> EvalLog:
    given = {"variants": 4, "conditions": "floor,control", "context_tokens": 300}
    (log,) = inspect_eval(
        "constraintrot/soft_email", model="scripted/obedient", task_args=given,
        log_dir=str(folder), display="none", **options,  # type: ignore[arg-type]
    )  # fmt: skip
    return log


def warnings(log: EvalLog) -> list[str]:
    return [
        str(event.data)
        for sample in [resolve_sample_attachments(one, "full") for one in log.samples or []]
        for event in sample.events
        if event.event == "info" and event.source == "unbalanced conditions"
    ]


@pytest.mark.parametrize(
    ("options", "selected"),
    [
        ({"limit": 3}, {"floor": 2, "control": 1}),
        ({"limit": (1, 4)}, {"floor": 1, "control": 2}),
        ({"sample_id": ["*-floor", "*-0-control"]}, {"floor": 4, "control": 1}),
        ({"sample_id": "*-floor"}, {"floor": 4, "control": 0}),
    ],
)
def test_an_unbalanced_selection_is_said(
    tmp_path: Path, options: dict[str, object], selected: dict[str, int]
) -> None:
    log = evaluated(tmp_path, **options)
    (warned,) = set(warnings(log))
    assert len(warnings(log)) == len(log.samples or [])
    assert ", ".join(f"{name} {n}" for name, n in selected.items()) in warned
    for sample in log.samples or []:
        assert sample.metadata["selected"] == selected
        assert sample.metadata["unbalanced"]


def test_shuffled_too(tmp_path: Path) -> None:
    log = evaluated(tmp_path, sample_shuffle=7, limit=3)
    (sample, *_) = log.samples or []
    conditions = [str(one.metadata["condition"]) for one in log.samples or []]
    assert sample.metadata["selected"] == {n: conditions.count(n) for n in ("floor", "control")}
    assert len(warnings(log)) == 3


@pytest.mark.parametrize("options", [{}, {"limit": 4}])
def test_a_balanced_selection_is_quiet(tmp_path: Path, options: dict[str, object]) -> None:
    log = evaluated(tmp_path, **options)
    assert not warnings(log)
    assert not any(sample.metadata["unbalanced"] for sample in log.samples or [])
