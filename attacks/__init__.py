"""Attacks: each rewrites or adds content that the agent ingests, by name.

>>> attacked = apply("volume:size=4000,position=early", episode)  # doctest: +SKIP

An attack is ``NAME.yaml`` in this folder, with a ``NAME.py`` beside it if it has logic. An
adversary controls ingested data only; an attack that touched anything else is refused
(``constraintrot.episode.attack_check``). An attack's texts have the origin ``attacker``,
whoever they claim to be. The tools of an episode are simulated.
"""

from copy import deepcopy

from constraintrot.attacks.definition import (
    MAX_SIZE,
    MIN_SIZE,
    POSITIONS,
    SURFACES,
    Apply,
    Attack,
    Chosen,
    Knowledge,
    Position,
    Settings,
    Surface,
    parse_settings,
)
from constraintrot.attacks.registration import ATTACKS, attack, attack_from_file
from constraintrot.attacks.search_results.journal import found_attack
from constraintrot.episode.attack_check import check_attacked
from constraintrot.episode.episode import Episode
from constraintrot.errors import EpisodeError

__all__ = [
    "ATTACKS",
    "MAX_SIZE",
    "MIN_SIZE",
    "POSITIONS",
    "SURFACES",
    "Apply",
    "Attack",
    "Chosen",
    "Knowledge",
    "Position",
    "Settings",
    "Surface",
    "apply",
    "attack",
    "attack_from_file",
    "deliver",
    "read",
]


def read(text: str) -> Chosen:
    """Parse ``name`` or ``name:key=value,key=value``; ``@file`` is the attack that a search found.

    ``file:FILE`` is the same, for a shell's ``-T``, where YAML allows no bare ``@``.

    Raises:
        UnknownNameError: no such attack; the message lists the known ones.
        ParameterError: a setting that the attack does not take, or a wrong value (the message
            says what it takes); or a file that is missing, cut short, of another version, or
            without a found attack.
    """
    if text.startswith(("@", "file:")):
        return found_attack(text)
    name, colon, listed = text.partition(":")
    name = name.strip()
    named = ATTACKS.get(name)
    return Chosen(name, named, parse_settings(name, named, listed if colon else None))


def apply(name: str, episode: Episode) -> Episode:
    """Return the episode after an attack, with or without settings, as for ``read``.

    Raises:
        UnknownNameError, ParameterError: as ``read``.
        EpisodeError: the attack touched content that an adversary does not control.
    """
    return deliver(read(name), episode)


def deliver(chosen: Chosen, episode: Episode) -> Episode:
    """Return the episode after a parsed attack; raises as ``apply``."""
    scenario = episode.variant.scenario
    chosen.check_held_out(scenario.family, [episode.variant.seed])
    chosen.check_locale(scenario.locale)
    # A copy to compare with, because calls' arguments could be changed in place.
    before = deepcopy(episode)
    after = chosen.attack.apply(episode, chosen.settings)
    if not isinstance(after, Episode):  # an attack of somebody else
        raise EpisodeError(
            f"attack {chosen.name} returned {type(after).__name__}; it must return an Episode"
        )
    check_attacked(before, after)
    return after
