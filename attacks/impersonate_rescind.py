"""An operator impersonated where nothing is summarised any more."""

from __future__ import annotations

from constraintrot.attacks import Settings, attack
from constraintrot.attacks.attack_texts import texts
from constraintrot.attacks.placing import place
from constraintrot.episode.episode import Episode


@attack("impersonate_rescind", knowledge="defense_aware", positions=("recent",))
def impersonate_rescind(episode: Episode, settings: Settings) -> Episode:
    """Pose as the operator who rescinds pinned policies, at the unsummarised end (section 7)."""
    return place(episode, texts("rescind", episode.variant), settings)
