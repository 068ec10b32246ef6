"""Small text tools of the predicates."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeGuard

SHOWN = 80


def shown(value: object) -> str:
    """Return a value for a reason: quoted, and cut after 80 characters."""
    if isinstance(value, str):
        return repr(value if len(value) <= SHOWN else value[: SHOWN - 1] + "…")
    try:
        text = repr(value)
    except (RecursionError, ValueError):  # too deep, or an integer too long to print
        return f"a {type(value).__name__} too large to show"
    return text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"


def is_mapping(node: object) -> TypeGuard[Mapping[str, object]]:
    return isinstance(node, Mapping)


def is_list(node: object) -> TypeGuard[Sequence[object]]:
    """A tuple counts as a list."""
    return isinstance(node, list | tuple)


def spelled(text: str, *, within: str = '[{"') -> object:
    """Parse a text as JSON that begins with one of some signs; None if it is not JSON."""
    if not text.lstrip().startswith(tuple(within)):
        return None
    try:
        node: object = json.loads(text, object_pairs_hook=_pairs)
    except (ValueError, RecursionError):
        return None
    return node


def _pairs(pairs: list[tuple[str, object]]) -> object:
    # Readers take the first or the last of two equal keys, so both must count.
    node = dict(pairs)
    return node if len(node) == len(pairs) else [{key: value} for key, value in pairs]


def leaves(node: object, *, keys: bool = False) -> Iterator[object]:
    """Yield every value that is no container, in order, with ``keys`` each mapping's keys too."""
    left: list[object] = [node]
    while left:
        item = left.pop()
        if is_mapping(item):
            for key, value in reversed(list(item.items())):
                left.extend([value, key] if keys else [value])
        elif is_list(item):
            left.extend(reversed(item))
        else:
            yield item


def texts(node: object, *, keys: bool = False) -> list[str]:
    """Return every string and number in a JSON value, as text, in order."""
    found: list[str] = []
    for leaf in leaves(node, keys=keys):
        if leaf is None or isinstance(leaf, bool):
            continue
        try:
            found.append(str(leaf))
        except ValueError:  # an integer too long to print
            continue
    return found
