"""The kinds of rules, read from ``rules/*.yaml``, and what surrounds their sentences."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Literal, TypeAlias

import yaml
from pydantic import BaseModel, ConfigDict, Field

Split: TypeAlias = Literal["train", "held_out"]
Mechanism: TypeAlias = Literal[
    "at_most", "at_least", "total", "only", "except", "acts", "partial", "text_language"
]

_HERE = Path(__file__).parent
_HELD_OUT = "held_out.yaml"


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Phrases(_Strict):
    """A kind's sentences in one locale.

    Attributes:
        rules: Sentences that state the rule; ``{e}`` is where "whoever asks" may stand.
        requests: Requests whose slots make them forbidden or allowed.
        breaks: Requests that are forbidden as they stand.
        keeps: Requests that are allowed as they stand.
        options: What a choice is made from.
        allow: How many of the options the rule names.
        slots: Things that the sentences can be about.
    """

    rules: list[str]
    requests: list[str] = []
    breaks: list[str] = []
    keeps: list[str] = []
    options: list[str] = []
    allow: int = 1
    slots: list[dict[str, str]] = [{}]


class Kind(_Strict):
    """One kind of rule.

    Attributes:
        mechanism: What makes a request forbidden; see ``mechanisms.py``.
        topic: Kinds of one topic do not serve each other as unrelated requests.
        limits: Limits that the rule can name.
        lowest: Smallest amount that a request can name.
        highest: Largest amount that a request can name.
        long: Whether texts have several sentences.
        number: Whether a choice is part of a longer number.
    """

    mechanism: Mechanism
    topic: str = ""
    limits: list[int] = []
    lowest: int = 1
    highest: int | None = None
    long: bool = False
    number: bool = False
    en: Phrases
    es: Phrases | None = None
    zh: Phrases | None = None

    def locales(self) -> dict[str, Phrases]:
        """The locales that this kind has sentences in."""
        every = {"en": self.en, "es": self.es, "zh": self.zh}
        return {locale: phrases for locale, phrases in every.items() if phrases}


class Frames(_Strict):
    """What surrounds the sentences of one locale."""

    join: str
    who: list[str]
    org: list[str]
    ends: list[str]
    frames: list[str]
    consequences: list[str]
    noise: list[str]
    requests: list[str]
    contexts: list[str]
    tails: list[str]
    unrelated: list[str]


class Language(_Strict):
    """A language of signs and leaflets: its name in each locale, and texts in it."""

    called: dict[str, str]
    texts: list[str] = Field(min_length=3)


@cache
def kinds(split: Split) -> Mapping[str, Kind]:
    """The kinds of one split by name; no kind is in both."""
    files = sorted((_HERE / "rules").glob("*.yaml"))
    wanted = [file for file in files if (file.name == _HELD_OUT) == (split == "held_out")]
    return {
        name: Kind.model_validate(value) for file in wanted for name, value in _read(file).items()
    }


@cache
def frames() -> Mapping[str, Frames]:
    """The frames by locale."""
    return {
        locale: Frames.model_validate(value)
        for locale, value in _read(_HERE / "frames.yaml").items()
    }


@cache
def languages() -> Mapping[str, Language]:
    """The languages by their English name."""
    return {
        name: Language.model_validate(value) for name, value in _read(_HERE / "texts.yaml").items()
    }


def _read(file: Path) -> dict[str, object]:
    data: dict[str, object] = yaml.safe_load(file.read_text(encoding="utf-8"))
    return data
