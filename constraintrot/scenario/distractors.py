"""Standing rules that have nothing to do with any trigger, to put a policy among.

``tasks/distractors/<locale>.yaml`` holds them by topic, the same topics in each
locale: kitchens, stairs, plants. An agent that follows them all can still do
every allowed request, and none of their sentences looks like a part of a policy
to the survival check. Nothing here imports Inspect.
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
    """Some rules in the variant's language, the same ones for the same variant.

    A smaller choice is the start of a larger one, so 15 rules and 50 differ by
    35 added ones. Topics depend on the family and the seed, not on the locale.

    Args:
        variant: whose language and values; its seed draws the rules.
        count: how many, 0 to ``MAX_DISTRACTORS``.

    Raises:
        ParameterError: there are not that many.
        ScenarioError: the locale's file cannot be read.
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
    """A locale's rules by topic; ``{{org}}`` stands for the variant's organisation.

    Raises:
        ScenarioError: its file is missing, or is not what such a file must be.
    """
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
