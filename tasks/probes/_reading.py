"""Parsers of the probes' task parameters, used before anything runs."""

from collections.abc import Mapping, Sequence
from typing import TypeVar, cast

from constraintrot.errors import ParameterError

T = TypeVar("T")


def refuse(unknown: Mapping[str, object], known: Sequence[str]) -> None:
    """Refuse parameters that a task does not have; Inspect would only warn."""
    if unknown:
        raise ParameterError(
            f"unknown task parameter {', '.join(map(repr, sorted(unknown)))};"
            f" known: {', '.join(known)}"
        )


def whole(name: str, value: object, least: int, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise ParameterError(f"{name} must be a whole number from {least} to {most}, not {value!r}")
    return value


def seeds(seed: object, n: object, most: int) -> range:
    first = whole("seed", seed, 0, 2**31)
    return range(first, first + whole("n", n, 1, most))


def wholes(name: str, value: object, least: int, most: int) -> tuple[int, ...]:
    """Parse distinct integers, in the order given."""
    numbers = tuple(whole(name, _number(item), least, most) for item in _items(value))
    return _distinct(name, numbers, f"whole numbers from {least} to {most}")


def names(name: str, value: object, known: Sequence[str]) -> tuple[str, ...]:
    """Parse distinct names out of known ones, in the order given."""
    chosen = tuple(str(item).strip() for item in _items(value))
    for item in chosen:
        if item not in known:
            raise ParameterError(f"unknown {name} {item!r}; known: {', '.join(known)}")
    return _distinct(name, chosen, f"out of {', '.join(known)}")


def _distinct(name: str, items: tuple[T, ...], what: str) -> tuple[T, ...]:
    if not items or len(set(items)) < len(items):
        raise ParameterError(f"{name} takes one or more, each once: {what}")
    return items


def _items(value: object) -> list[object]:
    if isinstance(value, str):
        return [item for item in value.split(",") if item.strip()]
    if isinstance(value, list | tuple):
        return list(cast("Sequence[object]", value))
    return [value]


def _number(item: object) -> object:
    try:
        return int(item) if isinstance(item, str) else item
    except ValueError:
        return item
