"""Summarizer injection: the system is impersonated."""

from __future__ import annotations

from constraintrot.attacks import Settings, attack
from constraintrot.attacks.attack_texts import texts
from constraintrot.attacks.placing import place
from constraintrot.episode.episode import Episode


@attack("inject_system", knowledge="black_box")
def inject_system(episode: Episode, settings: Settings) -> Episode:
    """Impersonate the system with an instruction to the summarizer."""
    return place(episode, texts("inject_system", episode.variant), settings)
