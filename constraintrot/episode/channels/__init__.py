"""Policy channels: the ways in which a policy enters a conversation, by name.

A channel puts the policy into an episode that was staged without one. The four of a conversation
are here, those of files in ``file``, and others in modules of installed packages that are named in
the entry point group ``constraintrot.channels``.

>>> @policy_channel("postscript")
... def postscript(episode: Episode, given: Given) -> Episode:
...     return with_policy_turn(episode, Message("user", given.text, "user"))
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from constraintrot.components import ComponentRegistry
from constraintrot.episode.episode import Episode, Message, Turn, tool_call
from constraintrot.scenario.schema import ToolTurn
from constraintrot.scenario.template import Value, fill


@dataclass(frozen=True)
class Given:
    """The text that a channel puts into an episode.

    Attributes:
        text: the policy among the other rules, or a neutral text in its place.
        rules: the same, rule by rule.
    """

    text: str
    rules: Sequence[str]


@dataclass(frozen=True)
class Player:
    """The facts about a harness on which a channel may depend."""

    name: str
    live: bool
    runs_program: bool


Filled: TypeAlias = Callable[[Mapping[str, Value]], Sequence[str]]
"""Fills in the texts of an attack, given values beyond those of every attack."""


@dataclass(frozen=True)
class Store:
    """Texts beside the conversation, of which the channel shows a session a part.

    Attributes:
        noun: its name in error messages, as "the vault of a wiki".
        check: raises ``EpisodeError`` if an attack changed a text that no adversary writes;
            it takes the texts before and after the attack, by path.
        shown: returns the episode of a session that reads these texts.
        added: returns the episode after an adversary's texts came into the store.
        fills: placeholders that such texts may hold besides those of every attack.
    """

    noun: str
    check: Callable[[Mapping[str, str], Mapping[str, str]], None]
    shown: Callable[[Episode, Mapping[str, str]], Episode]
    added: Callable[[Episode, Filled], Episode]
    fills: frozenset[str] = frozenset()


Stage: TypeAlias = Callable[[Episode, Given], Episode]


@dataclass(frozen=True)
class PolicyChannel:
    """A registered channel.

    Attributes:
        stage: puts the policy into an episode that was staged without it.
        store: the texts beside the conversation that hold the policy; None if it is in the
            conversation or in a file.
        unfit: returns the end of an error message that begins with the channel's name, if the
            channel does not go with a harness; else an empty text.
        uncompacted: the noun of the policy's place, if no compaction reaches it; else empty.
    """

    stage: Stage
    store: Store | None = None
    unfit: Callable[[Player], str] = lambda player: ""
    uncompacted: str = ""


CHANNELS: ComponentRegistry[PolicyChannel] = ComponentRegistry(
    "channel", __name__, "constraintrot.channels"
)


def policy_channel(
    name: str,
    *,
    store: Store | None = None,
    unfit: Callable[[Player], str] = lambda player: "",
    uncompacted: str = "",
) -> Callable[[Stage], Stage]:
    """Register a channel under a name; the arguments are those of ``PolicyChannel``."""

    def register(stage: Stage) -> Stage:
        CHANNELS(name)(PolicyChannel(stage, store, unfit, uncompacted))
        return stage

    return register


def with_policy_turn(episode: Episode, *messages: Message) -> Episode:
    """Return the episode with a turn that gives the policy, which the agent acknowledges."""
    variant = episode.variant
    ack = Message("assistant", fill(variant.scenario.ack, variant.values), "agent")
    return replace(episode, standing=(Turn("policy", (*messages, ack)),))


def framed(episode: Episode, kind: str, policy: str) -> str:
    """Return the policy in the scenario's text for ``system``, ``user`` or ``memory``."""
    variant = episode.variant
    text: str = getattr(variant.scenario.channels, kind)
    return fill(text, variant.values | {"policy": policy})


@policy_channel("user")
def _user(episode: Episode, given: Given) -> Episode:
    """Put the policy into the first turn after the opening."""
    return with_policy_turn(episode, Message("user", framed(episode, "user", given.text), "user"))


@policy_channel("memory")
def _memory(episode: Episode, given: Given) -> Episode:
    """Put the policy into an entry of the agent's memory."""
    # The scenario's text already starts the entry with a dash.
    entry = framed(episode, "memory", given.text.removeprefix("- "))
    return with_policy_turn(episode, Message("user", entry, "operator"))


@policy_channel("tool")
def _tool(episode: Episode, given: Given) -> Episode:
    """Put the policy into a tool's result that the agent asks for."""
    variant = episode.variant
    values = variant.values | {"policy": given.text}
    asked = ToolTurn.model_validate(fill(variant.scenario.channels.tool.model_dump(), values))
    return with_policy_turn(episode, *tool_call(asked))


@policy_channel("system", uncompacted="system message")
def _system(episode: Episode, given: Given) -> Episode:
    """Put the policy at the end of the system message."""
    first, *others = episode.opening.messages
    told = replace(first, text=f"{first.text}\n\n{framed(episode, 'system', given.text)}")
    return replace(episode, opening=replace(episode.opening, messages=(told, *others)))
