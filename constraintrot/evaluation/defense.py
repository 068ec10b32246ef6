"""What a defense is: three optional hooks around an agent's context, by name.

A defense never sees the grader, nor the policy unless an operator declared it.
The defenses themselves are in ``constraintrot.defenses``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from constraintrot.components import ComponentRegistry
from constraintrot.errors import ParameterError

if TYPE_CHECKING:
    from inspect_ai.model import ChatMessage, CompactionStrategy

Hook: TypeAlias = Literal["wrap", "assemble", "approve", "framework_pins"]
# Where contexts are assembled only to be measured, no step of an agent takes place.
MEASURING: ContextVar[bool] = ContextVar("measuring", default=False)
HOOKS: frozenset[Hook] = frozenset({"wrap", "assemble", "approve"})


@dataclass(frozen=True)
class Deployment:
    """What whoever deploys an agent tells its defense.

    Attributes:
        declared: the standing policies, word for word, that an operator
            declared; empty where a defense has to find them itself.
    """

    declared: tuple[str, ...] = ()


class Defense:
    """What a defense may do; each hook leaves things as they are unless overridden."""

    @property
    def touches_summarizer(self) -> bool:
        """Whether it changes what the compactor is shown, or how it answers.

        Where it does not, the compactor's answer is shared with the conditions
        that show it the same messages, so that they start from one summary. To be
        on the safe side that is true of every defense that overrides ``wrap``;
        one that only adds to what comes out says that it is not.
        """
        return type(self).wrap is not Defense.wrap

    def wrap(self, strategy: CompactionStrategy) -> CompactionStrategy:
        """Wrap the compactor."""
        return strategy

    async def assemble(self, messages: Sequence[ChatMessage]) -> list[ChatMessage]:
        """Change what the agent is sent, right before every call of its model."""
        return list(messages)

    async def approve(self, function: str, arguments: Mapping[str, Any]) -> str | None:
        """Why a proposed call is blocked, or None to let it through."""
        return None

    def framework_pins(self) -> object | None:
        """The ``defenses.pinning.pinned_block.PinnedBlock`` for a framework's own hook, or None.

        Only a defense that is registered with ``framework_pins=True`` is asked, by
        harnesses of frameworks that compact by themselves, where nothing can be wrapped.
        """
        return None


class Stacked(Defense):
    """Several defenses as one: the first wraps innermost and assembles first."""

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


Factory: TypeAlias = Callable[[Deployment], Defense]


@dataclass(frozen=True)
class DefenseSpec:
    """A defense as it is registered.

    Attributes:
        factory: makes a fresh one for one conversation.
        hooks: which hooks it acts through; a harness must support them all.
        declared: whether an operator hands it the policies.
        framework_pins: whether it supplies pins for the hook of a framework that
            compacts by itself, which stand in for its other hooks there.
    """

    factory: Factory
    hooks: frozenset[Hook]
    declared: bool
    framework_pins: bool = False

    def missing(self, supported: frozenset[Hook]) -> frozenset[Hook]:
        """The hooks that it needs and a harness does not have."""
        if self.framework_pins and "framework_pins" in supported:
            return frozenset()
        return self.hooks - supported


@dataclass(frozen=True)
class ChosenDefense:
    """A defense by the name that it was asked for; as text, that name."""

    name: str
    spec: DefenseSpec

    def __str__(self) -> str:
        """The name."""
        return self.name

    @property
    def active(self) -> bool:
        """Whether it is a defense at all."""
        return self.name != NO_DEFENSE

    def make(self, declared: Sequence[str] = ()) -> Defense:
        """A fresh one for one conversation.

        Args:
            declared: policies that an operator declares, word for word.

        Raises:
            ParameterError: a text where a list of policies belongs.
        """
        if isinstance(declared, str):
            raise ParameterError(f"declared is a list of policies, not one text: [{declared!r}]")
        return self.spec.factory(Deployment(tuple(declared) if self.spec.declared else ()))

    def check_supported(self, harness: str, supported: frozenset[Hook]) -> None:
        """Refuse a harness that lacks a hook which the defense needs.

        Raises:
            ParameterError: it lacks one, and the message names the defenses that
                would do; or the defense was registered with pins for frameworks
                and supplies none.
        """
        missing = self.spec.missing(supported)
        if missing:
            able = [one for one in DEFENSES.names() if not DEFENSES.get(one).missing(supported)]
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
        hooks: which hooks it acts through.
        declared: whether an operator hands it the policies; one that does not
            ask for them is never given them.
        framework_pins: whether ``Defense.framework_pins`` supplies what stands in
            for those hooks in a framework that compacts by itself.
    """

    def register(factory: Factory) -> Factory:
        DEFENSES(name)(DefenseSpec(factory, frozenset(hooks), declared, framework_pins))
        return factory

    return register


def parse_defense(name: str) -> ChosenDefense:
    """The defense of a name.

    Raises:
        UnknownNameError: no such defense; the message lists the known ones.
    """
    return ChosenDefense(name, DEFENSES.get(name))


def make(name: str, declared: Sequence[str] = ()) -> Defense:
    """A fresh defense for one conversation, by name.

    Args:
        name: as written in ``-T defense=``.
        declared: policies that an operator declares, word for word.

    Raises:
        UnknownNameError: no such defense; the message lists the known ones.
        ParameterError: a text where a list of policies belongs.
    """
    return parse_defense(name).make(declared)
