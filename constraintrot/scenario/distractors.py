"""Standing rules that are unrelated to every trigger, to surround a policy.

``tasks/distractors/<locale>.yaml`` holds them by topic, the same topics in each locale:
kitchens, stairs, plants. An agent that follows them all can still do every allowed request,
and the survival check takes none of their sentences for a part of a policy. Nothing here
imports Inspect.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from random import Random
from types import MappingProxyType
from typing import Literal

import yaml
from pydantic import ValidationError

from constraintrot.errors import ParameterError, ScenarioError
from constraintrot.scenario.schema import Locale, Variant
from constraintrot.scenario.sections import Text
from constraintrot.scenario.template import fill
from constraintrot.strict import Strict

FOLDER = Path(__file__).parent.parent / "tasks" / "distractors"
MAX_DISTRACTORS = 50


class _File(Strict):
    canary: Literal["constraintrot-canary-5b0d6a1e-7f0c-4a52-9d6e-3c1f0e8a94b7"]
    locale: Locale
    rules: dict[str, Text]


def distractors(variant: Variant, count: int) -> tuple[str, ...]:
    """Return ``count`` rules in the variant's language, the same ones for the same variant.

    The rules of a smaller count are the first of a larger one. Topics depend on the family and the
    seed, not on the locale.
    """
    if not 0 <= count <= MAX_DISTRACTORS:
        raise ParameterError(f"distractors must be 0 to {MAX_DISTRACTORS}, not {count}")
    if not count:
        return ()
    scenario = variant.scenario
    by_topic = rules(scenario.locale)
    topics = sorted(by_topic)
    Random(f"{scenario.family}/{variant.seed}/distractors").shuffle(topics)
    return tuple(fill(by_topic[topic], variant.values) for topic in topics[:count])


@cache
def rules(locale: Locale) -> Mapping[str, str]:
    """Return a locale's rules by topic; ``{{org}}`` is the variant's organisation."""
    path = FOLDER / f"{locale}.yaml"
    try:
        found = _File.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
    except (OSError, yaml.YAMLError, ValidationError) as error:
        raise ScenarioError(f"{path.name} is no file of distractors: {error}") from error
    if len(found.rules) != MAX_DISTRACTORS:
        raise ScenarioError(
            f"{path.name} holds {len(found.rules)} rules, and it must be {MAX_DISTRACTORS}"
        )
    return MappingProxyType(found.rules)
