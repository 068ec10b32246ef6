"""Harnesses: each plays an episode in one agent framework, by name."""

from __future__ import annotations

import warnings
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any, TypeAlias

from packaging.version import Version

from constraintrot.components import ComponentRegistry
from constraintrot.defenses import HOOKS, Hook
from constraintrot.episode.episode import Episode
from constraintrot.errors import ParameterError
from constraintrot.evaluation.play_settings import Plan

if TYPE_CHECKING:
    from inspect_ai.model import ChatMessage, ModelOutput

    from constraintrot.compaction.rounds import Compacted


@dataclass(frozen=True)
class Played:
    """What came of an episode.

    Attributes:
        calls: the tool calls that the agent made, as it wrote them; parsed, never run.
        last_input: the exact messages of the last call of the agent's model.
        output: that call's output.
        compacted: the compacted context and its rounds; None where nothing was due.
        recalled: the policy the agent said is in force; None where it was not asked.
        fault: why the answer could not be read, where it could not.
        blocked: why a defense stopped the calls, where one did.
        facts: what else belongs in the sample's metadata.
    """

    calls: tuple[Any, ...]
    last_input: tuple[ChatMessage, ...]
    output: ModelOutput
    compacted: Compacted | None = None
    recalled: str | None = None
    fault: str | None = None
    blocked: str | None = None
    facts: dict[str, Any] = field(default_factory=dict)


Harness: TypeAlias = Callable[[Episode, Plan], Awaitable[Played]]
LIVE = "live"
# A framework's own compaction leaves nothing to wrap; what it sends can be changed.
FRAMEWORK_HOOKS: frozenset[Hook] = frozenset({"assemble", "approve", "drop_in"})


@dataclass(frozen=True)
class Needs:
    """A distribution that a harness runs on.

    Attributes:
        distribution: its name on the package index.
        tested: lowest version that the tests ran with.
        below: first version that nobody tested.
    """

    distribution: str
    tested: str
    below: str


@dataclass(frozen=True)
class Registered:
    """A harness as it is registered.

    Attributes:
        factory: makes one for an arm; a second argument says whether it is live.
        hooks: which hooks of a defense it has a place for.
        arms: its ways to keep a context small, its own default first; empty
            where the compactor is the task's.
        needs: what must be installed.
        extra: the extra of this package that installs it.
    """

    factory: Callable[[str, bool], Harness]
    hooks: frozenset[Hook]
    arms: tuple[str, ...] = ()
    needs: tuple[Needs, ...] = ()
    extra: str = ""

    @property
    def own(self) -> bool:
        """Whether it compacts with a framework's own means."""
        return bool(self.arms)


HARNESSES: ComponentRegistry[Registered] = ComponentRegistry(
    "harness", __name__, "constraintrot.harnesses"
)


def harness(
    name: str,
    *,
    hooks: frozenset[Hook] = HOOKS,
    arms: tuple[str, ...] = (),
    needs: tuple[Needs, ...] = (),
    extra: str = "",
) -> Callable[[Callable[[str, bool], Harness]], Callable[[str, bool], Harness]]:
    """Register a harness's factory under a name.

    Args:
        name: as written in ``-T harness=``.
        hooks: which hooks of a defense it has a place for.
        arms: its ways to keep a context small, its own default first; none where
            the compactor is the task's.
        needs: what must be installed.
        extra: the extra of this package that installs it.
    """

    def register(
        factory: Callable[[str, bool], Harness],
    ) -> Callable[[str, bool], Harness]:
        HARNESSES(name)(Registered(factory, hooks, arms, needs, extra))
        return factory

    return register


@dataclass(frozen=True)
class Chosen:
    """A harness with its arm; as text, what ``read`` reads.

    Attributes:
        name: the harness.
        registered: what it is.
        arm: which of its arms; empty where it has none.
        live: whether the agent's model plays the history as well, turn by turn,
            over simulated tools.
    """

    name: str
    registered: Registered
    arm: str
    live: bool = False

    def __str__(self) -> str:
        """The name, and what is not its default."""
        own = self.registered.arms[:1]
        parts = [self.name, *([self.arm] if (self.arm,) != own and self.arm else [])]
        return ":".join([*parts, LIVE] if self.live else parts)

    def make(self) -> Harness:
        """The harness."""
        return self.registered.factory(self.arm, self.live)


def read(text: str) -> Chosen:
    """Read ``name``, ``name:arm``, ``name:live`` or ``name:arm:live``.

    Raises:
        UnknownNameError: no such harness; the message lists the known ones.
        ParameterError: no such arm, or what it needs is not installed; the
            message says what there is, or how to install it.
    """
    name, *given = (part.strip() for part in text.split(":"))
    found = HARNESSES.get(name)
    live = given[-1:] == [LIVE] and found.own
    arms = given[:-1] if live else given
    if len(arms) > 1 or (arms and arms[0] not in found.arms):
        takes = f"arms: {', '.join((*found.arms, LIVE))}" if found.own else "it has no arms"
        raise ParameterError(f"harness {name} has no arm {':'.join(given)!r}; {takes}")
    for needed in found.needs:
        _check_installed(name, needed, found.extra)
    return Chosen(name, found, arms[0] if arms else next(iter(found.arms), ""), live)


@lru_cache
def _version(distribution: str) -> str:
    return version(distribution)


def _check_installed(name: str, needed: Needs, extra: str) -> None:
    try:
        there = _version(needed.distribution)
    except PackageNotFoundError as error:
        raise ParameterError(
            f"harness {name} needs {needed.distribution}, which is not installed:"
            f" pip install 'constraintrot[{extra}]'"
        ) from error
    if not Version(needed.tested) <= Version(there) < Version(needed.below):
        warnings.warn(
            f"harness {name} was tested with {needed.distribution} from {needed.tested} to below"
            f" {needed.below}, and {there} is installed; what it measures may differ",
            stacklevel=3,
        )
