"""Summarizer injection: the operator's authority is claimed."""

from __future__ import annotations

from constraintrot.attacks import Settings, attack
from constraintrot.attacks.attack_texts import texts
from constraintrot.attacks.placing import place
from constraintrot.episode.episode import Episode


@attack("inject_authority", knowledge="black_box")
def inject_authority(episode: Episode, settings: Settings) -> Episode:
    """Claim that the operator has withdrawn the policy and wants it left out of summaries."""
    return place(episode, texts("inject_authority", episode.variant), settings)
