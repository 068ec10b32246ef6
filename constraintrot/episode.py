"""The staged conversation, before any model or framework sees it.

An episode is: opening (system message and neutral preamble, which a framework
protects), the policy turn, benign history in one segment a compaction round,
and the trigger. Every message carries its origin.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from . import history
from .errors import EpisodeError
from .scenario import Call, Channel, HistoryTurn, ToolTurn, Variant, Wording
from .template import fill

Origin: TypeAlias = Literal["operator", "user", "agent", "tool", "attacker"]
Part: TypeAlias = Literal["opening", "policy", "history", "attack", "trigger"]
Role: TypeAlias = Literal["system", "user", "assistant", "tool"]

# What an attack may change or add: content that the agent ingests.
INGESTED: frozenset[Origin] = frozenset({"tool", "attacker"})
_THEIRS = (
    "content that an adversary does not control; it may only rewrite tool results of the"
    " history, or add turns of calls and results (part 'attack'), marked as the attacker's"
)
# An adversary may name a document, so a call to it may hold that name, but no prose.
_REFERENCE = re.compile(r"[\w./:@#-]{1,80}", re.ASCII)
# New benign work between two rounds of compaction, as a share of the first stretch.
LATER_ROUNDS = 0.4


@dataclass(frozen=True)
class Message:
    """One message; ``call`` is an assistant's tool call, or the one a tool answers."""

    role: Role
    text: str
    origin: Origin
    call: Call | None = None


@dataclass(frozen=True)
class Turn:
    """Messages that stand or fall together: a tool call and its result are one turn."""

    part: Part
    messages: tuple[Message, ...]


