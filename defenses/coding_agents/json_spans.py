"""JSON with comments, as a tree whose nodes know where in the text they are.

For changes that leave every other byte of a settings file as it was: comments, order,
indentation, line ends. A library that writes a file anew keeps none of them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

_BLANK: Final = re.compile(r"(?:[ \t\r\n]+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING: Final = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_OTHER: Final = re.compile(r"-?\d[0-9.eE+-]*|true|false|null")
_DEEPEST: Final = 200


class JsonError(ValueError):
    """The text is not JSON, comments and trailing commas aside."""


@dataclass
class Node:
    """A value.

    Attributes:
        start: of its first character.
        end: behind its last one.
        kind: ``object``, ``array`` or ``other``.
        value: of what is neither object nor array.
        members: key and value of an object.
        items: of an array.
        comma: whether a comma follows the last child.
    """

    start: int
    end: int = -1
    kind: str = "other"
    value: object = None
    members: list[tuple[Key, Node]] = field(default_factory=list)
    items: list[Node] = field(default_factory=list)
    comma: bool = False

    def get(self, key: str) -> Node | None:
        """The value of a key."""
        return next((value for name, value in self.members if name.text == key), None)

    def children(self) -> list[tuple[int, int]]:
        """Where the children are, keys included."""
        if self.kind == "object":
            return [(key.start, value.end) for key, value in self.members]
        return [(item.start, item.end) for item in self.items]

    def strings(self) -> Iterator[str]:
        """All strings in it that are no keys."""
        if isinstance(self.value, str):
            yield self.value
        for child in [*self.items, *(value for _, value in self.members)]:
            yield from child.strings()


@dataclass(frozen=True)
class Key:
    """A key of an object, and where it starts."""

    text: str
    start: int


def parse(text: str) -> Node:
    """The tree of a text.

    Raises:
        JsonError: it is not JSON, has a key twice in one object, or is too deep.
    """
    parser = _Parser(text)
    node = parser.value(parser.blank(0), 0)
    if (end := parser.blank(node.end)) != len(text):
        raise parser.error(end, "more text after the value")
    return node


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text

    def error(self, at: int, what: str) -> JsonError:
        line = self.text.count("\n", 0, at) + 1
        return JsonError(f"line {line}: {what}")

    def blank(self, at: int) -> int:
        matched = _BLANK.match(self.text, at)
        return matched.end() if matched else at

    def value(self, at: int, depth: int) -> Node:
        if depth > _DEEPEST:
            raise self.error(at, "too deep")
        first = self.text[at : at + 1]
        if first in ("{", "["):
            return self._container(at, depth, "object" if first == "{" else "array")
        matched = _STRING.match(self.text, at) or _OTHER.match(self.text, at)
        if matched is None:
            raise self.error(at, f"no value at {self.text[at : at + 20]!r}")
        try:
            return Node(at, matched.end(), value=json.loads(matched[0]))
        except ValueError as error:
            raise self.error(at, str(error)) from None

    def _container(self, at: int, depth: int, kind: str) -> Node:
        node = Node(at, kind=kind)
        closing = "}" if kind == "object" else "]"
        at = self.blank(at + 1)
        while not self.text.startswith(closing, at):
            at = self._child(node, at, depth)
            at = self.blank(at)
            node.comma = self.text.startswith(",", at)
            if node.comma:
                at = self.blank(at + 1)
            elif not self.text.startswith(closing, at):
                raise self.error(at, f"a comma or {closing} is missing")
        node.end = at + 1
        return node

    def _child(self, node: Node, at: int, depth: int) -> int:
        if node.kind == "array":
            node.items.append(self.value(at, depth + 1))
            return node.items[-1].end
        key = self.value(at, depth + 1)
        if not isinstance(key.value, str):
            raise self.error(at, "a key is missing")
        if node.get(key.value) is not None:
            raise self.error(at, f"the key {key.value!r} is there twice")
        colon = self.blank(key.end)
        if not self.text.startswith(":", colon):
            raise self.error(colon, "a colon is missing")
        value = self.value(self.blank(colon + 1), depth + 1)
        node.members.append((Key(key.value, at), value))
        return value.end
