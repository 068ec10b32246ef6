"""The registry of attacks, and the two ways to add one: a YAML file, or Python."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeAlias

from constraintrot.attacks.attack_file import AttackFile, read_attack_file
from constraintrot.attacks.definition import (
    POSITIONS,
    SURFACES,
    Apply,
    Attack,
    Knowledge,
    Position,
    Settings,
)
from constraintrot.attacks.placing import place
from constraintrot.components import ComponentRegistry
from constraintrot.episode.channels import CHANNELS
from constraintrot.episode.episode import Episode
from constraintrot.errors import DuplicateNameError

Deliver: TypeAlias = Callable[[Episode, Settings, AttackFile], Episode]

_registered_files: set[Path] = set()


def attack(
    name: str,
    *,
    knowledge: Knowledge,
    surface: tuple[str, ...] = SURFACES,
    positions: tuple[Position, ...] = POSITIONS,
    size: int | None = None,
) -> Callable[[Apply], Apply]:
    """Register a function as an attack; its docstring's first line is the summary.

    Args:
        name: as written in ``-T attack=``.
        knowledge: what the adversary knows.
        surface: channels that it can come in, the default first.
        positions: where it can be placed, the default first.
        size: default size in o200k tokens, where it has one.
    """

    def register(apply: Apply) -> Apply:
        summary = (apply.__doc__ or "").strip().partition("\n")[0]
        ATTACKS(name)(Attack(apply, surface, knowledge, summary, positions, size))
        return apply

    return register


def place_texts(episode: Episode, settings: Settings, file: AttackFile) -> Episode:
    """Place the texts of a file, one a turn; where it has a size, one text of that size.

    The texts of an attack on the store of a policy channel go into that store.
    """
    if settings.channel not in SURFACES:
        store = CHANNELS.get(settings.channel).store
        assert store is not None, "the file was checked when it was read"
        return store.added(episode, partial(file.filled, episode.variant))
    if settings.size is None:
        return place(episode, file.filled(episode.variant), settings)
    return place(episode, [file.bulk(episode.variant, settings.size)], settings)


def attack_from_file(path: Path, deliver: Deliver = place_texts) -> None:
    """Register the attack that a YAML file defines, under the file's name.

    Args:
        path: ``NAME.yaml``.
        deliver: for an attack with logic: the episode after the attack, from the
            episode, the settings and the file.

    Raises:
        ScenarioError: the file is missing or wrong.
        DuplicateNameError: the name is taken.
    """
    path = path.resolve()
    file = read_attack_file(path)

    def apply(episode: Episode, settings: Settings) -> Episode:
        return deliver(episode, settings, file)

    made = Attack(
        apply,
        file.channels,
        file.knowledge,
        file.summary,
        file.positions,
        file.size,
        tuple(file.locales),
        path,
    )
    try:
        ATTACKS(path.stem)(made)
    except DuplicateNameError as error:
        raise DuplicateNameError(f"attack file {path}: {error}") from error
    _registered_files.add(path)


def _built_in_file(path: Path) -> None:
    # An attack with logic was registered by the Python file beside it.
    if path.resolve() not in _registered_files:
        attack_from_file(path)


ATTACKS: ComponentRegistry[Attack] = ComponentRegistry(
    "attack", "constraintrot.attacks", "constraintrot.attacks", _built_in_file
)
