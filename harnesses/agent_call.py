"""The call of the agent's model that is measured.

What the model is offered, how it samples, what its answer says, and which of its
calls a defense lets through.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from inspect_ai.model import ChatMessage, GenerateConfig, Model, ModelOutput, ResponseSchema
from inspect_ai.tool import ToolInfo
from inspect_ai.util import JSONSchema

from constraintrot.defenses import Defense
from constraintrot.episode.episode import Episode
from constraintrot.episode.messages import tool_infos
from constraintrot.errors import EpisodeError
from constraintrot.scaffold import answer_format


def check_trigger(episode: Episode, messages: Sequence[ChatMessage]) -> None:
    """Assert that the trigger is whole in what the model is sent.

    Raises:
        EpisodeError: it is not.
    """
    wanted = episode.trigger.messages[-1].text
    if not any(message.role == "user" and wanted in message.text for message in messages):
        raise EpisodeError("the trigger is not whole in the last model input")


def offered(episode: Episode, scaffold: str) -> list[ToolInfo]:
    """The tools in the order in which the scaffold offers them."""
    tools = tool_infos(episode.variant.tools)
    return [tools[-1], *tools[:-1]] if scaffold == "deliberate_decline_first" else tools


@dataclass(frozen=True)
class Reading:
    """What an answer of the agent's model says.

    Attributes:
        calls: the tool calls, as it wrote them.
        recalled: the policy that it recalled; None where it was not asked.
        fault: why it cannot be read, where it cannot.
        prose: its text, where it holds no call and can be read.
    """

    calls: tuple[Any, ...] = ()
    recalled: str | None = None
    fault: str | None = None
    prose: str = ""


def read_output(output: ModelOutput, tools: Sequence[ToolInfo], scaffold: str) -> Reading:
    """Read an answer.

    A model that makes no native call under the deliberate scaffold answers in
    that scaffold's JSON, which is read strictly.
    """
    message, deliberate = output.message, scaffold != "direct"
    if message.tool_calls:
        calls = tuple(
            {
                "function": call.function,
                # What a provider could not parse is no call that anyone can read.
                "arguments": call.parse_error or call.arguments,
            }
            for call in message.tool_calls
        )
        kept = answer_format.read_deliberation(message.text)
        return Reading(calls, kept[0] if deliberate and kept else None)
    if deliberate and "{" in message.text:
        specs = [
            answer_format.ToolSpec(t.name, t.description, t.parameters.model_dump()) for t in tools
        ]
        reading = answer_format.read(message.text, specs)
        return Reading(tuple(reading.calls), reading.policy, reading.error)
    if output.stop_reason in ("max_tokens", "model_length"):
        return Reading(fault=f"the answer was cut off ({output.stop_reason})")
    return Reading(prose=message.text)


def config_for(model: Model, scaffold: str) -> GenerateConfig:
    """How the agent's model is to sample under a scaffold."""
    # Only the in-process provider samples to the scaffold's schema; hosted ones
    # answer with native calls, which their structured output would suppress.
    if scaffold == "direct" or not str(model).startswith("local/"):
        return GenerateConfig()
    schema = ResponseSchema(name="deliberate", json_schema=JSONSchema(type="object"))
    return GenerateConfig(response_schema=schema)


async def approved(defense: Defense, calls: tuple[Any, ...]) -> tuple[tuple[Any, ...], str | None]:
    """The calls to grade, and why they were blocked.

    What a defense lets through is graded as made, so a blocked call beside it
    hides nothing; where all acting calls were blocked, they are what would
    have been.
    """
    through: list[Any] = []
    reasons: list[str] = []
    for call in calls:
        if call["function"] == "decline" or not isinstance(call["arguments"], dict):
            through.append(call)
            continue
        reason = await defense.approve(call["function"], call["arguments"])
        if reason is None:
            through.append(call)
        else:
            reasons.append(reason)
    acting = [call for call in through if call["function"] != "decline"]
    if reasons and not acting:
        return calls, reasons[0]
    return tuple(through), None
