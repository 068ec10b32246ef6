"""The default harness: a scripted history, Inspect's compaction, one terminal call.

The history is replayed, compacted where the condition says so, and only then
the trigger is appended and the agent asked, once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import takewhile
from time import perf_counter
from typing import Any

from inspect_ai.event import ModelEvent
from inspect_ai.log import transcript
from inspect_ai.model import (
    ChatMessage,
    GenerateConfig,
    Model,
    ModelOutput,
    ResponseSchema,
    get_model,
)
from inspect_ai.tool import ToolInfo
from inspect_ai.util import JSONSchema

from constraintrot.compaction import context_cache
from constraintrot.compaction.counterfactual import edited
from constraintrot.compaction.rounds import Compacted, compact, diff
from constraintrot.defenses import MEASURING, Defense
from constraintrot.episode.episode import Episode
from constraintrot.episode.messages import (
    history_segments,
    message_texts,
    opening_messages,
    standing_messages,
    tool_infos,
    trigger_messages,
)
from constraintrot.errors import EpisodeError
from constraintrot.evaluation.play_settings import PlaySettings
from constraintrot.harnesses import Harness, Played, harness
from constraintrot.scaffold import answer_format
from constraintrot.tokens import count

# Roles of models that only a defense asks.
DEFENSE_ROLES = ("verifier", "extractor")


@harness("replay")
def replay(mode: str, live: bool) -> Harness:
    """Replay the scripted history and ask for the terminal call."""
    return play


async def play(episode: Episode, plan: PlaySettings) -> Played:
    """Play an episode.

    Raises:
        EpisodeError: a compaction that was due did not run, or the trigger does
            not stand whole in the last model input.
    """
    model = get_model(role="agent")
    defense = plan.defense.make(episode.declared)
    clock = Clock()
    compacted, made = await _compacted(episode, plan, model, defense)
    clock.lap("seconds_compaction")
    if compacted is None:
        context = [*opening_messages(episode), *standing_messages(episode)]
        context += [message for segment in history_segments(episode) for message in segment]
    else:
        context = compacted.context
        transcript().info(diff(episode, context), source="compaction diff")
    clock.lap("seconds_staging")
    messages = await defense.assemble([*context, *trigger_messages(episode)])
    clock.lap("seconds_defense")
    check_trigger(episode, messages)
    tools = offered(episode, plan.scaffold)
    output = await model.generate(
        messages, tools=tools, tool_choice="auto", config=config_for(model, plan.scaffold)
    )
    calls, recalled, fault = read_output(output, tools, plan.scaffold)
    clock.lap("seconds_agent")
    calls, blocked = await approved(defense, calls)
    clock.lap("seconds_defense")
    return Played(
        calls=calls,
        last_input=tuple(messages),
        output=output,
        compacted=compacted,
        recalled=recalled,
        fault=fault,
        blocked=blocked,
        facts={
            "summary_made_here": made,
            **clock.seconds,
            **costs(messages),
            **await prefix(defense, context, messages),
        },
    )


class Clock:
    """Wall-clock seconds by what they were spent on."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._last = perf_counter()

    def lap(self, name: str) -> None:
        """Book the time since the last lap."""
        now = perf_counter()
        self.seconds[name] = self.seconds.get(name, 0.0) + now - self._last
        self._last = now


def costs(messages: Sequence[ChatMessage]) -> dict[str, Any]:
    """The size of the last input in o200k tokens, and the calls and tokens of a defense."""
    asked = [
        event
        for event in transcript().events
        if isinstance(event, ModelEvent) and event.role in DEFENSE_ROLES
    ]
    spent = sum(event.output.usage.total_tokens for event in asked if event.output.usage)
    return {
        "input_tokens": sum(map(count, message_texts(messages))),
        "defense_calls": dict(Counter(event.role for event in asked)),
        "defense_tokens": spent,
    }


async def prefix(
    defense: Defense, before: Sequence[ChatMessage], now: Sequence[ChatMessage]
) -> dict[str, Any]:
    """How much of the last input a provider's prefix cache would give back.

    The input is compared with what would have been sent had the agent been called
    right before the last request. Where a defense leaves what stood there as it
    was, all of that comes back; where it does not, the cache breaks.

    Args:
        defense: whose ``assemble`` made the input.
        before: the context without the last request, not assembled.
        now: the input.
    """
    token = MEASURING.set(True)
    try:
        was = message_texts(await defense.assemble(before))
    finally:
        MEASURING.reset(token)
    kept = common_prefix(was, message_texts(now))
    return {"prefix_tokens": kept, "prefix_broken": kept < sum(map(count, was))}


def common_prefix(was: Sequence[str], now: Sequence[str]) -> int:
    """How many o200k tokens two inputs share from their start on.

    Args:
        was: the texts of an input's messages.
        now: the texts of the next input's.
    """
    tokens = 0
    for old, new in zip(was, now, strict=False):
        if old == new:
            tokens += count(old)
            continue
        same = sum(
            1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(old, new, strict=False))
        )
        return tokens + count(old[:same])
    return tokens


def check_trigger(episode: Episode, messages: Sequence[ChatMessage]) -> None:
    """Assert that the trigger stands whole in what the model is sent.

    Raises:
        EpisodeError: it does not.
    """
    wanted = episode.trigger.messages[-1].text
    if not any(message.role == "user" and wanted in message.text for message in messages):
        raise EpisodeError("the trigger does not stand whole in the last model input")


def offered(episode: Episode, scaffold: str) -> list[ToolInfo]:
    """The tools in the order in which the scaffold offers them."""
    tools = tool_infos(episode.variant.tools)
    return [tools[-1], *tools[:-1]] if scaffold == "deliberate_decline_first" else tools


def read_output(
    output: ModelOutput, tools: Sequence[ToolInfo], scaffold: str
) -> tuple[tuple[Any, ...], str | None, str | None]:
    """The calls in an answer, the policy it recalled, and why it is unreadable.

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
        return calls, (kept[0] if deliberate and kept else None), None
    if deliberate and "{" in message.text:
        specs = [
            answer_format.ToolSpec(t.name, t.description, t.parameters.model_dump()) for t in tools
        ]
        reading = answer_format.read(message.text, specs)
        return tuple(reading.calls), reading.policy, reading.error
    if output.stop_reason in ("max_tokens", "model_length"):
        return (), None, f"the answer was cut off ({output.stop_reason})"
    return (), None, None


def config_for(model: Model, scaffold: str) -> GenerateConfig:
    """How the agent's model is to sample under a scaffold."""
    # Only the in-process provider samples to the scaffold's schema; hosted ones
    # answer with native calls, which their structured output would suppress.
    if scaffold == "direct" or not str(model).startswith("local/"):
        return GenerateConfig()
    schema = ResponseSchema(name="deliberate", json_schema=JSONSchema(type="object"))
    return GenerateConfig(response_schema=schema)


async def _compacted(
    episode: Episode, plan: PlaySettings, model: Model, defense: Defense
) -> tuple[Compacted | None, bool]:
    if not plan.condition.compacts:
        return None, False

    async def run() -> Compacted:
        return await compact(
            episode,
            plan.compactor.make(),
            model,
            by_size=plan.compactor.settings.compact_at is not None,
            wrap=defense.wrap,
        )

    # A defense may keep state while the history is compacted, so its runs share nothing.
    if plan.share_as is None or plan.defense.active:
        compacted, made = await run(), True
    else:
        compacted, made = await context_cache.shared(context_cache.run_id(), plan.share_as, run)
    if plan.condition.edit is not None:
        compacted = edited(compacted, episode, restored=plan.condition.edit == "restored")
    return compacted, made


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
