"""The interface of a defense (three optional hooks around an agent), and its registry.

A defense never sees the grader. It sees the policy only if an operator declared it.
The implementations are in ``constraintrot.defenses``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from constraintrot.components import ComponentRegistry, check_made, returned
from constraintrot.errors import ParameterError

if TYPE_CHECKING:
    from inspect_ai.model import ChatMessage, CompactionStrategy

Hook: TypeAlias = Literal["wrap", "assemble", "approve", "framework_pins"]
# True while a context is assembled only to be measured, not sent: a defense that counts
# the agent's steps must not count this one.
MEASURING: ContextVar[bool] = ContextVar("measuring", default=False)
HOOKS: frozenset[Hook] = frozenset({"wrap", "assemble", "approve"})


def checked_hooks(whose: str, hooks: Iterable[Hook], known: frozenset[Hook]) -> frozenset[Hook]:
    """Return a component's hooks; raise ParameterError for an unknown one, or for a bare text."""
    given = frozenset(hooks)
    if isinstance(hooks, str) or given - known:
        wrong = hooks if isinstance(hooks, str) else ", ".join(sorted(given - known))
        raise ParameterError(f"{whose}: hooks={wrong!r} is none; known: {', '.join(sorted(known))}")
    return given


@dataclass(frozen=True)
class Deployment:
    """The policies and the configuration that a defense is given when an agent is deployed.

    Attributes:
        declared: the policies that an operator declared, verbatim; empty for a
            defense that detects policies itself.
    """

    declared: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if isinstance(self.declared, str):
            raise ParameterError(
                f"declared is a tuple of policies, not one text: ({self.declared!r},)"
            )


def rules_of(given: str | Iterable[str]) -> tuple[str, ...]:
    """Return rules as a tuple; a bare string is one rule.

    Raises:
        ParameterError: the rules are a mapping or bytes, or one of them is not a text.
    """
    if isinstance(given, str):
        return (given,)
    rules = () if isinstance(given, Mapping | bytes) else tuple(given)
    if isinstance(given, Mapping | bytes) or not all(
        isinstance(rule, str) for rule in rules
    ):  # callers may be untyped
        raise ParameterError("rules are a list of texts; of a mapping, give its values()")
    return rules


class Defense:
    """Base class of defenses; each hook does nothing unless it is overridden."""

    @property
    def touches_summarizer(self) -> bool:
        """True if the defense changes the compactor's input or its answer.

        If not, the compactor's answer is shared with the conditions that show it the same
        messages, so that they start from one summary. The default is true for every defense
        that overrides ``wrap``; one that only adds to the output overrides this.
        """
        return type(self).wrap is not Defense.wrap

    def wrap(self, strategy: CompactionStrategy) -> CompactionStrategy:
        """Wrap the compactor; called once per conversation."""
        return strategy

    async def assemble(self, messages: Sequence[ChatMessage]) -> list[ChatMessage]:
        """Return the messages to send instead; called before every call of the agent's model."""
        return list(messages)

    async def approve(self, function: str, arguments: Mapping[str, Any]) -> str | None:
        """Return the reason to block a proposed tool call, or None to allow it.

        Args:
            function: name of the tool.
            arguments: the call's arguments by name.
        """
        return None

    def framework_pins(self) -> object | None:
        """Return the ``defenses.pinning.pinned_block.PinnedBlock`` for a framework's hook, or None.

        Called only if the defense is registered with ``framework_pins=True``, by harnesses
        whose framework compacts by itself, so that there is no compactor to wrap.
        """
        return None


class Stacked(Defense):
    """Several defenses as one: the first wraps innermost, assembles first and approves first."""

    def __init__(self, *defenses: Defense) -> None:
        self.defenses = defenses

    @property
    def touches_summarizer(self) -> bool:
        return any(one.touches_summarizer for one in self.defenses)

    def wrap(self, strategy: CompactionStrategy) -> CompactionStrategy:
        for defense in self.defenses:
            strategy = defense.wrap(strategy)
        return strategy

    async def assemble(self, messages: Sequence[ChatMessage]) -> list[ChatMessage]:
        for defense in self.defenses:
            messages = await defense.assemble(messages)
        return list(messages)

    async def approve(self, function: str, arguments: Mapping[str, Any]) -> str | None:
        for defense in self.defenses:
            reason = await defense.approve(function, arguments)
            if reason is not None:
                return reason
        return None


def overridden(defense: Defense) -> frozenset[Hook]:
    """Return the hooks that a defense overrides."""
    if isinstance(defense, Stacked):
        return frozenset[Hook]().union(*map(overridden, defense.defenses))
    return frozenset(
        hook
        for hook in HOOKS
        if getattr(getattr(defense, hook), "__func__", None) is not getattr(Defense, hook)
    )


