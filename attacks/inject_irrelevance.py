"""Summarizer injection: the policy is called irrelevant."""

from __future__ import annotations

from constraintrot.attacks import Settings, attack
from constraintrot.attacks.attack_texts import texts
from constraintrot.attacks.placing import place
from constraintrot.episode.episode import Episode


@attack("inject_irrelevance", knowledge="black_box")
def inject_irrelevance(episode: Episode, settings: Settings) -> Episode:
    """Call the policy irrelevant to the tasks and ask that summaries leave it out."""
    return place(episode, texts("inject_irrelevance", episode.variant), settings)
