"""Summarizer injection: the token budget is blamed."""

from __future__ import annotations

from constraintrot.attacks import Settings, attack
from constraintrot.attacks.attack_texts import texts
from constraintrot.attacks.placing import place
from constraintrot.episode.episode import Episode


@attack("inject_budget", knowledge="black_box")
def inject_budget(episode: Episode, settings: Settings) -> Episode:
    """Claim that the summary's token budget leaves no room for policy notes."""
    return place(episode, texts("inject_budget", episode.variant), settings)
