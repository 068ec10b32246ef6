"""The facts that select episodes on the command line, as ``fact=value``."""

import re
from collections.abc import Mapping, Sequence
from typing import TypeAlias

import pandas as pd

from constraintrot.episode.facts import KEYS
from constraintrot.errors import ParameterError

Facts: TypeAlias = Mapping[str, str]

FACTS = (*(key for key in KEYS if key != "allowed"), "kind", "task", "log")
"""Facts that can select the episodes of an arm."""


def named(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the frame with its facts as text, as a user writes them: ``60``, ``true``, ``none``."""
    return frame.assign(**{fact: frame[fact].map(text) for fact in FACTS if fact in frame})


def read_facts(option: str, given: Sequence[str], frame: pd.DataFrame) -> dict[str, str]:
    """Parse ``fact=value,fact=value``; the commas in an attack's settings are kept.

    The frame is as ``named`` returns it; the option's name is for the message.
    """
    facts: dict[str, str] = {}
    for text in given:
        for item in _items(text, frame):
            fact, equals, value = item.partition("=")
            if not equals or fact not in FACTS or fact not in frame:
                raise ParameterError(
                    f"{option} {item}: give FACT=VALUE with a fact of {', '.join(FACTS)}"
                )
            if fact in facts:
                raise ParameterError(f"{option}: {fact} is given twice")
            facts[fact] = value
    return facts


def chosen(frame: pd.DataFrame, where: Facts) -> pd.DataFrame:
    """Return the rows that have all facts of ``where``."""
    for fact, value in where.items():
        rows = part(frame, {fact: value})
        if rows.empty:
            known = ", ".join(map(str, frame[fact].unique()[:10]))
            raise ParameterError(f"--where {fact}={value}: no such episode; there are {known}")
        frame = rows
    return frame


def part(frame: pd.DataFrame, facts: Facts) -> pd.DataFrame:
    for fact, value in facts.items():
        frame = frame[frame[fact] == value]
    return frame


def _items(text: str, frame: pd.DataFrame) -> list[str]:
    fact, _, value = text.partition("=")
    if fact in FACTS and fact in frame and value in set(frame[fact].unique()):
        return [text]
    return re.split(rf",\s*(?=(?:{'|'.join(FACTS)})=)", text.strip())


def text(value: object) -> str:
    """Return a fact's value as a user writes it; a gap is ``none``."""
    if value is None or value != value:
        return "none"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).lower() if str(value) in ("True", "False") else str(value)
