"""A bulk document that crowds a summary without telling the summarizer anything."""

from __future__ import annotations

from constraintrot.attacks import Settings, attack
from constraintrot.attacks.attack_texts import bulk
from constraintrot.attacks.placing import place
from constraintrot.episode.episode import Episode


@attack(
    "bulk_document",
    knowledge="black_box",
    surface=("document", "tool_output", "memory_entry"),
    size=600,
)
def bulk_document(episode: Episode, settings: Settings) -> Episode:
    """Add a document of urgent-looking facts that crowd the summary, without any instruction."""
    assert settings.size is not None, "it was registered with a size"
    return place(episode, [bulk("bulk_document", episode.variant, settings.size)], settings)
