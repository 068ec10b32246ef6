"""An attack as one YAML file: what it does, how it may be delivered, and its texts."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Annotated

from pydantic import Field, model_validator

from constraintrot.attacks.attack_texts import FILLED_IN, IN_WIKI, AttackTexts, read_yaml, validated
from constraintrot.attacks.definition import MAX_SIZE, MIN_SIZE, Knowledge, Position, Surface
from constraintrot.errors import ScenarioError
from constraintrot.scenario.sections import Text
from constraintrot.scenario.template import names


class AttackFile(AttackTexts):
    """One attack, as its file holds it; texts may be another file's (``texts_of: NAME``).

    Attributes:
        summary: what it does, in one sentence.
        knowledge: what the adversary knows.
        channels: ingested content that it can come in, the default first.
        positions: where it can be placed, the default first.
        size: default size in o200k tokens, for texts with rows; else None.
    """

    summary: Text
    knowledge: Knowledge
    channels: tuple[Surface, ...] = Field(min_length=1)
    positions: tuple[Position, ...] = Field(min_length=1)
    size: Annotated[int, Field(ge=MIN_SIZE, le=MAX_SIZE)] | None = None

    @model_validator(mode="after")
    def _deliverable(self) -> AttackFile:
        for listed in (self.channels, self.positions):
            if len(set(listed)) < len(listed):
                raise ValueError(f"names one twice: {', '.join(listed)}")
        in_wiki = "wiki" in self.channels
        if in_wiki and (len(self.channels) > 1 or self.size is not None):
            raise ValueError("channel wiki has no size and goes with no other channel")
        known = FILLED_IN | IN_WIKI if in_wiki else FILLED_IN
        for locale, wording in self.locales.items():
            unknown = names(wording.texts) - known
            if unknown:
                raise ValueError(
                    f"a text of {locale} names {', '.join(sorted(unknown))},"
                    f" and an adversary knows {', '.join(sorted(known))} only"
                )
            if bool(wording.rows) != (self.size is not None):
                raise ValueError(f"size and rows belong together, also in {locale}")
        return self


@cache
def read_attack_file(path: Path) -> AttackFile:
    """Read the file of an attack.

    Raises:
        ScenarioError: it is missing, is no YAML, or a key is missing, unknown or
            of a wrong value; the message names the file and says what is wrong.
    """
    _check_name(path, path.stem)
    data = read_yaml(path)
    if "texts_of" not in data:
        return validated(AttackFile, path, data)
    both = sorted({"locales", "reference_seed"} & set(data))
    if both:
        raise ScenarioError(
            f"attack file {path}: holds {', '.join(both)} beside texts_of, which"
            " takes them from another file"
        )
    other = data.pop("texts_of")
    _check_name(path, other)
    try:
        texts = read_yaml(path.with_name(f"{other}.yaml"))
    except ScenarioError as error:
        raise ScenarioError(f"attack file {path}, texts_of {other}: {error}") from error
    if "locales" not in texts:
        raise ScenarioError(f"attack file {path}: {other}.yaml holds no texts to use")
    shared = {"locales": texts["locales"], "reference_seed": texts.get("reference_seed", other)}
    return validated(AttackFile, path, {**data, **shared})


def _check_name(path: Path, name: object) -> None:
    if not isinstance(name, str) or not name.isidentifier():
        raise ScenarioError(
            f"attack file {path}: {name!r} is no attack's name; use letters, digits and underscores"
        )
