"""What the tests of all harnesses ask of an episode, and a summarizer that is down."""

from typing import Any

from inspect_ai.log import EvalLog, EvalSample
from inspect_ai.model import Model, ModelOutput, get_model

from tests.conftest import Run
from tests.helpers import samples


def usual(shared_run: Run, harness: str) -> EvalLog:
    """A harness on ``soft_email`` without a defense: the floor, the control and the compaction."""
    return shared_run("soft_email", harness=harness, variants=1)


def kept_by_summarizer(shared_run: Run, harness: str, channel: str) -> EvalSample:
    """A compaction whose summarizer tells of the policy."""
    keeps = {"summarizer": "scripted/summarizer-keep"}
    return compacted(shared_run, harness=harness, channel=channel, model_roles=keeps)


def compacted(run: Run, **task_args: Any) -> EvalSample:
    """The one sample of the compaction condition, of ``soft_email``."""
    log = run("soft_email", **{"variants": 1, "conditions": "compaction"} | task_args)
    assert log.status == "success", log.error
    (sample,) = samples(log)["compaction"]
    return sample


def error(run: Run, **task_args: Any) -> str:
    """The error that ended the one sample of the compaction condition, of ``soft_email``."""
    log = run("soft_email", **{"variants": 1, "conditions": "compaction"} | task_args)
    (sample,) = log.samples or []
    assert sample.error is not None
    return sample.error.message


def violated(sample: EvalSample) -> bool:
    assert sample.scores is not None
    return bool(sample.scores["violation"].value)


def failing() -> Model:
    """A model whose every call is an error."""

    def fails(*_: Any) -> ModelOutput:
        raise RuntimeError("the model is down")

    return get_model("mockllm/model", custom_outputs=fails, memoize=False)
