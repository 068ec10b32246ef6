"""What the tests of all harnesses ask of an episode, and a summarizer that is down."""

from __future__ import annotations

from typing import Any

from inspect_ai.log import EvalSample
from inspect_ai.model import Model, ModelOutput, get_model

from tests.conftest import Run
from tests.helpers import samples


def compacted(run: Run, **task_args: Any) -> EvalSample:
    """The one sample of the compaction condition, of ``soft_email`` unless a ``family`` is given."""
    family = task_args.pop("family", "soft_email")
    log = run(family, **{"variants": 1, "conditions": "compaction"} | task_args)
    assert log.status == "success", log.error
    (sample,) = samples(log)["compaction"]
    return sample


def violated(sample: EvalSample) -> bool:
    assert sample.scores is not None
    return bool(sample.scores["violation"].value)


def failing() -> Model:
    """A model whose every call is an error."""

    def fails(*_: Any) -> ModelOutput:
        raise RuntimeError("the summarizer is down")

    return get_model("mockllm/model", custom_outputs=fails, memoize=False)
