"""A prompt that a search tries: one text, delivered as every attack's text is."""

from __future__ import annotations

import unicodedata
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from constraintrot.attacks import (
    POSITIONS,
    SURFACES,
    Attack,
    Chosen,
    Knowledge,
    Position,
    Settings,
    Surface,
)
from constraintrot.attacks.attack_texts import known
from constraintrot.attacks.placing import place
from constraintrot.episode.episode import Episode
from constraintrot.scenario.template import PLACEHOLDER, fill, names

# What an adversary fills in, see `_texts.known`.
FILLED = frozenset({"org", "ref", "label"})
MAX_CHARS = 1200


class Candidate(BaseModel):
    """A prompt, and what it was made of.

    Attributes:
        text: may hold ``{{org}}``, ``{{ref}}`` and ``{{label}}``; empty where a
            strategy came up with nothing, and ``made`` says why.
        made: for a reader and for the strategy itself; its keys are the strategy's.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    text: str = Field(max_length=MAX_CHARS)
    made: dict[str, Any]


def clean(text: str) -> str:
    """A text that a model wrote, fit to be placed and to be shown.

    Characters that control a terminal or hide text are left out, placeholders
    that nothing fills in lose their braces, and the end is cut off.
    """
    lines = ("".join(filter(_visible, line)).rstrip() for line in text.splitlines())
    text = "\n".join(line for line in lines if line).strip()[:MAX_CHARS]
    while names(text) - FILLED:
        text = PLACEHOLDER.sub(lambda found: found[0] if found[1] in FILLED else found[1], text)
    return text


def _visible(character: str) -> bool:
    return not unicodedata.category(character).startswith("C")


def chosen(
    name: str,
    candidate: Candidate,
    channel: Surface,
    position: Position,
    knowledge: Knowledge = "black_box",
) -> Chosen:
    """A candidate as an attack.

    Args:
        name: what it is called in metadata.
        candidate: its text is not empty.
        channel: where it is delivered unless a setting says otherwise.
        position: likewise.
        knowledge: what the search knew.
    """

    def apply(episode: Episode, settings: Settings) -> Episode:
        values = known("search", episode.variant)
        return place(episode, [fill(candidate.text, values)], settings)

    attack = Attack(
        apply,
        (channel, *(other for other in SURFACES if other != channel)),
        knowledge,
        "A prompt that a search found.",
        (position, *(other for other in POSITIONS if other != position)),
    )
    return Chosen(name, attack, attack.settings)
