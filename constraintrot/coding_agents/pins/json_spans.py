"""JSON with comments, as a tree of nodes with their positions in the text.

A change can then leave every other byte of a settings file as it was: comments, order,
indentation, line ends. A library that rewrites the file would lose them.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

Beyond: TypeAlias = Literal["byte order mark", "comment", "trailing comma"]
_BLANK: Final = re.compile(r"(?:[ \t\r\n]+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING: Final = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_OTHER: Final = re.compile(r"-?\d[0-9.eE+-]*|true|false|null")
_DEEPEST: Final = 200


class JsonError(ValueError):
    """The text is not JSON, even with comments and trailing commas allowed."""


@dataclass
class Node:
    """A value."""

    start: int  # position of its first character
    end: int = -1  # position behind its last character
    kind: str = "other"  # ``object``, ``array`` or ``other``
    value: object = None
    members: list[tuple[Key, Node]] = field(default_factory=list)
    items: list[Node] = field(default_factory=list)
    comma: bool = False  # whether a comma follows the last child
    # For the outermost value, extensions of strict JSON and the first line of each.
    beyond: dict[Beyond, int] = field(default_factory=dict)

    def get(self, key: str) -> Node | None:
        return next((value for name, value in self.members if name.text == key), None)

    def children(self) -> list[tuple[int, int]]:
        """Return the spans of the children, keys included."""
        if self.kind == "object":
            return [(key.start, value.end) for key, value in self.members]
        return [(item.start, item.end) for item in self.items]

    def strings(self) -> Iterator[str]:
        """Yield all strings in the value that are not keys."""
        if isinstance(self.value, str):
            yield self.value
        for child in [*self.items, *(value for _, value in self.members)]:
            yield from child.strings()


@dataclass(frozen=True)
class Key:
    text: str
    start: int


def parse(text: str) -> Node:
    """Return the tree of a text; a key twice in one object is an error too."""
    parser = _Parser(text)
    node = parser.value(parser.blank(0), 0)
    if (end := parser.blank(node.end)) != len(text):
        raise parser.error(end, "more text after the value")
    node.beyond = parser.beyond
    return node


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.beyond: dict[Beyond, int] = {}

    def line(self, at: int) -> int:
        return self.text.count("\n", 0, at) + 1

    def error(self, at: int, what: str) -> JsonError:
        return JsonError(f"line {self.line(at)}: {what}")

    def blank(self, at: int) -> int:
        matched = _BLANK.match(self.text, at)
        if matched is None:
            return at
        if "comment" not in self.beyond and (comment := matched[0].find("/")) >= 0:
            self.beyond["comment"] = self.line(at + comment)
        return matched.end()

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
        node, known = Node(at, kind=kind), set[str]()
        closing = "}" if kind == "object" else "]"
        at = self.blank(at + 1)
        while not self.text.startswith(closing, at):
            at = self._child(node, at, depth, known)
            at = self.blank(at)
            node.comma = self.text.startswith(",", at)
            if node.comma:
                before = at
                at = self.blank(at + 1)
                if "trailing comma" not in self.beyond and self.text.startswith(closing, at):
                    self.beyond["trailing comma"] = self.line(before)
            elif not self.text.startswith(closing, at):
                raise self.error(at, f"a comma or {closing} is missing")
        node.end = at + 1
        return node

    def _child(self, node: Node, at: int, depth: int, known: set[str]) -> int:
        if node.kind == "array":
            node.items.append(self.value(at, depth + 1))
            return node.items[-1].end
        key = self.value(at, depth + 1)
        if not isinstance(key.value, str):
            raise self.error(at, "a key is missing")
        if key.value in known:
            raise self.error(at, f"the key {key.value!r} is there twice")
        known.add(key.value)
        colon = self.blank(key.end)
        if not self.text.startswith(":", colon):
            raise self.error(colon, "a colon is missing")
        value = self.value(self.blank(colon + 1), depth + 1)
        node.members.append((Key(key.value, at), value))
        return value.end


def added(text: str, parent: Node, value: object, key: str | None = None) -> str:
    """Return the text with one more child at the end."""
    children = parent.children()
    inline = "\n" not in text[parent.start : parent.end] and bool(children)
    end, step = line_end(text), _step(text)
    outer = _indent(text, parent.start)
    indent = _indent(text, children[-1][0]) if children and not inline else outer + step
    made = json.dumps(value, indent=None if inline else step, ensure_ascii=False)
    made = made.replace("\n", end + indent)
    if key is not None:
        made = f"{json.dumps(key)}: {made}"
    inner = text[parent.start + 1 : parent.end - 1]
    kept = parent.start + 1 + len(inner.rstrip())
    # The user's comment before the bracket stays before our child.
    last = " " if inline else end + indent
    tail = text[kept : parent.end - 1] if children else end + outer
    head = text[:kept]
    if children and not parent.comma:
        head = text[: children[-1][1]] + "," + text[children[-1][1] : kept]
    return head + last + made + tail + text[parent.end - 1 :]


def removed(text: str, parent: Node, index: int) -> str:
    """Return the text without a child, its comma and the blanks before it."""
    children = parent.children()
    start, end = children[index]
    kept = len(text[:start].rstrip())
    # Blanks and comments since the child before, or since the bracket.
    since = children[index - 1][1] if index else parent.start + 1
    if index + 1 < len(children) or parent.comma:
        comma = _comma(text, end)
        return text[:since] + _joined(text, (since, kept), (end, comma), (comma + 1, len(text)))
    if index == 0:
        # The only child: the rest between the brackets is blank, or comments.
        rest = (
            (end, parent.end - 1)
            if text[since:kept] + text[end : parent.end - 1].strip()
            else (0, 0)
        )
        return text[:since] + _joined(text, (since, kept), rest, (parent.end - 1, len(text)))
    comma = _comma(text, since)
    return text[:since] + _joined(text, (since, comma), (comma + 1, kept), (end, len(text)))


def _joined(text: str, *spans: tuple[int, int]) -> str:
    """Return joined spans of a text, with a line end where a comment would swallow the next span.

    All spans but the last hold only comments and blanks.
    """
    pieces = [text[start:end] for start, end in spans if start < end]
    made = ""
    for blank, after in itertools.pairwise(pieces):
        open_ended = _ends_in_comment(blank) and not after.lstrip(" \t\r").startswith("\n")
        made += blank + (line_end(text) if open_ended else "")
    return made + pieces[-1]


def _ends_in_comment(blank: str) -> bool:
    at = 0
    while (at := blank.find("/", at)) >= 0:
        end, size = ("\n", 1) if blank.startswith("//", at) else ("*/", 2)
        at = blank.find(end, at)
        if at < 0:
            return end == "\n"
        at += size
    return False


def _comma(text: str, at: int) -> int:
    """Return the position of the comma behind a child; a comment may be in between."""
    while text[at] != ",":
        if text.startswith("//", at):
            at = text.index("\n", at)
        elif text.startswith("/*", at):
            at = text.index("*/", at) + 2
        else:
            at += 1
    return at


def _indent(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _step(text: str) -> str:
    """Return the indentation of one level: that of the first indented line, else two blanks."""
    for line in text.splitlines():
        indent = line[: len(line) - len(line.lstrip(" \t"))]
        if indent and line.strip().startswith('"'):
            return indent
    return "  "


def line_end(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"
