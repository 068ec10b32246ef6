"""The measured call of the agent's model.

Its tools, its sampling, the reading of its answer, the calls that a defense blocks, and the
simulated results of look-ups after the request.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageTool,
    GenerateConfig,
    Model,
    ModelOutput,
    ResponseSchema,
)
from inspect_ai.tool import ToolCall, ToolInfo
from inspect_ai.util import JSONSchema

from constraintrot.components import returned
from constraintrot.defenses import Defense
from constraintrot.episode.episode import Episode
from constraintrot.episode.messages import tool_infos
from constraintrot.episode.model_output import failed
from constraintrot.episode.scaffold import answer_format
from constraintrot.episode.scaffold.instructions import form_of, is_in_process
from constraintrot.episode.scaffold.review import without_thought
from constraintrot.errors import EpisodeError
from constraintrot.scenario.simulate import simulate


def check_trigger(episode: Episode, messages: Sequence[ChatMessage]) -> None:
    """Raise EpisodeError if the model's input does not hold the whole trigger."""
    wanted = episode.trigger.messages[-1].text
    if not any(message.role == "user" and wanted in message.text for message in messages):
        raise EpisodeError("the trigger is not whole in the last model input")


def offered(episode: Episode, scaffold: str) -> list[ToolInfo]:
    """Return the tools in the order in which the scaffold offers them."""
    tools = tool_infos(episode.tools)
    first = scaffold == "deliberate_decline_first" and declinable(tools)
    return [tools[-1], *tools[:-1]] if first else tools


def declinable(tools: Sequence[ToolInfo]) -> bool:
    return any(tool.name == "decline" for tool in tools)


@dataclass(frozen=True)
class Reading:
    """The parsed answer of the agent's model.

    Attributes:
        calls: the tool calls, as the model wrote them.
        recalled: the policy that the answer states; None if it states none.
        fault: why the answer cannot be read; None if it can.
        prose: the answer's text, if it has no call.
    """

    calls: tuple[Any, ...] = ()
    recalled: str | None = None
    fault: str | None = None
    prose: str = ""


def read_output(output: ModelOutput, tools: Sequence[ToolInfo], scaffold: str) -> Reading:
    """Read an answer.

    Without a native call, an answer under the deliberate scaffold is read strictly as that
    scaffold's JSON.
    """
    message, deliberate = output.message, form_of(scaffold) == "deliberate"
    # A thought is no answer, also where the provider leaves it in the text.
    text = without_thought(message.text)
    if message.tool_calls:
        calls = tuple(
            {
                "function": call.function,
                # Text that the provider could not parse makes the call malformed.
                "arguments": call.parse_error or _decoded(call, tools),
            }
            for call in message.tool_calls
        )
        kept = answer_format.read_deliberation(text)
        return Reading(calls, kept[0] if deliberate and kept else None)
    if deliberate and "{" in text:
        specs = [
            answer_format.ToolSpec(t.name, t.description, t.parameters.model_dump()) for t in tools
        ]
        reading = answer_format.read(text, specs)
        said = text if reading.error else reading.prose or ""
        return Reading(tuple(reading.calls), reading.policy, reading.error, said)
    # The text of a filter, of a full window or of an error is the provider's.
    if output.stop_reason == "max_tokens" or failed(output):
        return Reading(fault=f"the answer was cut off ({output.stop_reason})", prose=text)
    return Reading(prose=text)


def _decoded(call: ToolCall, tools: Sequence[ToolInfo]) -> dict[str, Any]:
    """Return a call's arguments, also if they were encoded twice.

    Inspect gives such a text, whole, to the tool's first parameter.
    """
    known = next((tool.parameters.properties for tool in tools if tool.name == call.function), {})
    texts = [*call.arguments.values()]
    if len(texts) == 1 and isinstance(texts[0], str):
        with suppress(ValueError, RecursionError):
            inner = json.loads(texts[0])
            if isinstance(inner, dict) and inner and inner.keys() <= known.keys():
                return inner
    return call.arguments


