"""Placeholders in scenario texts: ``{{name}}`` or ``{{name.2}}``.

A placeholder that is the whole string gives the value itself, so a number stays a number.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias, TypeVar, cast

from constraintrot.errors import ScenarioError

Value: TypeAlias = str | int | float
Lookup: TypeAlias = Callable[[str], Value]
T = TypeVar("T")

PLACEHOLDER = re.compile(r"\{\{\s*([a-z][a-z0-9_]*(?:\.[0-9]+)?)\s*\}\}")
_BRACED = re.compile(r"\{\{.*?\}\}", re.DOTALL)


def names(node: object) -> set[str]:
    """Return the placeholder names in a string, or in a structure of lists and mappings."""
    return {name for text in _texts(node) for name in PLACEHOLDER.findall(text)}


def unfillable(node: object) -> Iterator[str]:
    """Yield what has double braces and is no placeholder, such as ``{{Org}}``; it is not filled in."""
    for text in _texts(node):
        yield from _BRACED.findall(PLACEHOLDER.sub(" ", text))


def no_value(braced: str, values: Iterable[str]) -> ScenarioError:
    """Return the error of a placeholder, with its braces, that names none of the values."""
    return ScenarioError(f"placeholder {braced} has no value; known: {', '.join(sorted(values))}")


def fill(node: T, values: Mapping[str, Value] | Lookup) -> T:
    """Fill in every placeholder of a string, or of a structure of them.

    Raises:
        ScenarioError: a placeholder names no value.
    """
    lookup = values if callable(values) else _lookup(values)
    return _fill(node, lookup)  # type: ignore[return-value]  # same shape out as in


def show(value: Value) -> str:
    """Return a value as running text, whole floats without ``.0``."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def _texts(node: object) -> Iterator[str]:
    if isinstance(node, str):
        yield node
    if isinstance(node, Mapping):
        node = list(cast("Mapping[object, object]", node).values())
    if isinstance(node, list | tuple):
        for one in cast("Sequence[object]", node):
            yield from _texts(one)


def _lookup(values: Mapping[str, Value]) -> Lookup:
    def find(name: str) -> Value:
        if name not in values:
            raise no_value(f"{{{{{name}}}}}", values)
        return values[name]

    return find


def _fill(node: object, lookup: Lookup) -> object:
    if isinstance(node, str):
        whole = PLACEHOLDER.fullmatch(node)
        if whole:
            return lookup(whole[1])
        return PLACEHOLDER.sub(lambda found: show(lookup(found[1])), node)
    if isinstance(node, Mapping):
        mapping = cast("Mapping[object, object]", node)
        return {key: _fill(value, lookup) for key, value in mapping.items()}
    if isinstance(node, list | tuple):
        return [_fill(value, lookup) for value in cast("Sequence[object]", node)]
    return node
