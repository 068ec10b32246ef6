"""The stock of benign work that the scenarios of a locale share.

``tasks/histories/<locale>/<topic>.yaml`` holds one topic, and ``_pools.yaml`` the pools
that all topics may use. A topic is read at first use.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError

from constraintrot import documents
from constraintrot.documents import told
from constraintrot.errors import ScenarioError, UnknownNameError
from constraintrot.scenario.sections import Locale
from constraintrot.scenario.topic import Entry, Topic
from constraintrot.strict import Strict

FOLDER = Path(__file__).parent.parent / "tasks" / "histories"
_POOLS = "_pools"


class _Head(Strict):
    canary: Literal["constraintrot-canary-5b0d6a1e-7f0c-4a52-9d6e-3c1f0e8a94b7"]
    locale: Locale
    topic: str


class _Pools(_Head):
    pools: dict[str, list[Entry]]


@cache
def names(locale: str) -> tuple[str, ...]:
    return tuple(
        sorted(path.stem for path in (FOLDER / locale).glob("*.yaml") if path.stem != _POOLS)
    )


def check_names(locale: str, topics: list[str]) -> None:
    """Raise ``UnknownNameError`` for a topic that a locale does not have."""
    for topic in topics:
        if topic not in names(locale):
            raise UnknownNameError(f"history topic of locale {locale}", topic, names(locale))


@cache
def topic(locale: str, name: str) -> Topic:
    """Return a topic by name, with the locale's common pools."""
    check_names(locale, [name])
    data = _read(locale, name)
    head = {key: data.pop(key, None) for key in _Head.model_fields}
    try:
        _Head.model_validate(head)
        own = data.get("pools") or {}
        return Topic.model_validate({**data, "pools": {**_common(locale), **own}})
    except ValidationError as error:
        raise ScenarioError(f"{locale}/{name}.yaml: {told(error)}") from error


@cache
def _common(locale: str) -> Mapping[str, Any]:
    try:
        return _Pools.model_validate(_read(locale, _POOLS)).pools
    except ValidationError as error:
        raise ScenarioError(f"{locale}/{_POOLS}.yaml: {told(error)}") from error


def _read(locale: str, name: str) -> dict[str, Any]:
    path = FOLDER / locale / f"{name}.yaml"
    data = documents.load(path, f"{locale}/{path.name}")
    if not isinstance(data, dict) or data.get("topic") != name or data.get("locale") != locale:
        raise ScenarioError(f"{locale}/{path.name}: must say its locale and its topic")
    return data
