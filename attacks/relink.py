"""Harmless fragments that a compressor may join into an instruction."""

from __future__ import annotations

from constraintrot.attacks import Settings, attack
from constraintrot.attacks.attack_texts import texts
from constraintrot.attacks.placing import place
from constraintrot.episode.episode import Episode


@attack("relink", knowledge="black_box")
def relink(episode: Episode, settings: Settings) -> Episode:
    """Spread fragments over several results; read together, they ask to omit the policy."""
    return place(episode, texts("relink", episode.variant), settings)
