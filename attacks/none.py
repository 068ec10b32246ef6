"""No attack."""

from constraintrot.attacks import Settings, attack
from constraintrot.episode.episode import Episode


@attack("none", knowledge="black_box", surface=("tool_output",), positions=("early",))
def none(episode: Episode, settings: Settings) -> Episode:
    """Leave the episode as it is."""
    return episode
