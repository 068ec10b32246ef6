"""The definition of an attack, its delivery, and its settings as in ``-T attack=``."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, TypeAlias, TypeVar, get_args

from constraintrot.episode.channels import CHANNELS, Store
from constraintrot.episode.episode import Episode
from constraintrot.errors import ParameterError
from constraintrot.scenario.schema import LOCALES, Locale

Surface: TypeAlias = Literal["tool_output", "document", "memory_entry"]
Position: TypeAlias = Literal["early", "middle", "recent"]
Knowledge: TypeAlias = Literal["black_box", "defense_aware"]

# Surfaces of a conversation. An attack on a policy channel's store names the channel instead.
SURFACES: tuple[Surface, ...] = get_args(Surface)
POSITIONS: tuple[Position, ...] = get_args(Position)
MIN_SIZE, MAX_SIZE = 50, 200_000


@dataclass(frozen=True)
class Settings:
    """The delivery of one attack.

    Attributes:
        channel: the kind of ingested content, or the policy channel whose store it works on.
        position: place in the history; ``recent`` is its very end.
        size: o200k tokens to write; None for an attack without a size.
    """

    channel: str
    position: Position
    size: int | None = None


Apply: TypeAlias = Callable[[Episode, Settings], Episode]


@dataclass(frozen=True)
class Attack:
    """A registered attack.

    Attributes:
        apply: returns the episode after the attack, without changing the given one.
        surface: possible channels, the default first.
        knowledge: ``black_box`` knows neither policy nor defense;
            ``defense_aware`` knows that policies are pinned.
        summary: its effect, in one sentence.
        positions: possible places in the history, the default first.
        size: default size in o200k tokens; None for an attack without a size.
        locales: languages of its texts.
        path: the file that defines it; None for one in Python.
    """

    apply: Apply
    surface: tuple[str, ...]
    knowledge: Knowledge
    summary: str
    positions: tuple[Position, ...] = POSITIONS
    size: int | None = None
    locales: Collection[Locale] = LOCALES
    path: Path | None = None

    @property
    def settings(self) -> Settings:
        """The default settings."""
        return Settings(self.surface[0], self.positions[0], self.size)

    @property
    def store(self) -> Store | None:
        """The store that it works on; None if it is delivered in the conversation."""
        return None if self.surface[0] in SURFACES else CHANNELS.get(self.surface[0]).store


T = TypeVar("T", bound=str)


@dataclass(frozen=True)
class Chosen:
    """An attack and its delivery; ``str()`` gives the form that ``attacks.read`` parses.

    Attributes:
        searched: the seeds that it was searched on, by family; empty for a fixed attack.
    """

    name: str
    attack: Attack
    settings: Settings
    searched: Mapping[str, Collection[int]] = field(default_factory=dict[str, Collection[int]])

    def __str__(self) -> str:
        """Return the name, and the settings that are not the attack's defaults."""
        default = vars(self.attack.settings)
        given = vars(self.settings).items()
        changed = [f"{name}={value}" for name, value in given if value != default[name]]
        return f"{self.name}:{','.join(changed)}" if changed else self.name

    def check_held_out(self, family: str, seeds: Collection[int]) -> None:
        """Refuse to play a found attack on the variants that it was searched on."""
        both = sorted(set(seeds) & set(self.searched.get(family, ())))
        if both:
            raise ParameterError(
                f"attack {self.name} was searched on {family} seeds {', '.join(map(str, both))};"
                " a found attack is evaluated on other variants only, so choose another seed"
            )

    def check_locale(self, locale: Locale) -> None:
        """Refuse to play an attack in a language without texts."""
        if locale not in self.attack.locales:
            raise ParameterError(
                f"attack file {self.attack.path} has no texts in {locale}, only in"
                f" {', '.join(sorted(self.attack.locales))}; add locales.{locale},"
                " or choose another locale or attack"
            )


def parse_settings(name: str, attack: Attack, listed: str | None) -> Settings:
    """Parse the settings ``key=value,key=value``; None gives the attack's defaults.

    Raises:
        ParameterError: a setting that the attack does not take, a repeated one, or a wrong
            value; the message says what it takes.
    """
    settings = attack.settings
    if listed is None:
        return settings
    takes = _takes(attack)
    seen: set[str] = set()
    for item in listed.split(","):
        key, equals, value = (part.strip() for part in item.partition("="))
        if not equals or key in seen:
            raise ParameterError(
                f"attack {name}: settings are written {name}:key=value,key=value, each once,"
                f" not {item.strip()!r}"
            )
        if key not in takes:
            known = "; ".join(f"{key} ({values})" for key, values in takes.items())
            raise ParameterError(f"attack {name} has no setting {key!r}; it takes: {known}")
        seen.add(key)
        settings = _with(settings, name, attack, key, value)
    return settings


def _takes(attack: Attack) -> dict[str, str]:
    takes = {"channel": ", ".join(attack.surface), "position": ", ".join(attack.positions)}
    if attack.size is not None:
        takes["size"] = f"{MIN_SIZE} to {MAX_SIZE} tokens"
    return takes


def _with(settings: Settings, name: str, attack: Attack, key: str, value: str) -> Settings:
    if key == "channel":
        return replace(settings, channel=_choice(name, key, value, attack.surface))
    if key == "position":
        return replace(settings, position=_choice(name, key, value, attack.positions))
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
