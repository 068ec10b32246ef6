"""Recognises rules on a text: its language, and words that it must, or must not, hold."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from constraintrot.authoring.rule import Rule
from constraintrot.authoring.sentence import Sentence
from constraintrot.rule_text.language_words import LANGUAGES
from constraintrot.scenario.template import Value

_QUOTED = re.compile(
    r"(?:(?<=^say)|(?<=^write)|(?<=^use)|(?<=^mention)|(?<=^include)|(?<= with)|(?<= contain)|(?<= in))"
    r"(?: the (?:words?|phrase|text|line))? [\"“‘'`](?P<words>[^\"”’`]{2,80})[\"”’'`]",
    re.IGNORECASE,
)
# What the same short note says in the languages that a draft can ask for.
_NOTES = {
    "English": ["The delivery arrived this morning and everything was in good order.", "We have moved our meeting to Thursday because the room was taken.", "The new shelves were put up yesterday and they look very good."],
    "German": ["Die Lieferung ist heute Morgen angekommen und alles war in bester Ordnung.", "Wir haben unser Treffen auf Donnerstag verschoben, weil der Raum belegt war.", "Die neuen Regale wurden gestern aufgebaut und sehen sehr gut aus."],
    "Spanish": ["El pedido llegó esta mañana y todo estaba en perfecto estado.", "Hemos pasado nuestra reunión al jueves porque la sala estaba ocupada.", "Ayer montaron las estanterías nuevas y han quedado muy bien."],
    "French": ["La livraison est arrivée ce matin et tout était en parfait état.", "Nous avons déplacé notre réunion à jeudi parce que la salle était prise.", "Les nouvelles étagères ont été montées hier et elles sont très belles."],
}  # fmt: skip


def language(sentence: Sentence) -> Rule | None:
    """The language of a text."""
    found = re.search(
        rf"\b(?:other than|in|except) ({'|'.join(LANGUAGES)})\b", sentence.phrase, re.I
    )
    if not found:
        return None
    named = found[1].title()
    others = [name for name in _NOTES if name != named]
    forbidden = sentence.mood == "never" and not re.match("other|except", found[0], re.I)
    if forbidden or named not in _NOTES:
        return None
    notes = [_NOTES[others[at % len(others)]][at] for at in range(3)]
    start = re.search(r"(?: in)?(?: any)?(?: languages?)?$", sentence.phrase[: found.start()], re.I)
    return Rule(
        kind="a language",
        predicate={"type": "not_in_language", "language": named},
        argument="body",
        schema={"type": "string", "description": "The text."},
        says='the text is "{value}"',
        wrong=notes,
        right=_NOTES[named],
        start=start.start() if start else found.start(),
        end=found.end(),
        written=(found[1], "language"),
        values={"language": named},
        phrases=["{{language}}"],
    )


def quoted(sentence: Sentence) -> Rule | None:
    """Words in quotes that a text must, or must not, hold."""
    found = _QUOTED.search(sentence.phrase)
    if not found or sentence.mood not in ("never", "always"):
        return None
    words, forbidden = found["words"], sentence.mood == "never"
    notes = _NOTES["English"]
    held: list[Value] = [f"{note} {words}" for note in notes]
    return Rule(
        kind="a text",
        predicate=holding([words], forbidden=forbidden),
        argument="body",
        schema={"type": "string", "description": "The text."},
        says='the text is "{value}"',
        wrong=held if forbidden else notes,
        right=notes if forbidden else held,
        start=found.start(),
        end=found.end(),
        phrases=[words],
    )


def holding(words: Sequence[str], *, forbidden: bool = True) -> dict[str, Any]:
    """Return the predicate that forbids, or requires, one of some words in a text.

    Whole words without look-around, which users' patterns do not have.
    """
    either = "|".join(map(re.escape, words))
    side = "forbidden" if forbidden else "required"
    return {"type": "text_matching", side: rf"(?:^|\W)(?:{either})(?:\W|$)"}
