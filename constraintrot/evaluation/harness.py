"""The interface of a harness, which plays an episode in one agent framework, and its registry.

The implementations are in ``constraintrot.harnesses``.
"""

from __future__ import annotations

import warnings
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from inspect import isawaitable
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, TypeAlias

from packaging.version import Version

from constraintrot.components import ComponentRegistry, check_made
from constraintrot.errors import EpisodeError, ParameterError
from constraintrot.evaluation.defense import HOOKS, ChosenDefense, Hook, checked_hooks

if TYPE_CHECKING:
    # An agent that only pins its policies imports this module with its framework's hook.
    from inspect_ai.model import ChatMessage, ModelOutput

    from constraintrot.compaction.rounds import Compacted
    from constraintrot.episode.episode import Episode
    from constraintrot.evaluation.play_settings import Network, PlaySettings


@dataclass(frozen=True)
class Played:
    """The result of a played episode.

    Attributes:
        calls: the agent's tool calls as it wrote them, each
            ``{"function": str, "arguments": dict}``; they were never executed.
        last_input: the exact messages of the last call of the agent's model.
        output: the output of that call.
        compacted: the compacted context and its rounds; None if no compaction was due.
        recalled: the policy that the agent said is in force; None if it was not asked.
        fault: why the answer could not be parsed; None if it could.
        prose: the last answer if it holds no call: a refusal, for instance, or unparsable text.
        blocked: why a defense blocked the calls; None if none did.
        facts: further entries of the sample's metadata.
    """

    calls: tuple[Any, ...]
    last_input: tuple[ChatMessage, ...]
    output: ModelOutput
    compacted: Compacted | None = None
    recalled: str | None = None
    fault: str | None = None
    prose: str = ""
    blocked: str | None = None
    facts: dict[str, Any] = field(default_factory=dict)


Harness: TypeAlias = "Callable[[Episode, PlaySettings], Awaitable[Played]]"
HarnessFactory: TypeAlias = "Callable[[str, bool], Harness]"
LIVE = "live"
# How often an agent may be asked within one turn of a framework's loop.
MAX_STEPS = 8
# A framework that compacts itself has no compactor to wrap; its messages can be changed.
FRAMEWORK_HOOKS: frozenset[Hook] = frozenset({"assemble", "approve", "framework_pins"})


@dataclass(frozen=True)
class Needs:
    """A distribution that a harness requires.

    Attributes:
        distribution: its name on the package index.
        tested: lowest tested version.
        below: lowest version above the tested ones.
    """

    distribution: str
    tested: str
    below: str


@dataclass(frozen=True)
class HarnessSpec:
    """A registered harness.

    Attributes:
        factory: makes the harness from a compaction mode and whether it is live.
        hooks: the hooks of a defense that it supports.
        modes: the framework's compaction modes, the default first; empty if the
            task's compactor is used.
        needs: the distributions that it requires.
        extra: the extra of this package that installs them.
        ready: raises a ``ParameterError`` if something else that it requires is missing.
        network_check: raises a ``ParameterError`` if its program cannot be kept from the
            network as asked; None if it runs no program.
        repeats: whether it can be made to compact several times in an episode.
    """

    factory: HarnessFactory
    hooks: frozenset[Hook]
    modes: tuple[str, ...] = ()
    needs: tuple[Needs, ...] = ()
    extra: str = ""
    ready: Callable[[], object] | None = None
    network_check: Callable[[Network], None] | None = None
    repeats: bool = False

    @property
    def runs_program(self) -> bool:
        """True if it runs a program in a folder, with files that can hold a policy."""
        return self.network_check is not None

    @property
    def compacts_itself(self) -> bool:
        """True if the framework compacts by itself, instead of the task's compactor."""
        return bool(self.modes)


HARNESSES: ComponentRegistry[HarnessSpec] = ComponentRegistry(
    "harness", "constraintrot.harnesses", "constraintrot.harnesses"
)


