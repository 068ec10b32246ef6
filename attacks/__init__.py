"""Attacks: each a function from an episode to an episode, by name.

An adversary controls ingested data only; the engine refuses an attack that
touched anything else (``constraintrot.episode.check_attacked``).
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import TypeAlias

from constraintrot.door import Door
from constraintrot.episode import Episode, check_attacked

Attack: TypeAlias = Callable[[Episode], Episode]

ATTACKS: Door[Callable[[], Attack]] = Door("attack", __name__, ("none",), "constraintrot.attacks")
attack = ATTACKS


def apply(name: str, episode: Episode) -> Episode:
    """The episode after an attack.

    Raises:
        UnknownNameError: no such attack.
        EpisodeError: it touched what an adversary does not control.
    """
    # A copy to compare with: calls' arguments could be changed where they stand.
    before = deepcopy(episode)
    after = ATTACKS.get(name)()(episode)
    check_attacked(before, after)
    return after
