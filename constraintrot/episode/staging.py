"""Staging: a variant becomes a conversation."""

from __future__ import annotations

from collections.abc import Sequence

from constraintrot.episode import wiki_channel
from constraintrot.episode.episode import Episode, Message, Turn
from constraintrot.scenario import history
from constraintrot.scenario.schema import (
    FILE_CHANNELS,
    WIKI_CHANNELS,
    Call,
    Channel,
    HistoryTurn,
    Tool,
    ToolTurn,
    Variant,
    Wording,
)
from constraintrot.scenario.template import fill

# Length of each later segment of history, as a share of the first one.
LATER_ROUNDS = 0.4
# The agent's own tool for files, whatever it calls that, and what it reads in the channels of files.
READ_FILE = "read_file"
PATHS: dict[Channel, str] = {"file": "notes.md", "nested_file": "records/index.md"}


def stage(
    variant: Variant,
    *,
    policy: bool,
    wording: Wording = "declarative",
    channel: Channel = "user",
    context_tokens: int = 800,
    rounds: int = 1,
    allowed: bool = False,
    distractors: Sequence[str] = (),
    instructions: str = "",
    exercised: int = 0,
    decline_tool: bool = True,
) -> Episode:
    """Stage a variant as a conversation.

    Args:
        variant: the variant to stage.
        policy: whether the conversation contains the policy, or a neutral text.
        wording: which of the policy's wordings.
        channel: who gives the policy: the system message, a user turn, a memory
            entry, a tool result, a file of a coding agent, or a wiki.
        context_tokens: length of the history before the first compaction, in
            o200k tokens.
        rounds: number of segments of history, each followed by a compaction.
        allowed: end with the permitted counterpart instead of the trigger, and
            open the history with the user's approval where the scenario has one.
        distractors: other standing rules, among which the policy stands.
        instructions: the scaffold's text, which ends the trigger's message, so
            that all that comes before it is the same under every scaffold.
        exercised: how many turns of the first stretch follow the policy at work,
            with and without it; they are part of ``context_tokens``.
        decline_tool: whether a tool is on offer by which to decline.
    """
    text = variant.policy(wording) if policy else variant.neutral(wording)
    rules = [*distractors[: len(distractors) // 2], text, *distractors[len(distractors) // 2 :]]
    # Several rules are a Markdown list; a single rule is plain text.
    text = "\n".join(f"- {rule}" for rule in rules) if distractors else text
    framed = fill(variant.scenario.channels.system, variant.values | {"policy": text})
    request = variant.allowed_trigger if allowed else variant.trigger
    asked = _user("\n\n".join(filter(None, [request, instructions])))
    staged = Episode(
        variant=variant,
        policy=variant.policy(wording),
        opening=_opening(variant, text if channel == "system" else None),
        standing=_standing(variant, channel, text),
        segments=_segments(variant, context_tokens, rounds, allowed, variant.exercise(exercised)),
        trigger=Turn("trigger", (asked,)),
        allowed=allowed,
        declared=tuple(rules) if policy else tuple(distractors),
        tools=_on_offer(variant, decline_tool),
        files={channel: framed} if channel in FILE_CHANNELS else {},
    )
    if channel not in WIKI_CHANNELS:
        return staged
    return wiki_channel.shown(
        staged, wiki_channel.files(wiki_channel.vault(variant, rules, channel))
    )


def _on_offer(variant: Variant, decline_tool: bool) -> tuple[Tool, ...]:
    *acting, decline = variant.tools
    known = {tool.name for tool in variant.tools}
    reading = [tool for tool in history.tools(variant) if tool.name not in known]
    return (*acting, *reading, decline) if decline_tool else (*acting, *reading)


def _user(text: str) -> Message:
    return Message("user", text, "user")


def _agent(text: str, call: Call | None = None) -> Message:
    return Message("assistant", text, "agent", call)


def _opening(variant: Variant, policy: str | None) -> Turn:
    parts = [variant.system]
    if policy is not None:
        frame = fill(variant.scenario.channels.system, variant.values | {"policy": policy})
        parts.append(frame)
    return Turn(
        "opening",
        (
            Message("system", "\n\n".join(parts), "operator"),
            _user(variant.preamble),
            _agent(fill(variant.scenario.ready, variant.values)),
        ),
    )


def _standing(variant: Variant, channel: Channel, policy: str) -> tuple[Turn, ...]:
    if channel in ("system", "root_file", "memory_file", *WIKI_CHANNELS):
        return ()
    scenario = variant.scenario
    values = variant.values | {"policy": policy}
    ack = _agent(fill(scenario.ack, variant.values))
    if channel in ("file", "nested_file"):
        text = fill(scenario.channels.system, values) if channel == "file" else variant.system
        read = ToolTurn(function=READ_FILE, arguments={"path": PATHS[channel]}, result=text)
        return (Turn("policy", (*_tool_call(read), ack)),)
    if channel == "tool":
        tool = ToolTurn.model_validate(fill(scenario.channels.tool.model_dump(), values))
        return (Turn("policy", (*_tool_call(tool), ack)),)
    if channel == "memory":
        # The memory entry starts with a dash already.
        values = values | {"policy": policy.removeprefix("- ")}
        memory = Message("user", fill(scenario.channels.memory, values), "operator")
        return (Turn("policy", (memory, ack)),)
    return (Turn("policy", (_user(fill(scenario.channels.user, values)), ack)),)


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
    """Some turns with more of them spread evenly among them; what came last stays last."""
    gaps = [(at + 1) * len(turns) // (len(more) + 1) for at in range(len(more))]
    found = list(turns)
    for gap, turn in reversed(list(zip(gaps, more, strict=True))):
        found.insert(gap, turn)
    return tuple(found)


def _worked(turn: HistoryTurn) -> Turn:
    calls = [message for call in turn.calls for message in _tool_call(call)]
    return Turn("history", (_user(turn.user), *calls, _agent(turn.reply)))


def _tool_call(tool: ToolTurn) -> tuple[Message, Message]:
    call = Call(function=tool.function, arguments=tool.arguments)
    return _agent("", call), Message("tool", tool.result, "tool", call)
