"""Summarizer injection: a direct note to the summarizer."""

from __future__ import annotations

from constraintrot.attacks import Settings, attack
from constraintrot.attacks.attack_texts import texts
from constraintrot.attacks.placing import place
from constraintrot.episode.episode import Episode


@attack("inject_note", knowledge="black_box")
def inject_note(episode: Episode, settings: Settings) -> Episode:
    """Ask the summarizer directly to leave policies out."""
    return place(episode, texts("inject_note", episode.variant), settings)
