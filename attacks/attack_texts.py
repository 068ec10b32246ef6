"""Attack texts: one YAML file each, in three languages, marked with the canary.

They are filled in with what an adversary knows without seeing the conversation:
the organisation's name, and reference numbers of its own making. Neither the
policy nor the rest of the episode is read.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from random import Random
from typing import Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from constraintrot.errors import ScenarioError
from constraintrot.scenario.schema import LOCALES, Locale, Scalar, Text, Variant
from constraintrot.scenario.template import Value, fill
from constraintrot.tokens import count

FOLDER = Path(__file__).parent / "texts"
# What may stand where a scenario names no organisation.
_NOBODY = {"en": "Operations", "zh": "运营部", "es": "Operaciones"}
# Lines of bulk are checked for repeats, which an adversary would avoid.
_TRIES = 1000


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Wording(_Strict):
    """An attack's texts in one language.

    Attributes:
        texts: what is placed, each text in a place of its own.
        rows: templates of the lines that bulk is made of.
        pools: words that fill the rows in; ``{{ref}}`` is a number of five digits.
    """

    texts: list[Text] = Field(min_length=1)
    rows: list[Text] = []
    pools: dict[str, list[Scalar]] = {}


class AttackTexts(_Strict):
    """One file of attack texts."""

    canary: Literal["constraintrot-canary-5b0d6a1e-7f0c-4a52-9d6e-3c1f0e8a94b7"]
    notice: Text
    locales: dict[Locale, Wording]

    @model_validator(mode="after")
    def _whole(self) -> AttackTexts:
        missing = set(LOCALES) - set(self.locales)
        if missing:
            raise ValueError(f"lacks the languages {', '.join(sorted(missing))}")
        return self


@cache
def load(name: str) -> AttackTexts:
    """The texts of a name, ``texts/<name>.yaml``.

    Raises:
        ScenarioError: the file is missing, is no YAML, or lacks a part.
    """
    path = FOLDER / f"{name}.yaml"
    try:
        return AttackTexts.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError, yaml.YAMLError, ValidationError) as error:
        raise ScenarioError(f"attack texts {path.name}: {error}") from error


def texts(name: str, variant: Variant) -> list[str]:
    """An attack's texts in a variant's language, filled in; the same for the same variant."""
    wording = load(name).locales[variant.scenario.locale]
    return [fill(text, known(name, variant)) for text in wording.texts]


def bulk(name: str, variant: Variant, size: int) -> str:
    """An attack's opening text and as many different lines as reach a size.

    Args:
        name: whose texts.
        variant: whose language; it seeds the lines.
        size: o200k tokens to reach.
    """
    wording = load(name).locales[variant.scenario.locale]
    random = random_of(name, variant)
    lines = texts(name, variant)
    total = sum(count(f"{line}\n") for line in lines)
    seen: set[str] = set()
    while total < size:
        line = _line(wording, random, seen)
        seen.add(line)
        lines.append(line)
        total += count(f"{line}\n")
    return "\n".join(lines)


def known(name: str, variant: Variant) -> dict[str, Value]:
    """All that an adversary fills in: the organisation, a reference, a label of its own."""
    number = str(random_of(name, variant).randrange(10_000, 100_000))
    org = variant.values.get("org", _NOBODY[variant.scenario.locale])
    return {"org": org, "ref": number, "label": f"K-{number}"}


def random_of(name: str, variant: Variant) -> Random:
    """Randomness that is the same for the same attack and variant."""
    return Random(f"{name}/{variant.scenario.family}/{variant.seed}")


def _line(wording: Wording, random: Random, seen: set[str]) -> str:
    for _ in range(_TRIES):
        line = fill(random.choice(wording.rows), lambda name: _drawn(wording, name, random))
        if line not in seen:
            return line
    raise ScenarioError("the rows and pools of a bulk attack give too few different lines")


def _drawn(wording: Wording, name: str, random: Random) -> Value:
    if name == "ref":
        return str(random.randrange(10_000, 100_000))
    if name not in wording.pools:
        raise ScenarioError(f"a row of a bulk attack names {name!r}, which no pool gives")
    return random.choice(wording.pools[name])
