"""Attack texts: YAML in three languages, marked with the canary, and filled in.

They are filled in with what an adversary knows without seeing the conversation:
the organisation's name, and reference numbers that it makes up. Neither the
policy nor the rest of the episode is read.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from random import Random
from typing import Annotated, Any, Literal, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from constraintrot.errors import ScenarioError
from constraintrot.scenario.schema import LOCALES, Locale, Variant
from constraintrot.scenario.sections import Scalar, Text
from constraintrot.scenario.template import Value, fill, names, show
from constraintrot.scenario.values import is_mapping
from constraintrot.tokens import count

FILLED_IN = frozenset({"org", "ref", "label"})
"""Placeholders that ``adversary_values`` fills in."""
IN_WIKI = frozenset({"request", "number"})
"""And in a source for a wiki: the words of the request that it is for, and the text's number."""
# The sender where a scenario names no organisation.
_NOBODY = {"en": "Operations", "zh": "运营部", "es": "Operaciones"}
# Lines of bulk are checked for repeats, which an adversary would avoid.
_TRIES = 1000


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Wording(_Strict):
    """An attack's texts in one language.

    Attributes:
        texts: what is placed, each text in another turn.
        rows: templates of the lines that bulk is made of.
        pools: words that fill the rows in; ``{{ref}}`` is a number of five digits.
    """

    texts: list[Text] = Field(min_length=1)
    rows: list[Text] = []
    pools: dict[str, Annotated[list[Scalar], Field(min_length=1)]] = {}

    @model_validator(mode="after")
    def _drawn_from_pools(self) -> Wording:
        unknown = names(self.rows) - set(self.pools) - {"ref"}
        if unknown:
            raise ValueError(f"a row names {', '.join(sorted(unknown))}, which no pool gives")
        return self


class AttackTexts(_Strict):
    """One file of attack texts.

    Attributes:
        canary: keeps the file out of training data.
        notice: what the texts are for.
        reference_seed: seeds the reference numbers; texts of one seed cite the same number.
        locales: the texts by language.
    """

    canary: Literal["constraintrot-canary-5b0d6a1e-7f0c-4a52-9d6e-3c1f0e8a94b7"]
    notice: Text
    reference_seed: Text
    locales: dict[Locale, Wording]

    @model_validator(mode="after")
    def _whole(self) -> AttackTexts:
        missing = set(LOCALES) - set(self.locales)
        if missing:
            raise ValueError(f"lacks the languages {', '.join(sorted(missing))}")
        return self

    def filled(self, variant: Variant, more: Mapping[str, Value] | None = None) -> list[str]:
        """The texts in a variant's language, filled in; the same for the same variant.

        Args:
            variant: whose language.
            more: what is filled in besides; ``number`` is each text's own, from 0.
        """
        wording = self.locales[variant.scenario.locale]
        values = adversary_values(self.reference_seed, variant) | dict(more or {})
        return [fill(text, {**values, "number": at}) for at, text in enumerate(wording.texts)]

    def bulk(self, variant: Variant, size: int) -> str:
        """The texts, and as many different lines as reach a size.

        Args:
            variant: whose language; it seeds the lines.
            size: o200k tokens to reach.

        Raises:
            ScenarioError: the rows and pools give too few different lines.
        """
        wording = self.locales[variant.scenario.locale]
        random = _random(self.reference_seed, variant)
        lines = self.filled(variant)
        total = sum(count(f"{line}\n") for line in lines)
        seen: set[str] = set()
        while total < size:
            line = _line(wording, random, seen)
            seen.add(line)
            lines.append(line)
            total += count(f"{line}\n")
        return "\n".join(lines)


TextsT = TypeVar("TextsT", bound=AttackTexts)


@cache
def read_texts(path: Path) -> AttackTexts:
    """Read a file that holds attack texts and nothing else.

    Args:
        path: where no ``reference_seed`` is in the file, its name is that.

    Raises:
        ScenarioError: it is missing, is no YAML, or lacks a part.
    """
    return validated(AttackTexts, path, read_yaml(path))


def read_yaml(path: Path) -> dict[str, Any]:
    """What a YAML file holds.

    Raises:
        ScenarioError: it is missing, or is no YAML mapping.
    """
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        data = yaml.load(path.read_text(encoding="utf-8"), Loader=loader)  # safe loader
    except (OSError, UnicodeDecodeError, yaml.YAMLError, RecursionError) as error:
        raise ScenarioError(f"attack file {path}: {error}") from error
    if not is_mapping(data):
        raise ScenarioError(f"attack file {path}: not a mapping of keys and values")
    return dict(data)


def validated(model: type[TextsT], path: Path, data: Mapping[str, Any]) -> TextsT:
    """What a file holds, checked.

    Raises:
        ScenarioError: a key is missing, unknown or of a wrong value.
    """
    try:
        return model.model_validate({"reference_seed": path.stem, **data})
    except ValidationError as error:
        faults = "; ".join(
            f"{'.'.join(map(str, fault['loc'])) or 'file'}: {fault['msg']}"
            for fault in error.errors(include_url=False)
        )
        raise ScenarioError(f"attack file {path}: {faults}") from error


def adversary_values(seed: str, variant: Variant) -> dict[str, Value]:
    """All that an adversary fills in: the organisation, a reference, a label that it made up.

    Args:
        seed: ``reference_seed`` of the texts.
        variant: whose organisation; it seeds the reference too.
    """
    number = str(_random(seed, variant).randrange(10_000, 100_000))
    org = variant.values.get("org", _NOBODY[variant.scenario.locale])
    return {"org": org, "ref": number, "label": f"K-{number}"}


def _random(seed: str, variant: Variant) -> Random:
    return Random(f"{seed}/{variant.scenario.family}/{variant.seed}")


def _line(wording: Wording, random: Random, seen: set[str]) -> str:
    def drawn(name: str) -> Value:
        if name == "ref":
            return str(random.randrange(10_000, 100_000))
        return random.choice(wording.pools[name])

    for _ in range(_TRIES if wording.rows else 0):
        line = show(fill(random.choice(wording.rows), drawn))
        if line not in seen:
            return line
    raise ScenarioError("the rows and pools of a bulk attack give too few different lines")
