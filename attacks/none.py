"""No attack."""

from __future__ import annotations

from constraintrot.attacks import Attack, attack
from constraintrot.episode import Episode


@attack("none")
def none() -> Attack:
    """Leave the episode as it is."""

    def unchanged(episode: Episode) -> Episode:
        return episode

    return unchanged
