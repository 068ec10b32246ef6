"""Helpers of the attacks' tests: episodes to attack, and the texts that an attack wrote."""

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from constraintrot import attacks
from constraintrot.attacks import ATTACKS
from constraintrot.attacks.attack_file import AttackFile, read_attack_file
from constraintrot.episode.episode import Episode, Message
from constraintrot.episode.staging import stage
from constraintrot.scenario.files import FOLDER, load

IN_WIKI = [name for name in ATTACKS.names() if ATTACKS.get(name).surface == ("wiki",)]
NAMES = [name for name in ATTACKS.names() if name not in ("none", *IN_WIKI)]
FILES = sorted(path.stem for path in FOLDER.glob("*.yaml"))
FOLDER_OF_ATTACKS = Path(attacks.__file__).parent
INJECTIONS = [name for name in NAMES if name.startswith("inject_")]


def file_of(name: str) -> AttackFile:
    """The file of a built-in attack."""
    return read_attack_file(FOLDER_OF_ATTACKS / f"{name}.yaml")


@lru_cache(maxsize=256)
def staged(file: str, seed: int = 0, **more: Any) -> Episode:
    """An episode of a scenario file, ``family.locale``."""
    family, locale = file.split(".")
    more.setdefault("policy", True)
    return stage(load(family, locale).variant(seed), **more)


def specs(name: str) -> Iterator[tuple[str, str, str]]:
    """An attack in every channel and position that it takes, as it is written."""
    found = ATTACKS.get(name)
    size = ",size=120" if found.size else ""
    for channel in found.surface:
        for position in found.positions:
            yield f"{name}:channel={channel},position={position}{size}", channel, position


def written(before: Episode, after: Episode) -> list[Message]:
    """Messages that stand in an episode after an attack and did not before."""
    held = [message for turn in before.turns for message in turn.messages]
    return [m for turn in after.turns for m in turn.messages if m not in held and m.role == "tool"]


def texts(name: str, file: str, **more: Any) -> list[str]:
    """An attack's own texts, as a document shows them: nothing of the history's."""
    before = staged(file, **more)
    return [m.text for m in written(before, attacks.apply(f"{name}:channel=document", before))]
