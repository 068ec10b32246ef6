"""Attacks: each rewrites or adds content that the agent ingests, by name.

>>> attacked = apply("volume:size=4000,position=early", episode)  # doctest: +SKIP

An adversary controls ingested data only; the engine refuses an attack that
touched anything else (``constraintrot.episode.episode.check_attacked``). What an attack
writes carries the origin ``attacker``, whoever its text claims to be. Nothing
here runs anything: the tools of an episode are simulated.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias, TypeVar, get_args

from constraintrot.components import ComponentRegistry
from constraintrot.episode.attack_check import check_attacked
from constraintrot.episode.episode import Episode
from constraintrot.errors import ParameterError

Surface: TypeAlias = Literal["tool_output", "document", "memory_entry"]
Position: TypeAlias = Literal["early", "middle", "recent"]
Knowledge: TypeAlias = Literal["black_box", "defense_aware"]

SURFACES: tuple[Surface, ...] = get_args(Surface)
POSITIONS: tuple[Position, ...] = get_args(Position)
MIN_SIZE, MAX_SIZE = 50, 200_000
T = TypeVar("T", bound=str)


@dataclass(frozen=True)
class Settings:
    """How one attack is delivered.

    Attributes:
        channel: the ingested content that it comes in.
        position: where in the history; ``recent`` is its very end.
        size: o200k tokens to write, for an attack that has a size, else None.
    """

    channel: Surface
    position: Position
    size: int | None = None


Apply: TypeAlias = Callable[[Episode, Settings], Episode]


@dataclass(frozen=True)
class Attack:
    """An attack as it is registered.

    Attributes:
        apply: the episode after the attack; the one given stays as it is.
        surface: channels that it can come in, its own first.
        knowledge: ``black_box`` knows neither policy nor defense;
            ``defense_aware`` knows that policies are pinned.
        summary: what it does, in one sentence.
        positions: where it can stand, its own first.
        size: its own size in o200k tokens; None for one that has none.
    """

    apply: Apply
    surface: tuple[Surface, ...]
    knowledge: Knowledge
    summary: str
    positions: tuple[Position, ...] = POSITIONS
    size: int | None = None

    @property
    def settings(self) -> Settings:
        """Its settings where none are given."""
        return Settings(self.surface[0], self.positions[0], self.size)


ATTACKS: ComponentRegistry[Attack] = ComponentRegistry("attack", __name__, "constraintrot.attacks")


def attack(
    name: str,
    *,
    knowledge: Knowledge,
    surface: tuple[Surface, ...] = SURFACES,
    positions: tuple[Position, ...] = POSITIONS,
    size: int | None = None,
) -> Callable[[Apply], Apply]:
    """Register an attack under a name; its docstring's first line is its summary.

    Args:
        name: as written in ``-T attack=``.
        knowledge: what the adversary knows.
        surface: channels that it can come in, its own first.
        positions: where it can stand, its own first.
        size: its own size in o200k tokens, where it has one.
    """

    def register(apply: Apply) -> Apply:
        summary = (apply.__doc__ or "").strip().partition("\n")[0]
        ATTACKS(name)(Attack(apply, surface, knowledge, summary, positions, size))
        return apply

    return register


@dataclass(frozen=True)
class Chosen:
    """An attack and how it is to be delivered; as text, what ``read`` reads.

    Attributes:
        name: as it is written, without settings.
        attack: what it does.
        settings: how it is delivered.
        searched: the seeds that it was searched on, by family; none for a fixed one.
    """

    name: str
    attack: Attack
    settings: Settings
    searched: Mapping[str, Collection[int]] = field(default_factory=dict[str, Collection[int]])

    def __str__(self) -> str:
        """The name, and the settings that are not the attack's own."""
        own = vars(self.attack.settings)
        held = vars(self.settings).items()
        changed = [f"{name}={value}" for name, value in held if value != own[name]]
        return f"{self.name}:{','.join(changed)}" if changed else self.name

    def check_held_out(self, family: str, seeds: Collection[int]) -> None:
        """Refuse to play a found attack on the variants that it was searched on.

        Raises:
            ParameterError: it was searched on one of them.
        """
        both = sorted(set(seeds) & set(self.searched.get(family, ())))
        if both:
            raise ParameterError(
                f"attack {self.name} was searched on {family} seeds {', '.join(map(str, both))};"
                " a found attack is evaluated on other variants only, so choose another seed"
            )


