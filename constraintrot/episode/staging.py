"""Staging: a variant becomes a conversation."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, TypeAlias

from constraintrot.episode.channels import CHANNELS, Given
from constraintrot.episode.episode import Episode, Message, Turn, tool_call
from constraintrot.errors import EpisodeError
from constraintrot.rule_text.survival import mentions
from constraintrot.scenario import framing, history
from constraintrot.scenario.schema import HistoryTurn, Tool, Variant, Wording
from constraintrot.scenario.template import fill

OfferedTools: TypeAlias = Literal["all", "called"]
OFFERED_TOOLS: tuple[OfferedTools, ...] = ("all", "called")
# Length of each later segment of history, as a share of the first one.
LATER_ROUNDS = 0.4


def stage(
    variant: Variant,
    *,
    policy: bool,
    wording: Wording = "declarative",
    channel: str = "user",
    context_tokens: int = 800,
    rounds: int = 1,
    allowed: bool = False,
    distractors: Sequence[str] = (),
    instructions: str = "",
    exercised: int = 0,
    decline_tool: bool = True,
    system_prompt: framing.SystemPrompt = "short",
    asked_by: framing.AskedBy = "same",
) -> Episode:
    """Stage a variant as a conversation.

    Args:
        variant: the variant to stage.
        policy: whether the conversation contains the policy, or a neutral text.
        wording: which of the policy's wordings.
        channel: name of the policy channel (``constraintrot.episode.channels``).
        context_tokens: length of the history before the first compaction, in
            o200k tokens.
        rounds: number of segments of history, each followed by a compaction.
        allowed: end with the permitted counterpart instead of the trigger, and
            open the history with the user's approval where the scenario has one.
        distractors: other standing rules, among which the policy stands.
        instructions: the scaffold's text; it ends the trigger's message, so that all text
            before it is the same under every scaffold.
        exercised: number of turns in the first segment whose work follows the policy, whether
            or not it is stated; they are part of ``context_tokens``.
        decline_tool: whether a tool to decline by is on offer.
        system_prompt: the scenario's line alone, or with a page on how to work.
        asked_by: who makes the last request: the policy's author, or another person.
    """
    text = variant.policy(wording) if policy else variant.neutral(wording)
    rules = [*distractors[: len(distractors) // 2], text, *distractors[len(distractors) // 2 :]]
    # Several rules are a Markdown list; a single rule is plain text.
    text = "\n".join(f"- {rule}" for rule in rules) if distractors else text
    request = variant.allowed_trigger if allowed else variant.trigger
    request = framing.request(variant, request, asked_by)
    asked = _user("\n\n".join(filter(None, [request, instructions])))
    staged = Episode(
        variant=variant,
        policy=variant.policy(wording),
        opening=_opening(variant, system_prompt),
        standing=(),
        segments=_segments(variant, context_tokens, rounds, allowed, variant.exercise(exercised)),
        trigger=Turn("trigger", (asked,)),
        allowed=allowed,
        declared=tuple(rules) if policy else tuple(distractors),
        tools=_on_offer(variant, decline_tool),
        channel=channel,
    )
    given = CHANNELS.get(channel).stage(staged, Given(text, rules))
    _check_given(staged, given, policy)
    return given


def _check_given(before: Episode, after: Episode, policy: bool) -> None:
    name = f"channel {before.channel}"
    if not isinstance(after, Episode):  # a channel of somebody else
        raise EpisodeError(f"{name} returned {type(after).__name__}, not an Episode")
    texts, said = _texts(after), after.policy
    verbatim = mentions(texts, said, {}).verbatim
    if policy and not verbatim and not mentions(texts, said, after.variant.slots).kept:
        raise EpisodeError(f"{name} did not give the policy: nothing holds the text of its Given")
    if verbatim and not policy and not mentions(_texts(before), said, {}).verbatim:
        raise EpisodeError(f"{name} gave the policy in a condition without it; give Given's text")


def _texts(episode: Episode) -> list[str]:
    messages = [message for turn in episode.turns for message in turn.messages]
    values = [str(value) for one in messages if one.call for value in one.call.arguments.values()]
    texts = [message.text for message in messages]
    return [*texts, *values, *episode.files.values(), *episode.store.values()]


def offer(episode: Episode, tools: OfferedTools) -> Episode:
    """Return the episode with all tools of its benign work, or only those that it calls."""
    if tools == "all":
        return episode
    called = {m.call.function for turn in episode.turns for m in turn.messages if m.call}
    unneeded = episode.variant.lookups - called
    return replace(
        episode, tools=tuple(tool for tool in episode.tools if tool.name not in unneeded)
    )


def _on_offer(variant: Variant, decline_tool: bool) -> tuple[Tool, ...]:
    *acting, decline = variant.tools
    known = {tool.name for tool in variant.tools}
    reading = [tool for tool in history.tools(variant) if tool.name not in known]
    return (*acting, *reading, decline) if decline_tool else (*acting, *reading)


def _user(text: str) -> Message:
    return Message("user", text, "user")


def _agent(text: str) -> Message:
    return Message("assistant", text, "agent")


def _opening(variant: Variant, system_prompt: framing.SystemPrompt) -> Turn:
    ready = _agent(fill(variant.scenario.ready, variant.values))
    system = Message("system", framing.system(variant, system_prompt), "operator")
    return Turn("opening", (system, _user(variant.preamble), ready))


def _segments(
    variant: Variant, tokens: int, rounds: int, allowed: bool, exercise: Sequence[HistoryTurn]
) -> tuple[tuple[Turn, ...], ...]:
    drawn = history.turns(variant)
    left = tokens - sum(map(history.length, exercise))
    targets = [left] + [round(tokens * LATER_ROUNDS)] * (rounds - 1)
    segments = [tuple(map(_worked, history.until(drawn, target))) for target in targets]
    segments[0] = _among(segments[0], tuple(map(_worked, exercise)))
    if allowed and variant.approval is not None:
        segments[0] = (_worked(variant.approval), *segments[0])
    return tuple(segments)


def _among(turns: tuple[Turn, ...], more: tuple[Turn, ...]) -> tuple[Turn, ...]:
    """Spread more turns evenly among some; the last one stays last."""
    gaps = [(at + 1) * len(turns) // (len(more) + 1) for at in range(len(more))]
    found = list(turns)
    for gap, turn in reversed(list(zip(gaps, more, strict=True))):
        found.insert(gap, turn)
    return tuple(found)


def _worked(turn: HistoryTurn) -> Turn:
    calls = [message for call in turn.calls for message in tool_call(call)]
    return Turn("history", (_user(turn.user), *calls, _agent(turn.reply)))