def harness(
    name: str,
    *,
    hooks: Iterable[Hook] = HOOKS,
    modes: Sequence[str] = (),
    needs: tuple[Needs, ...] = (),
    extra: str = "",
    ready: Callable[[], object] | None = None,
    network_check: Callable[[Network], None] | None = None,
    repeats: bool = False,
) -> Callable[[HarnessFactory], HarnessFactory]:
    """Register a harness's factory under a name, as written in ``-T harness=``.

    The other arguments are those of ``HarnessSpec``.
    """
    if isinstance(modes, str):
        raise ParameterError(f"harness {name}: modes are several names, as ({modes!r},)")
    known = checked_hooks(f"harness {name}", hooks, HOOKS | FRAMEWORK_HOOKS)

    def register(factory: HarnessFactory) -> HarnessFactory:
        spec = HarnessSpec(
            factory, known, tuple(modes), needs, extra, ready, network_check, repeats
        )
        HARNESSES(name)(spec)
        return factory

    return register


def imported_when_made(path: str) -> HarnessFactory:
    """Return a factory that imports its module, and the framework, when a harness is made.

    A harness registered so is listed without its framework, and refused with a clear message.

    Args:
        path: the real factory's path, as ``package.module:function``.
    """

    def make(mode: str, live: bool) -> Harness:
        factory: HarnessFactory = resolve_name(path)
        return factory(mode, live)

    return make


@dataclass(frozen=True)
class ChosenHarness:
    """A harness with its compaction mode; ``str()`` gives what ``parse_harness`` reads.

    Attributes:
        name: the harness's name.
        spec: the registered harness.
        mode: one of its compaction modes; empty if it has none.
        live: whether the agent's model also plays the history, turn by turn, with
            simulated tools.
    """

    name: str
    spec: HarnessSpec
    mode: str
    live: bool = False

    def __str__(self) -> str:
        """Return ``name``, ``name:mode``, ``name:live`` or ``name:mode:live``; no default mode."""
        default = self.spec.modes[:1]
        parts = [self.name, *([self.mode] if (self.mode,) != default and self.mode else [])]
        return ":".join([*parts, LIVE] if self.live else parts)

    def check_defense(self, defense: ChosenDefense) -> None:
        """Check that this harness supports the hooks that a defense needs.

        Raises:
            ParameterError: as ``ChosenDefense.check_supported``.
        """
        defense.check_supported(self.name, self.spec.hooks)

    def make(self) -> Harness:
        """Return a new harness."""
        made = self.spec.factory(self.mode, self.live)
        check_made(f"harness {self.name}", made, Callable)

        async def play(episode: Episode, settings: PlaySettings) -> Played:
            asked = made(episode, settings)
            played = await asked if isawaitable(asked) else asked
            if not isinstance(played, Played):
                raise EpisodeError(
                    f"harness {self.name} returned {type(played).__name__}, not Played"
                )
            return played

        return play


def parse_harness(text: str) -> ChosenHarness:
    """Parse ``name``, ``name:mode``, ``name:live`` or ``name:mode:live``.

    Warns if a required distribution is installed in an untested version.

    Raises:
        UnknownNameError: no such harness. The message lists the known ones.
        ParameterError: no such compaction mode (the message lists the modes), or a
            requirement is not installed (the message has the command).
    """
    name, *given = (part.strip() for part in text.split(":"))
    spec = HARNESSES.get(name)
    live = given[-1:] == [LIVE] and spec.compacts_itself
    modes = given[:-1] if live else given
    if len(modes) > 1 or (modes and modes[0] not in spec.modes):
        known = f"modes: {', '.join((*spec.modes, LIVE))}" if spec.modes else "it has none"
        raise ParameterError(f"harness {name} has no compaction mode {':'.join(given)!r}; {known}")
    for needed in spec.needs:
        _check_installed(name, needed, spec.extra)
    if spec.ready is not None:
        spec.ready()
    return ChosenHarness(name, spec, modes[0] if modes else next(iter(spec.modes), ""), live)


@lru_cache
def _version(distribution: str) -> str:
    return version(distribution)


def _check_installed(name: str, needed: Needs, extra: str) -> None:
    try:
        installed = _version(needed.distribution)
    except PackageNotFoundError as error:
        raise ParameterError(
            f"harness {name} needs {needed.distribution}, which is not installed:"
            f" pip install 'constraintrot[{extra}]'"
        ) from error
    if not Version(needed.tested) <= Version(installed) < Version(needed.below):
        warnings.warn(
            f"harness {name} was tested with {needed.distribution} from {needed.tested} to below"
            f" {needed.below}, and {installed} is installed; what it measures may differ",
            stacklevel=3,
        )
