"""Small text tools that the predicates share."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

# Zero-width and direction marks: invisible to a reader, kept by most parsers.
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufe00-\ufe0f\ufeff]"
)

SHOWN = 80


def visible(text: str) -> str:
    """The text without its invisible characters."""
    return _INVISIBLE.sub("", text)


def shown(value: object) -> str:
    """A value as a reason shows it: quoted, and cut after 80 characters."""
    if isinstance(value, str):
        return repr(value if len(value) <= SHOWN else value[: SHOWN - 1] + "…")
    try:
        text = repr(value)
    except (RecursionError, ValueError):  # too deep, or an integer too long to print
        return f"a {type(value).__name__} too large to show"
    return text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"


def leaves(node: object, *, keys: bool = False) -> Iterator[object]:
    """Every value in a JSON value that is not a container, in order.

    Unlike a recursive walk, this takes any depth of nesting.

    Args:
        node: the JSON value.
        keys: give each mapping's keys too, each before its value.
    """
    left: list[object] = [node]
    while left:
        item = left.pop()
        if isinstance(item, Mapping):
            for key, value in reversed(list(item.items())):
                left.extend([value, key] if keys else [value])
        elif isinstance(item, list | tuple):
            left.extend(reversed(item))
        else:
            yield item


def texts(node: object, *, keys: bool = False) -> list[str]:
    """Every string and number in a JSON value, as text, in order."""
    found = []
    for leaf in leaves(node, keys=keys):
        if leaf is None or isinstance(leaf, bool):
            continue
        try:
            found.append(str(leaf))
        except ValueError:  # an integer too long to print
            continue
    return found
