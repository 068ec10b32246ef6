"""Constraint Pinning in the OpenAI Agents SDK: a filter of the model's input, or the model.

>>> from agents import RunConfig
>>> from agents.run import ModelInputData
>>> from constraintrot.defenses.pinning.pinned_block import PinnedBlock
>>> from constraintrot.defenses.rampart import Principal, Registry
>>> operator = Principal("operator")
>>> rules = Registry(operator)
>>> block = rules.pin("Send email only to addresses at example.org.", by=operator)
>>> config = RunConfig(call_model_input_filter=pin_filter(rules))
>>> sent = pinned(ModelInputData(input=[], instructions="Be brief."), PinnedBlock(rules))
>>> "example.org" in sent.instructions
True
"""

import inspect
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

from agents import Model, ModelSettings, MultiProvider, custom_span, get_current_trace
from agents.run import CallModelData, CallModelInputFilter, ModelInputData

from constraintrot.defenses.pinning.message_list import DICTS, refuse_replacing
from constraintrot.defenses.pinning.pinned_block import (
    HEADING,
    PinnedBlock,
    Receipt,
    Report,
    log_receipt,
)
from constraintrot.defenses.rampart import Registry
from constraintrot.errors import ParameterError
from constraintrot.harnesses.pinning_copy import pinned_blocks, pinning_copy

M = TypeVar("M", bound=Model)
SPAN = "constraintrot.pins"


def trace_receipt(receipt: Receipt) -> None:
    """Log a receipt, and record it as a custom span if a trace is open."""
    log_receipt(receipt)
    # Without a trace the span would be dropped.
    if get_current_trace() is not None:
        with custom_span(SPAN, receipt.model_dump(mode="json")):
            pass


def pinned(data: ModelInputData, pinned_block: PinnedBlock) -> ModelInputData:
    """A model's input with the pins at the end of its instructions, and only there."""
    items, said = DICTS.beside(data.input, data.instructions, pinned_block)
    instructions = None if data.instructions is None and not said else str(said)
    return ModelInputData(input=items, instructions=instructions)


def pin_filter(
    pins: Registry | PinnedBlock,
    inner: CallModelInputFilter | None = None,
    *,
    heading: str = HEADING,
    report: Report = trace_receipt,
) -> Callable[[CallModelData[Any]], Awaitable[ModelInputData]]:
    """Return a ``RunConfig.call_model_input_filter`` that pins in the instructions.

    The Runner calls it right before every model call, with ``run``, ``run_sync`` and
    ``run_streamed``. This includes handoffs, and agents as tools unless ``as_tool`` got a
    ``run_config`` without the filter. A guardrail or tool that calls ``Runner.run`` itself
    starts a run without the filter; in that case give each agent a ``pinned_model``. A
    session never sees the filter's changes.

    ``inner`` is another filter, which runs first, such as a ``ToolOutputTrimmer``. A
    PinnedBlock has a heading and a report of its own; by default receipts go to the logger
    ``constraintrot.pins`` and a custom span of an open trace.
    """
    pinned_block = PinnedBlock.of(pins, heading=heading, report=report)

    async def pin(data: CallModelData[Any]) -> ModelInputData:
        model_data = data.model_data
        if inner is not None:
            found = inner(data)
            model_data = await found if inspect.isawaitable(found) else found
        return pinned(model_data, pinned_block)

    return pin


def pinned_model(
    model: M | str,
    pins: Registry | PinnedBlock,
    *,
    heading: str = HEADING,
    report: Report = trace_receipt,
) -> M | Model:
    """Return a copy of a model that sends no request without the pins, in any run.

    So the pin belongs to the agent: ``Agent(model=pinned_model("gpt-5.5", rules))``. A run's
    filters run before it. With a ``pin_filter`` too, the pins are there only once.

    A name is looked up by the SDK's own providers. The other arguments are those of
    ``pin_filter``.

    Raises:
        ParameterError: it is no model of the SDK's; at a call, the model's settings have an
            extra argument that would replace the pins.
    """
    pinned_block = PinnedBlock.of(pins, heading=heading, report=report)
    found = MultiProvider().get_model(model) if isinstance(model, str) else model
    if not isinstance(found, Model):  # callers may be untyped
        raise ParameterError(f"a {type(found).__name__} is no agents.Model")
    return pinning_copy(found, pinned_block, _methods)


def _methods(kind: type[Any]) -> Mapping[str, Any]:
    """Return the methods that pin a model's requests, whole and streamed."""

    async def get_response(
        self: Any,
        system_instructions: Any,
        input: Any,
        model_settings: Any,
        *rest: Any,
        **given: Any,
    ) -> Any:
        said, items = _into(self, system_instructions, input, model_settings)
        return await kind.get_response(self, said, items, model_settings, *rest, **given)

    async def stream_response(
        self: Any,
        system_instructions: Any,
        input: Any,
        model_settings: Any,
        *rest: Any,
        **given: Any,
    ) -> Any:
        said, items = _into(self, system_instructions, input, model_settings)
        async for event in kind.stream_response(self, said, items, model_settings, *rest, **given):
            yield event

    return {"get_response": get_response, "stream_response": stream_response}


def _into(model: Any, said: str | None, items: Any, settings: ModelSettings) -> tuple[Any, Any]:
    """The instructions and the input of a request, with a model's pins."""
    for pinned_block in pinned_blocks(model):
        refuse_replacing(pinned_block, settings.extra_body, settings.extra_args)
        sent = pinned(ModelInputData([] if isinstance(items, str) else items, said), pinned_block)
        said, items = sent.instructions, items if isinstance(items, str) else sent.input
    return said, items
