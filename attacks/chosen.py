"""An attack with its settings, as ``-T attack=`` chooses it: ``name:key=value,key=value``."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

from constraintrot.attacks.definition import MAX_SIZE, MIN_SIZE, Attack, Settings
from constraintrot.errors import ParameterError

T = TypeVar("T", bound=str)


@dataclass(frozen=True)
class Chosen:
    """An attack and how it is to be delivered; as text, what ``attacks.read`` reads.

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
        """The name, and the settings that are not the attack's defaults."""
        default = vars(self.attack.settings)
        given = vars(self.settings).items()
        changed = [f"{name}={value}" for name, value in given if value != default[name]]
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


def parse_settings(name: str, attack: Attack, listed: str | None) -> Settings:
    """The settings of ``key=value,key=value``; the attack's defaults where it is None.

    Args:
        name: the attack's, for messages.
        attack: what they are given to.
        listed: as written behind the colon.

    Raises:
        ParameterError: a setting that the attack does not take, one that is given
            twice, or a wrong value; the message says what it takes.
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
