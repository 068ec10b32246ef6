"""An attack as one YAML file: its purpose, its delivery, and its texts.

The texts are in the played locales, marked with the canary, and filled in with an adversary's
knowledge without the conversation: the organisation's name, and invented reference numbers.
Neither the policy nor the rest of the episode is read.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from random import Random
from typing import Annotated, Any, Literal, TypeVar

import yaml
from pydantic import AfterValidator, Field, ValidationError, model_validator

from constraintrot.attacks.definition import MAX_SIZE, MIN_SIZE, SURFACES, Knowledge, Position
from constraintrot.episode.channels import CHANNELS, Store
from constraintrot.errors import ScenarioError
from constraintrot.scenario.schema import Locale, Variant
from constraintrot.scenario.sections import Scalar, Text
from constraintrot.scenario.template import Value, fill, names, show
from constraintrot.scenario.values import is_mapping
from constraintrot.strict import Strict
from constraintrot.tokens import count

FILLED_IN = frozenset({"org", "ref", "label"})
"""Placeholders that ``adversary_values`` fills in."""
# The sender if a scenario names no organisation.
_NOBODY = {"en": "Operations", "zh": "运营部", "es": "Operaciones", "de": "Betrieb"}
# Most draws of a bulk line that is no repeat, which an adversary would avoid.
_TRIES = 1000


class Wording(Strict):
    """An attack's texts in one language.

    Attributes:
        rows: templates of the lines of bulk.
        pools: words that fill the rows; ``{{ref}}`` is a number of five digits.
    """

    texts: list[Text] = Field(min_length=1)
    rows: list[Text] = Field(default_factory=list)
    pools: dict[str, Annotated[list[Scalar], Field(min_length=1)]] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _drawn_from_pools(self) -> Wording:
        unknown = names(self.rows) - set(self.pools) - {"ref"}
        if unknown:
            raise ValueError(f"a row names {', '.join(sorted(unknown))}, which no pool gives")
        return self


class AttackTexts(Strict):
    """One file of attack texts.

    Attributes:
        canary: keeps the file out of training data.
        reference_seed: seeds the reference numbers; texts of one seed cite the same number.
    """

    canary: Literal["constraintrot-canary-5b0d6a1e-7f0c-4a52-9d6e-3c1f0e8a94b7"]
    notice: Text
    reference_seed: Text
    locales: dict[Locale, Wording] = Field(min_length=1)

    def filled(self, variant: Variant, more: Mapping[str, Value] | None = None) -> list[str]:
        """Return the texts in a variant's language, filled in; the same for the same variant.

        ``more`` are further values; ``number`` is each text's own, from 0.
        """
        wording = self.locales[variant.scenario.locale]
        values = adversary_values(self.reference_seed, variant) | dict(more or {})
        return [fill(text, {**values, "number": at}) for at, text in enumerate(wording.texts)]

    def bulk(self, variant: Variant, size: int) -> str:
        """Return the texts, and as many different lines as reach a size in o200k tokens."""
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
    """Read a file that holds only attack texts.

    Args:
        path: the file; its name is the default of ``reference_seed``.
    """
    return validated(AttackTexts, path, read_yaml(path))


def read_yaml(path: Path) -> dict[str, Any]:
    """Return the mapping in a YAML file."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        data = yaml.load(path.read_text(encoding="utf-8"), Loader=loader)  # safe loader
    except (OSError, UnicodeDecodeError, yaml.YAMLError, RecursionError) as error:
        raise ScenarioError(f"attack file {path}: {error}") from error
    if not is_mapping(data):
        raise ScenarioError(f"attack file {path}: not a mapping of keys and values")
    return dict(data)


def validated(model: type[TextsT], path: Path, data: Mapping[str, Any]) -> TextsT:
    """Return the checked contents of a file."""
    try:
        return model.model_validate({"reference_seed": path.stem, **data})
    except ValidationError as error:
        faults = "; ".join(
            f"{'.'.join(map(str, fault['loc'])) or 'file'}: {fault['msg']}"
            for fault in error.errors(include_url=False)
        )
        raise ScenarioError(f"attack file {path}: {faults}") from error


def adversary_values(seed: str, variant: Variant) -> dict[str, Value]:
    """Return an adversary's values: the organisation, an invented reference and label."""
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


def _store(channel: str) -> Store | None:
    return CHANNELS.get(channel).store if channel in CHANNELS.names() else None


def _known(channel: str) -> str:
    if channel not in SURFACES and _store(channel) is None:
        stores = filter(_store, CHANNELS.names())
        raise ValueError(f"unknown channel; known: {', '.join([*SURFACES, *stores])}")
    return channel


class AttackFile(AttackTexts):
    """One attack, as in its file; texts may be another file's (``texts_of: NAME``).

    Attributes:
        summary: its effect, in one sentence.
        knowledge: the adversary's knowledge.
        channels: kinds of ingested content for delivery, the default first; or a policy channel
            whose store it works on.
        positions: possible places in the history, the default first.
        size: default size in o200k tokens, for texts with rows; else None.
    """

    summary: Text
    knowledge: Knowledge
    channels: tuple[Annotated[str, AfterValidator(_known)], ...] = Field(min_length=1)
    positions: tuple[Position, ...] = Field(min_length=1)
    size: Annotated[int, Field(ge=MIN_SIZE, le=MAX_SIZE)] | None = None

    @model_validator(mode="after")
    def _deliverable(self) -> AttackFile:
        for listed in (self.channels, self.positions):
            if len(set(listed)) < len(listed):
                raise ValueError(f"names one twice: {', '.join(listed)}")
        stores = [name for name in self.channels if name not in SURFACES]
        if stores and (len(self.channels) > 1 or self.size is not None):
            raise ValueError(f"channel {stores[0]} has no size and goes with no other channel")
        store = _store(stores[0]) if stores else None
        known = FILLED_IN | store.fills if store else FILLED_IN
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
    """Read the file of an attack."""
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