async def assembled(defense: Defense, messages: Sequence[ChatMessage]) -> list[ChatMessage]:
    """Return the messages that a defense sends; raise EpisodeError if they are none."""
    from inspect_ai.model import ChatMessageBase

    made = returned(defense, "assemble", await defense.assemble(messages), list)
    return [returned(defense, "assemble, in its list,", one, ChatMessageBase) for one in made]


Factory: TypeAlias = Callable[[Deployment], Defense]


@dataclass(frozen=True)
class DefenseSpec:
    """A registered defense.

    Attributes:
        factory: makes a new defense for one conversation.
        hooks: the hooks that it overrides; a harness must support them all.
        declared: whether it is given the policies that an operator declared.
        framework_pins: whether it supplies pins for the hook of a framework that
            compacts itself; there they replace its other hooks.
    """

    factory: Factory
    hooks: frozenset[Hook]
    declared: bool
    framework_pins: bool = False

    def missing(self, supported: frozenset[Hook]) -> frozenset[Hook]:
        """Return the hooks that the defense needs and a harness with these hooks lacks."""
        if self.framework_pins and "framework_pins" in supported:
            return frozenset()
        return self.hooks - supported


@dataclass(frozen=True)
class ChosenDefense:
    """A defense, looked up by name; ``str()`` gives the name."""

    name: str
    spec: DefenseSpec

    def __str__(self) -> str:
        """Return the name, as in ``-T defense=``."""
        return self.name

    @property
    def active(self) -> bool:
        """False for ``none``."""
        return self.name != NO_DEFENSE

    def make(self, declared: Sequence[str] = ()) -> Defense:
        """Return a new defense for one conversation.

        Args:
            declared: the policies that an operator declares, verbatim.

        Raises:
            ParameterError: ``declared`` is a string instead of a list of strings, or the
                factory's defense overrides a hook that was not registered.
        """
        if isinstance(declared, str):
            raise ParameterError(f"declared is a list of policies, not one text: [{declared!r}]")
        made = self.spec.factory(Deployment(tuple(declared) if self.spec.declared else ()))
        check_made(f"defense {self.name}", made, Defense, ("assemble", "approve"))
        if unnamed := sorted(overridden(made) - self.spec.hooks):
            every = sorted(self.spec.hooks | overridden(made))
            raise ParameterError(
                f"defense {self.name} overrides {', '.join(unnamed)}, and is registered without;"
                f" write @defense({self.name!r}, hooks={every})"
            )
        return made

    def check_supported(self, harness: str, supported: frozenset[Hook]) -> None:
        """Check that a harness supports the hooks that the defense needs.

        Args:
            harness: the harness's name, for the message.
            supported: its hooks.

        Raises:
            ParameterError: the harness lacks a hook; the message names the defenses
                that it supports. Or the defense is registered with
                ``framework_pins=True`` and supplies none.
        """
        missing = self.spec.missing(supported)
        if missing:
            able = [name for name in DEFENSES.names() if not DEFENSES.get(name).missing(supported)]
            raise ParameterError(
                f"defense {self.name} needs {', '.join(sorted(missing))}, which harness {harness}"
                f" does not have; supported there: {', '.join(able)}"
            )
        if not self.spec.hooks <= supported and self.make().framework_pins() is None:
            raise ParameterError(
                f"defense {self.name} is registered with framework_pins=True and supplies none,"
                f" so harness {harness} would play without it; override Defense.framework_pins"
            )


NO_DEFENSE = "none"
DEFENSES: ComponentRegistry[DefenseSpec] = ComponentRegistry(
    "defense", "constraintrot.defenses", "constraintrot.defenses"
)


def defense(
    name: str,
    *,
    hooks: Iterable[Hook] = (),
    declared: bool = False,
    framework_pins: bool = False,
) -> Callable[[Factory], Factory]:
    """Register a defense's factory under a name.

    Args:
        name: as written in ``-T defense=``.
        hooks: the hooks that it overrides.
        declared: whether it is given the policies that an operator declared; by
            default it never is.
        framework_pins: whether ``Defense.framework_pins`` supplies pins that replace
            these hooks in a framework that compacts itself.
    """
    known = checked_hooks(f"defense {name}", hooks, HOOKS)

    def register(factory: Factory) -> Factory:
        DEFENSES(name)(DefenseSpec(factory, known, declared, framework_pins))
        return factory

    return register


def parse_defense(name: str) -> ChosenDefense:
    """Look up a defense by name.

    Raises:
        UnknownNameError: no such defense. The message lists the known ones.
    """
    return ChosenDefense(name, DEFENSES.get(name))


def make(name: str, declared: Sequence[str] = ()) -> Defense:
    """Return a new defense for one conversation, by name.

    Args:
        name: as written in ``-T defense=``.
        declared: the policies that an operator declares, verbatim.

    Raises:
        UnknownNameError: no such defense. The message lists the known ones.
        ParameterError: ``declared`` is a string instead of a list of strings.
    """
    return parse_defense(name).make(declared)
