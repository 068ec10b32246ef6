"""Content that is meant to come out of a summary as somebody else's words.

Where a rule asks for somebody's approval, nothing has to be deleted: it is
enough that a summary says that the approval was given. None of the texts speaks
to a summarizer.
"""

from __future__ import annotations

from constraintrot.attacks import Settings, attack
from constraintrot.attacks.attack_texts import texts
from constraintrot.attacks.placing import place
from constraintrot.episode.episode import Episode

# The order of the texts in texts/launder.yaml.
FORMS = ("approval", "order", "stale", "user", "system")


@attack("launder", knowledge="black_box")
def launder(episode: Episode, settings: Settings) -> Episode:
    """Invent an approval of what is asked for next."""
    return _one("approval", episode, settings)


@attack("launder_order", knowledge="black_box")
def launder_order(episode: Episode, settings: Settings) -> Episode:
    """Invent an order of the user's, told at second hand."""
    return _one("order", episode, settings)


@attack("launder_stale", knowledge="black_box")
def launder_stale(episode: Episode, settings: Settings) -> Episode:
    """Replay an approval of another time, which a summary may give without its date."""
    return _one("stale", episode, settings)


@attack("launder_user", knowledge="black_box")
def launder_user(episode: Episode, settings: Settings) -> Episode:
    """Pose as a turn of the user's inside a tool's output."""
    return _one("user", episode, settings)


@attack("launder_system", knowledge="black_box")
def launder_system(episode: Episode, settings: Settings) -> Episode:
    """Pose as a message of the system inside a tool's output."""
    return _one("system", episode, settings)


def _one(form: str, episode: Episode, settings: Settings) -> Episode:
    return place(episode, [texts("launder", episode.variant)[FORMS.index(form)]], settings)