def read(text: str) -> Chosen:
    """Read ``name`` or ``name:key=value,key=value``; ``@file`` is what a search found.

    ``file:FILE`` is the same, for a shell's ``-T``, where YAML allows no bare ``@``.

    Raises:
        UnknownNameError: no such attack; the message lists the known ones.
        ParameterError: a setting that the attack does not take, or a wrong
            value; the message says what it takes. Or a file that holds no
            attack: missing, cut short, of another version, or nothing was found.
    """
    if text.startswith(("@", "file:")):
        from constraintrot.attack_search import replay

        return replay.chosen(text)
    name, colon, listed = text.partition(":")
    found = ATTACKS.get(name.strip())
    return Chosen(name.strip(), found, given(name.strip(), found, listed if colon else None))


def apply(name: str, episode: Episode) -> Episode:
    """The episode after an attack.

    Args:
        name: the attack, with or without settings, as ``read`` reads it.
        episode: what to attack; it stays as it is.

    Raises:
        UnknownNameError, ParameterError: as ``read``.
        EpisodeError: it touched what an adversary does not control.
    """
    return deliver(read(name), episode)


def deliver(chosen: Chosen, episode: Episode) -> Episode:
    """The episode after an attack that was read already; raises as ``apply``."""
    chosen.check_held_out(episode.variant.scenario.family, [episode.variant.seed])
    # A copy to compare with: calls' arguments could be changed where they stand.
    before = deepcopy(episode)
    after = chosen.attack.apply(episode, chosen.settings)
    check_attacked(before, after)
    return after


def given(name: str, found: Attack, listed: str | None) -> Settings:
    """The settings of ``key=value,key=value``; an attack's own where it is None.

    Raises:
        ParameterError: as ``read``.
    """
    settings = found.settings
    if listed is None:
        return settings
    takes: Mapping[str, str] = _takes(found)
    seen: set[str] = set()
    for item in listed.split(","):
        key, equals, value = (part.strip() for part in item.partition("="))
        if not equals or key in seen:
            raise ParameterError(
                f"attack {name}: settings are written {name}:key=value,key=value, each once,"
                f" not {item.strip()!r}"
            )
        if key not in takes:
            known = "; ".join(f"{key} ({values})" for key, values in takes.items()) or "none"
            raise ParameterError(f"attack {name} has no setting {key!r}; it takes: {known}")
        seen.add(key)
        settings = _with(settings, name, found, key, value)
    return settings


def _takes(found: Attack) -> dict[str, str]:
    takes = {"channel": ", ".join(found.surface), "position": ", ".join(found.positions)}
    if found.size is not None:
        takes["size"] = f"{MIN_SIZE} to {MAX_SIZE} tokens"
    return {key: values for key, values in takes.items() if values}


def _with(settings: Settings, name: str, found: Attack, key: str, value: str) -> Settings:
    if key == "channel":
        return replace(settings, channel=_choice(name, key, value, found.surface))
    if key == "position":
        return replace(settings, position=_choice(name, key, value, found.positions))
    if not (value.isascii() and value.isdecimal()) or not MIN_SIZE <= int(value) <= MAX_SIZE:
        raise ParameterError(
            f"attack {name}: size must be a whole number of tokens, {MIN_SIZE} to {MAX_SIZE},"
            f" not {value!r}"
        )
    return replace(settings, size=int(value))


def _choice(name: str, key: str, value: str, known: tuple[T, ...]) -> T:
    for choice in known:
        if value == choice:
            return choice
    raise ParameterError(f"attack {name}: unknown {key} {value!r}; known: {', '.join(known)}")