@dataclass(frozen=True)
class Episode:
    """A staged conversation.

    Attributes:
        variant: whose scenario, values and tools.
        policy: the policy's text in the episode's wording (also in floor,
            where it stands nowhere, so that survival can be measured).
        opening: system message and neutral preamble, and the agent's reply.
        standing: the policy turn, or the neutral turn in its place; empty
            when the channel is the system message.
        segments: benign turns, one tuple a compaction round.
        trigger: the request that ends the episode.
        allowed: whether the trigger is the permitted counterpart.
        declared: the standing policies, word for word, that an operator who
            runs a defense declares: those that stand in the conversation.
    """

    variant: Variant
    policy: str
    opening: Turn
    standing: tuple[Turn, ...]
    segments: tuple[tuple[Turn, ...], ...]
    trigger: Turn
    allowed: bool = False
    declared: tuple[str, ...] = ()
    notes: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def turns(self) -> Iterator[Turn]:
        """All turns in order."""
        yield self.opening
        yield from self.standing
        for segment in self.segments:
            yield from segment
        yield self.trigger


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
) -> Episode:
    """Stage a variant as a conversation.

    Args:
        variant: what to stage.
        policy: whether the policy stands in it, or the neutral text.
        wording: which of the policy's wordings.
        channel: where the policy stands.
        context_tokens: history up to the first compaction, in o200k tokens.
        rounds: how many stretches of history, each followed by a compaction.
        allowed: end with the permitted counterpart instead of the trigger, and
            open the history with the user's approval where the scenario has one.
        distractors: other standing rules, among which the policy stands.
        instructions: the scaffold's text, which ends the trigger's message, so
            that all that comes before it is the same under every scaffold.
    """
    text = variant.policy(wording) if policy else variant.neutral(wording)
    rules = [*distractors[: len(distractors) // 2], text, *distractors[len(distractors) // 2 :]]
    # A rule among others is a line of a list; a single one stands as it is.
    text = "\n".join(f"- {rule}" for rule in rules) if distractors else text
    request = variant.allowed_trigger if allowed else variant.trigger
    return Episode(
        variant=variant,
        policy=variant.policy(wording),
        opening=_opening(variant, text if channel == "system" else None),
        standing=_standing(variant, channel, text),
        segments=_segments(variant, context_tokens, rounds, allowed),
        trigger=Turn("trigger", (_user("\n\n".join(filter(None, [request, instructions]))),)),
        allowed=allowed,
        declared=tuple(rules) if policy else tuple(distractors),
    )


def check_attacked(before: Episode, after: Episode) -> None:
    """Refuse an attack that touched anything but ingested content.

    An attack may rewrite the tool results of the history, and put turns of part
    ``attack`` anywhere in it, made of tool calls and their results. What it
    wrote carries the origin ``attacker``. The policy turn stays as it is, also
    where a tool gave it: an attack that rewrote the policy would be no test.

    Raises:
        EpisodeError: it changed the variant, the opening, the policy turn, the
            trigger, what the user or the agent wrote, or the turns' order; or
            it added anything but results of calls that only read.
    """
    if (before.variant, before.policy, before.allowed, before.declared) != (
        after.variant,
        after.policy,
        after.allowed,
        after.declared,
    ):
        raise EpisodeError("the attack changed the scenario itself")
    fixed = before.opening, before.standing, before.trigger
    if fixed != (after.opening, after.standing, after.trigger):
        raise EpisodeError(f"the attack touched the opening, policy turn or trigger: {_THEIRS}")
    if len(before.segments) != len(after.segments):
        raise EpisodeError(f"the attack touched the rounds of the history: {_THEIRS}")
    for ours, theirs in zip(before.segments, after.segments, strict=True):
        _check_kept(_benign(ours), _benign(theirs))
        for turn in theirs:
            if turn.part == "attack":
                _check_added(turn, before)


def _benign(turns: tuple[Turn, ...]) -> list[Turn]:
    return [turn for turn in turns if turn.part != "attack"]


def _check_kept(ours: list[Turn], theirs: list[Turn]) -> None:
    if len(ours) != len(theirs) or not all(map(_kept, ours, theirs)):
        raise EpisodeError(f"the attack touched turns of the history: {_THEIRS}")


def _kept(was: Turn, now: Turn) -> bool:
    return (
        was.part == now.part
        and len(was.messages) == len(now.messages)
        and all(map(_same_or_rewritten, was.messages, now.messages))
    )


def _same_or_rewritten(was: Message, now: Message) -> bool:
    rewritten = replace(was, text=now.text, origin="attacker")
    return now == was or (was.origin in INGESTED and now == rewritten)


def _check_added(turn: Turn, before: Episode) -> None:
    if not turn.messages or len(turn.messages) % 2:
        raise EpisodeError("the attack added a turn that is not made of calls and their results")
    for asked, given in zip(turn.messages[::2], turn.messages[1::2], strict=True):
        if asked.call is None or asked != _agent("", asked.call):
            raise EpisodeError(
                f"the attack added a {asked.role} message of origin {asked.origin!r};"
                " it may only add tool results, each after its bare call"
            )
        if given != Message("tool", given.text, "attacker", asked.call):
            raise EpisodeError(
                f"the attack added a {given.role} message of origin {given.origin!r} after a"
                " call; that must be the call's result, of role 'tool' and origin 'attacker'"
            )
        if not _reads(asked.call, before):
            raise EpisodeError(
                f"the attack added a call of {asked.call.function!r} that the history does not"
                " know; repeat one of its calls, or give one a short name or path to read"
            )


def _reads(call: Call, before: Episode) -> bool:
    """Whether a call is one of the history's, or the same with a reference in it."""
    scenario = before.variant.scenario
    if call.function in {tool.name for tool in before.variant.tools}:
        return False
    if any(message.call == call for turn in before.turns for message in turn.messages):
        return True
    known = [made for turn in scenario.history.turns for made in turn.calls]
    return any(
        call.function == made.function and call.arguments.keys() <= made.arguments.keys()
        for made in (*known, scenario.channels.tool)
    ) and all(map(_is_reference, call.arguments.values()))


def _is_reference(value: object) -> bool:
    if isinstance(value, str):
        return _REFERENCE.fullmatch(value) is not None
    return isinstance(value, int | float)


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
    if channel == "system":
        return ()
    scenario = variant.scenario
    values = variant.values | {"policy": policy}
    ack = _agent(fill(scenario.ack, variant.values))
    if channel == "tool":
        tool = ToolTurn.model_validate(fill(scenario.channels.tool.model_dump(), values))
        return (Turn("policy", (*_tool_call(tool), ack)),)
    if channel == "memory":
        # The memory is a list itself, so a list of rules brings no first dash along.
        values = values | {"policy": policy.removeprefix("- ")}
        memory = Message("user", fill(scenario.channels.memory, values), "operator")
        return (Turn("policy", (memory, ack)),)
    return (Turn("policy", (_user(fill(scenario.channels.user, values)), ack)),)


def _segments(
    variant: Variant, tokens: int, rounds: int, allowed: bool
) -> tuple[tuple[Turn, ...], ...]:
    drawn = history.turns(variant)
    targets = [tokens] + [round(tokens * LATER_ROUNDS)] * (rounds - 1)
    segments = [tuple(_worked(turn) for turn in history.until(drawn, target)) for target in targets]
    if allowed and variant.approval is not None:
        segments[0] = (_worked(variant.approval), *segments[0])
    return tuple(segments)


def _worked(turn: HistoryTurn) -> Turn:
    calls = [message for call in turn.calls for message in _tool_call(call)]
    return Turn("history", (_user(turn.user), *calls, _agent(turn.reply)))


def _tool_call(tool: ToolTurn) -> tuple[Message, Message]:
    call = Call(function=tool.function, arguments=tool.arguments)
    return _agent("", call), Message("tool", tool.result, "tool", call)
