"""The threat model, enforced: an attack may change ingested content only."""

import re
from dataclasses import replace

from constraintrot.episode.channels import CHANNELS
from constraintrot.episode.episode import Episode, Message, Origin, Turn
from constraintrot.errors import EpisodeError
from constraintrot.scenario import history
from constraintrot.scenario.schema import Call

# What an attack may change or add: content that the agent ingests.
INGESTED: frozenset[Origin] = frozenset({"tool", "attacker"})
_THEIRS = (
    "content that an adversary does not control; it may only rewrite tool results of the"
    " history, or add turns of calls and results (part 'attack'), marked as the attacker's"
)
# An added call may name a document, but its arguments may not hold prose.
_REFERENCE = re.compile(r"[\w./:@#-]{1,80}", re.ASCII)


def check_attacked(before: Episode, after: Episode) -> None:
    """Refuse an attack that changed anything but ingested content.

    An attack may rewrite tool results of the history, and may insert turns of part
    ``attack``, made of tool calls and their results, anywhere in the history.
    Everything that it wrote has the origin ``attacker``. It may not change the
    policy turn, not even in the channel ``tool``: there would be no policy left to test.
    In the store of a channel it may change what the channel's own check allows; the
    session must then show exactly what the channel shows of the changed store.

    Raises:
        EpisodeError: the attack changed the variant, the opening, the policy turn,
            the trigger, a message of the user or the agent, or the order of the
            turns; or it added anything but results of read-only calls.
    """
    kept = ("variant", "policy", "allowed", "declared", "tools", "files", "channel")
    if any(getattr(before, name) != getattr(after, name) for name in kept):
        raise EpisodeError("the attack changed the scenario itself")
    shown = _shown(before, after)
    fixed = shown.opening, shown.standing, shown.trigger
    told = fixed == (after.opening, after.standing, after.trigger)
    if not told or not shown.notes.items() <= after.notes.items():
        raise EpisodeError(f"the attack touched the opening, policy turn or trigger: {_THEIRS}")
    if len(before.segments) != len(after.segments):
        raise EpisodeError(f"the attack touched the rounds of the history: {_THEIRS}")
    for ours, theirs in zip(before.segments, after.segments, strict=True):
        _check_kept(_benign(ours), _benign(theirs))
        for turn in theirs:
            if turn.part == "attack":
                _check_added(turn, before)


def _shown(before: Episode, after: Episode) -> Episode:
    """Return the unattacked episode as its channel shows the attacked store."""
    if after.store == before.store:
        return before
    store = CHANNELS.get(before.channel).store
    if store is None:
        raise EpisodeError(f"the attack changed a store, and channel={before.channel} has none")
    store.check(before.store, after.store)
    return store.shown(before, after.store)


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
        if asked.call is None or asked != Message("assistant", "", "agent", asked.call):
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
    """Return whether the history has this call, perhaps with other references."""
    scenario = before.variant.scenario
    if call.function in {tool.name for tool in before.variant.tools}:
        return False
    if any(message.call == call for turn in before.turns for message in turn.messages):
        return True
    known = {tool.name: set(tool.properties) for tool in history.tools(before.variant)}
    framed = scenario.channels.tool
    known[framed.function] = known.get(framed.function, set()) | set(framed.arguments)
    return (
        call.function in known
        and call.arguments.keys() <= known[call.function]
        and all(map(_is_reference, call.arguments.values()))
    )


def _is_reference(value: object) -> bool:
    if isinstance(value, str):
        return _REFERENCE.fullmatch(value) is not None
    return isinstance(value, int | float)
