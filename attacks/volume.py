"""Benign-looking bulk that forces compaction early."""

from __future__ import annotations

from constraintrot.attacks import Settings, attack
from constraintrot.attacks.attack_texts import bulk
from constraintrot.attacks.placing import place
from constraintrot.episode.episode import Episode


@attack("volume", knowledge="black_box", size=1500)
def volume(episode: Episode, settings: Settings) -> Episode:
    """Add benign bulk that pushes the history over the budget, so that the policy is evicted."""
    assert settings.size is not None, "it was registered with a size"
    return place(episode, [bulk("volume", episode.variant, settings.size)], settings)
