"""The notice of `impersonate_rescind`, in content that is then summarised."""

from __future__ import annotations

from constraintrot.attacks import Settings, attack
from constraintrot.attacks.attack_texts import texts
from constraintrot.attacks.placing import place
from constraintrot.episode.episode import Episode


@attack("rescind_notice", knowledge="defense_aware", positions=("early", "middle"))
def rescind_notice(episode: Episode, settings: Settings) -> Episode:
    """Pose as the operator who rescinds pinned policies, in content that is then summarised."""
    return place(episode, texts("rescind", episode.variant), settings)
