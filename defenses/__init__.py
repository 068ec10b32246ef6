"""Defenses: three optional hooks around an agent's context, by name.

Outside the benchmark a defense is three lines:

>>> from constraintrot.defenses import make
>>> defense = make("spotlight")
>>> messages = await defense.assemble(messages)  # doctest: +SKIP

A defense never sees the grader, nor the policy unless an operator declared it.
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

Hook: TypeAlias = Literal["wrap", "assemble", "approve", "drop_in"]
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

    def wrap(self, strategy: CompactionStrategy) -> CompactionStrategy:
        """Wrap the compactor."""
        return strategy

    async def assemble(self, messages: Sequence[ChatMessage]) -> list[ChatMessage]:
        """Change what the agent is sent, right before every call of its model."""
        return list(messages)

    async def approve(self, function: str, arguments: Mapping[str, Any]) -> str | None:
        """Why a proposed call is blocked, or None to let it through."""
        return None


class Stacked(Defense):
    """Several defenses as one: the first wraps innermost and assembles first."""

    def __init__(self, *defenses: Defense) -> None:
        self.defenses = defenses

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
class Registered:
    """A defense as it is registered.

    Attributes:
        factory: makes a fresh one for one conversation.
        hooks: which hooks it acts through; a harness must support them all.
        declared: whether an operator hands it the policies.
        drop_in: whether ``constraintrot.defenses.frameworks`` has it for the
            frameworks that compact by themselves, where nothing can be wrapped.
    """

    factory: Factory
    hooks: frozenset[Hook]
    declared: bool
    drop_in: bool = False

    def missing(self, supported: frozenset[Hook]) -> frozenset[Hook]:
        """The hooks that it needs and a harness does not have."""
        if self.drop_in and "drop_in" in supported:
            return frozenset()
        return self.hooks - supported


DEFENSES: ComponentRegistry[Registered] = ComponentRegistry(
    "defense", __name__, "constraintrot.defenses"
)


def defense(
    name: str, *, hooks: Iterable[Hook] = (), declared: bool = False, drop_in: bool = False
) -> Callable[[Factory], Factory]:
    """Register a defense's factory under a name.

    Args:
        name: as written in ``-T defense=``.
        hooks: which hooks it acts through.
        declared: whether an operator hands it the policies; one that does not
            ask for them is never given them.
        drop_in: whether there is a hook for each framework.
    """

    def register(factory: Factory) -> Factory:
        DEFENSES(name)(Registered(factory, frozenset(hooks), declared, drop_in))
        return factory

    return register


def make(name: str, declared: Sequence[str] = ()) -> Defense:
    """A fresh defense for one conversation.

    Args:
        name: as written in ``-T defense=``.
        declared: policies that an operator declares, word for word.

    Raises:
        UnknownNameError: no such defense; the message lists the known ones.
        ParameterError: a text where a list of policies belongs.
    """
    if isinstance(declared, str):
        raise ParameterError(f"declared is a list of policies, not one text: [{declared!r}]")
    found = DEFENSES.get(name)
    return found.factory(Deployment(tuple(declared) if found.declared else ()))


def check_supported(name: str, harness: str, supported: frozenset[Hook]) -> None:
    """Refuse a defense that needs a hook which a harness does not have.

    Raises:
        ParameterError: it does; the message names the defenses that would do.
        UnknownNameError: no such defense.
    """
    missing = DEFENSES.get(name).missing(supported)
    if missing:
        able = [one for one in DEFENSES.names() if not DEFENSES.get(one).missing(supported)]
        raise ParameterError(
            f"defense {name} needs {', '.join(sorted(missing))}, which harness {harness} does not"
            f" have; supported there: {', '.join(able)}"
        )