def config_for(model: Model, scaffold: str, tools: Sequence[ToolInfo]) -> GenerateConfig:
    """Return the agent's sampling settings for a scaffold and the offered tools."""
    # Only the in-process provider samples to the scaffold's schema; hosted ones
    # answer with native calls, which their structured output would suppress.
    form = form_of(scaffold)
    words = not declinable(tools)
    if not is_in_process(model) or (form == "direct" and not words):
        return GenerateConfig()
    name = f"{form}_or_words" if words else form
    schema = ResponseSchema(name=name, json_schema=JSONSchema(type="object"))
    return GenerateConfig(response_schema=schema)


class Approvals:
    """A defense's verdicts on an agent's calls, over all its steps."""

    def __init__(self, defense: Defense, lookups: Collection[str]) -> None:
        self._defense, self._lookups = defense, lookups
        self._made: list[Any] = []
        self._through: list[Any] = []
        self._reasons: list[str] = []

    async def ask(self, calls: Sequence[Any]) -> list[str | None]:
        """Return why each call is blocked; None for a call that goes through."""
        found: list[str | None] = []
        for call in calls:
            read = call["function"] != "decline" and isinstance(call["arguments"], dict)
            named = call["function"], call["arguments"]
            made = await self._defense.approve(*named) if read else None
            reason: str | None = returned(self._defense, "approve", made, str | None)
            self._made.append(call)
            if reason is None:
                self._through.append(call)
            else:
                self._reasons.append(reason)
            found.append(reason)
        return found

    def graded(self) -> tuple[tuple[Any, ...], str | None]:
        """Return the calls to grade, and why they were blocked (None if not).

        Calls that went through are graded, whatever was blocked beside them. If every acting
        call was blocked, all calls are returned, with the first reason.
        """
        idle = {"decline", *self._lookups}
        acting = [call for call in self._through if call["function"] not in idle]
        if self._reasons and not acting:
            return tuple(self._made), self._reasons[0]
        return tuple(self._through), None


_UNREADABLE = "error: the arguments cannot be read"
_ABSENT = "error: not available"


def only_looks_up(episode: Episode, read: Reading) -> bool:
    """Return whether an answer has only look-ups, so that the agent continues after it."""
    names = {call["function"] for call in read.calls}
    return bool(names) and read.fault is None and names <= episode.variant.lookups


def look_up(episode: Episode, function: str, arguments: Mapping[str, Any]) -> str:
    """Return a look-up's result: the history's result of the same call, else a simulated one."""
    if function not in {tool.name for tool in episode.tools}:
        return _ABSENT
    for message in (message for turn in episode.turns for message in turn.messages):
        call = message.call
        made = call and (call.function, call.arguments) == (function, dict(arguments))
        if message.role == "tool" and made:
            return message.text
    return simulate(episode.variant, function, arguments)


def as_called(output: ModelOutput, read: Reading) -> ChatMessageAssistant:
    """Return the agent's message with native tool calls, whatever form it wrote them in."""
    message = output.message
    if message.tool_calls:
        return message
    calls = [
        ToolCall(
            id=f"call_{uuid4().hex[:12]}", function=one["function"], arguments=one["arguments"]
        )
        for one in read.calls
    ]
    return message.model_copy(update={"tool_calls": calls})


async def answered(
    episode: Episode, output: ModelOutput, read: Reading, approvals: Approvals
) -> list[ChatMessage]:
    """Return the agent's message and the look-ups' results, or the reasons why they are blocked."""
    message = as_called(output, read)
    found: list[ChatMessage] = [message]
    reasons = await approvals.ask(read.calls)
    for written, call, reason in zip(message.tool_calls or [], read.calls, reasons, strict=True):
        arguments = call["arguments"]
        result = reason or (
            look_up(episode, call["function"], arguments)
            if isinstance(arguments, dict)
            else _UNREADABLE
        )
        found.append(
            ChatMessageTool(content=result, function=call["function"], tool_call_id=written.id)
        )
    return found
