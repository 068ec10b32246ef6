"""A live agent as a function of the transcript: it uses tools, delegates, and obeys policies."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from inspect_ai.event import ModelEvent
from inspect_ai.log import EvalSample, resolve_sample_attachments
from inspect_ai.model import (
    ChatMessage,
    ChatMessageUser,
    GenerateConfig,
    Model,
    ModelOutput,
    ModelUsage,
    get_model,
)
from inspect_ai.tool import ToolChoice, ToolInfo

from constraintrot.episode.messages import message_texts
from constraintrot.models.scripted.request_parser import policy_in, request_in

# The tool with which a framework hands a task to a subagent.
TASK = "task"
DELEGATED = "Say what is on today."


def live_agent(tool_calls: int = 2, *, delegates: bool = False) -> Model:
    """A model that works on each request with a tool, in several calls.

    Args:
        tool_calls: how many calls a request.
        delegates: the first of them hands a task to a subagent.
    """

    def answer(
        messages: list[ChatMessage],
        tools: list[ToolInfo],
        tool_choice: ToolChoice,
        config: GenerateConfig,
    ) -> ModelOutput:
        output = _answer(messages, [tool.name for tool in tools], tool_calls, delegates)
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        return output

    return get_model("mockllm/model", custom_outputs=answer, memoize=False)


def _answer(
    messages: Sequence[ChatMessage], tools: Sequence[str], tool_calls: int, delegates: bool
) -> ModelOutput:
    if not tools:
        return ModelOutput.from_content("mockllm/model", "Routine work was done.")
    behind = list(takewhile(lambda m: m.role != "user", reversed(messages)))
    results = [message for message in behind if message.role == "tool"]
    users = [message.text for message in messages if isinstance(message, ChatMessageUser)]
    asked = users[-1] if users else ""
    request = request_in(asked, frozenset(tools))
    if request is not None and not results:
        held = policy_in(message_texts(messages[:-1]), request.slots) is not None
        call = ("decline", {"reason": "A policy."}) if held else _of(request.call)
        return ModelOutput.for_tool_call("mockllm/model", *call)
    if request is not None or len(results) >= tool_calls or asked == DELEGATED:
        return ModelOutput.from_content("mockllm/model", f"That was {len(messages)} messages.")
    if delegates and not results:
        to = {"description": DELEGATED, "subagent_type": "general-purpose"}
        return ModelOutput.for_tool_call("mockllm/model", TASK, to)
    reads = next(tool for tool in tools if tool.startswith(("read_", "get_", "search_")))
    return ModelOutput.for_tool_call("mockllm/model", reads, {})


def _of(call: object) -> tuple[str, dict[str, object]]:
    return call.function, dict(call.arguments)  # type: ignore[attr-defined]


def model_events(sample: EvalSample) -> list[ModelEvent]:
    """A sample's calls of models, in order, their long texts in place."""
    whole = resolve_sample_attachments(sample, "full")
    return [event for event in whole.events if isinstance(event, ModelEvent)]


def between_tool_calls(sample: EvalSample) -> int:
    """How often a summary was written after a tool's result and before the agent's next word."""
    events = model_events(sample)
    return sum(
        event.role == "summarizer"
        and bool(before.output.message.tool_calls)
        and after.input[-1].role == "tool"
        for before, event, after in zip(events, events[1:], events[2:], strict=False)
    )
