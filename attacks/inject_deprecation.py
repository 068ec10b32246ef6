"""Summarizer injection: the policy is called deprecated."""

from __future__ import annotations

from constraintrot.attacks import Settings, attack
from constraintrot.attacks.attack_texts import texts
from constraintrot.attacks.placing import place
from constraintrot.episode.episode import Episode


@attack("inject_deprecation", knowledge="black_box")
def inject_deprecation(episode: Episode, settings: Settings) -> Episode:
    """Call the policy deprecated and ask that summaries omit it: the paper's fixed injection (section 6)."""
    return place(episode, texts("inject_deprecation", episode.variant), settings)
