"""A live agent as a function of the transcript: it uses tools, delegates, and obeys policies."""

from collections.abc import Sequence
from functools import cache
from itertools import pairwise, takewhile
from typing import Any

from inspect_ai.event import ModelEvent
from inspect_ai.log import EvalSample, resolve_sample_attachments
from inspect_ai.model import ChatMessage, ChatMessageUser, Model
from inspect_ai.tool import ToolInfo

from constraintrot.episode.messages import message_texts
from constraintrot.models.scripted.agents import REFUSES
from constraintrot.models.scripted.policy_reader import policy_in
from constraintrot.models.scripted.request_parser import request_in
from constraintrot.scenario import history
from constraintrot.scenario.files import load
from tests.helpers import playing

# The tool with which a framework hands a task to a subagent.
TASK = "task"
# What it reads with where the history does not say, first the document that gives a policy.
READS = ("read_document", "get_", "read_", "search_")
DELEGATED = "Say what is on today."
Answer = str | tuple[str, dict[str, Any]]
# How the message begins in which policies are pinned.
PINNED = "Standing policies (pinned"


def live_agent(tool_calls: int = 2, *, delegates: bool = False) -> Model:
    """A model that works on each request with a tool, in several calls.

    Args:
        tool_calls: how many calls a request.
        delegates: the first of them hands a task to a subagent.
    """

    def answer(messages: list[ChatMessage], tools: list[ToolInfo]) -> Answer:
        return _answer(messages, [tool.name for tool in tools], tool_calls, delegates)

    return playing(answer)


def _answer(
    messages: Sequence[ChatMessage], tools: Sequence[str], tool_calls: int, delegates: bool
) -> Answer:
    if not tools:
        return "Routine work was done."
    behind = list(takewhile(lambda m: m.role != "user", reversed(messages)))
    results = [message for message in behind if message.role == "tool"]
    users = [message.text for message in messages if isinstance(message, ChatMessageUser)]
    asked = users[-1] if users else ""
    request = request_in(asked, frozenset(tools))
    if request is not None and not results:
        held = policy_in(message_texts(messages[:-1]), request.slots) is not None
        if held and "decline" not in tools:
            return REFUSES
        return ("decline", {"reason": "A policy."}) if held else _of(request.call)
    if request is not None or len(results) >= tool_calls or asked == DELEGATED:
        return f"That was {len(messages)} messages."
    if delegates and not results:
        to = {"description": DELEGATED, "subagent_type": "general-purpose"}
        return TASK, to
    if asked in _worked():
        return _worked()[asked]
    first = [tool for prefix in READS for tool in tools if tool.startswith(prefix)]
    return first[0], {}


@cache
def _worked() -> dict[str, tuple[str, dict[str, object]]]:
    """What the tests' own history calls first, by the request."""
    turns = history.for_tokens(load("soft_email").variant(0), 3000)
    return {
        turn.user: (turn.calls[0].function, dict(turn.calls[0].arguments))
        for turn in turns
        if turn.calls
    }


def _of(call: object) -> tuple[str, dict[str, object]]:
    return call.function, dict(call.arguments)  # type: ignore[attr-defined]


def model_events(sample: EvalSample) -> list[ModelEvent]:
    """A sample's calls of models, in order, their long texts in place."""
    whole = resolve_sample_attachments(sample, "full")
    return [event for event in whole.events if isinstance(event, ModelEvent)]


def _around_summaries(sample: EvalSample) -> list[tuple[ModelEvent, ModelEvent, ModelEvent]]:
    """Each call of the summarizer's, with the call of a model before it and after it."""
    events = model_events(sample)
    return [
        (before, event, after)
        for before, event, after in zip(events, events[1:], events[2:], strict=False)
        if event.role == "summarizer"
    ]


def between_tool_calls(sample: EvalSample) -> bool:
    """Whether a summary was written after a tool's result and before the agent's next word."""
    return any(
        before.output.message.tool_calls and after.input[-1].role == "tool"
        for before, _, after in _around_summaries(sample)
    )


def delegated_between_tool_calls(sample: EvalSample) -> bool:
    """The same, and a subagent was asked."""
    asked = any(event.input[-1].text == DELEGATED for event in model_events(sample))
    return asked and between_tool_calls(sample)


def left_with_system_messages(sample: EvalSample) -> bool:
    """Whether the request and the result that it waited for were summarised too.

    What the agent is sent is then nothing but system messages.
    """
    return any(
        before.output.message.tool_calls and [m.role for m in after.input] == ["system", "system"]
        for before, _, after in _around_summaries(sample)
    )


def in_a_tool_loop(sample: EvalSample) -> bool:
    """Whether a summary was written when a tool had been called, and its result was not read yet."""
    return any(
        event.role == "summarizer"
        and bool(before.output.message.tool_calls)
        and event.input[-2].role == "tool"
        for before, event in pairwise(model_events(sample))
    )


def evicted_between_tool_calls(sample: EvalSample) -> bool:
    """Whether a call follows a tool's result, and what began the input before it is gone."""
    return any(
        now.input[-1].role == "tool" and _said(now)[: len(_said(before))] != _said(before)
        for before, now in pairwise(model_events(sample))
    )


def _said(event: ModelEvent) -> list[str]:
    """What a model was sent after the system message, the pins left out, which are never gone."""
    texts = [message.text for message in event.input[1:]]
    return [text for text in texts if not text.startswith(PINNED)]


def between_requests(sample: EvalSample) -> bool:
    """Whether tools were called before the first summary, which read the policy, and after the last.

    Within a run the SDK sends all that was said since the request; it compacts where
    a run ends.
    """
    events = model_events(sample)
    written = [at for at, event in enumerate(events) if event.role == "summarizer"]
    called = [bool(event.output.message.tool_calls) for event in events]
    read = sample.metadata["rounds_run"][0]["shown_verbatim"]
    return read and any(called[: written[0]]) and any(called[written[-1] + 1 :])
