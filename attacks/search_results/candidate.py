"""A prompt that a search tries: one text, delivered as every attack's text is."""

from __future__ import annotations

import unicodedata
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from constraintrot.attacks.attack_texts import FILLED_IN, adversary_values
from constraintrot.attacks.chosen import Chosen
from constraintrot.attacks.definition import (
    POSITIONS,
    SURFACES,
    Attack,
    Knowledge,
    Position,
    Settings,
    Surface,
)
from constraintrot.attacks.placing import place
from constraintrot.episode.episode import Episode
from constraintrot.scenario.template import PLACEHOLDER, fill, names

MAX_CHARS = 1200
# One for all prompts, so that a prompt's number or strategy leaves no trace in its text.
_REFERENCE_SEED = "search"


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
    while names(text) - FILLED_IN:
        text = PLACEHOLDER.sub(lambda match: match[0] if match[1] in FILLED_IN else match[1], text)
    return text


def _visible(character: str) -> bool:
    return not unicodedata.category(character).startswith("C")


def as_attack(
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
        channel: where it is delivered by default.
        position: where in the history by default.
        knowledge: what the search knew.
    """

    def apply(episode: Episode, settings: Settings) -> Episode:
        values = adversary_values(_REFERENCE_SEED, episode.variant)
        return place(episode, [fill(candidate.text, values)], settings)

    attack = Attack(
        apply,
        (channel, *(other for other in SURFACES if other != channel)),
        knowledge,
        "A prompt that a search found.",
        (position, *(other for other in POSITIONS if other != position)),
    )
    return Chosen(name, attack, attack.settings)
