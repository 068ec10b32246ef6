"""Reading the probes' task parameters, all before anything runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar, cast

from constraintrot.errors import ParameterError

T = TypeVar("T")


def refuse(unknown: Mapping[str, object], known: Sequence[str]) -> None:
    """Refuse parameters that a task does not have; Inspect would only warn.

    Raises:
        ParameterError: there are some.
    """
    if unknown:
        raise ParameterError(
            f"unknown task parameter {', '.join(map(repr, sorted(unknown)))};"
            f" known: {', '.join(known)}"
        )


def whole(name: str, value: object, least: int, most: int) -> int:
    """A whole number in a range.

    Raises:
        ParameterError: it is not.
    """
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise ParameterError(f"{name} must be a whole number from {least} to {most}, not {value!r}")
    return value


def wholes(name: str, value: object, least: int, most: int) -> tuple[int, ...]:
    """Different whole numbers in a range, in the order given.

    Args:
        name: of the parameter.
        value: one number, several, or their text with commas between.
        least: of each.
        most: of each.

    Raises:
        ParameterError: it is none of these, empty, or has one twice.
    """
    found = tuple(whole(name, _number(item), least, most) for item in _items(value))
    return _distinct(name, found, f"whole numbers from {least} to {most}")


def names(name: str, value: object, known: Sequence[str]) -> tuple[str, ...]:
    """Different names out of some known ones, in the order given.

    Raises:
        ParameterError: one is unknown or there twice, or there is none.
    """
    found = tuple(str(item).strip() for item in _items(value))
    for item in found:
        if item not in known:
            raise ParameterError(f"unknown {name} {item!r}; known: {', '.join(known)}")
    return _distinct(name, found, f"out of {', '.join(known)}")


def _distinct(name: str, found: tuple[T, ...], what: str) -> tuple[T, ...]:
    if not found or len(set(found)) < len(found):
        raise ParameterError(f"{name} takes one or more, each once: {what}")
    return found


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
