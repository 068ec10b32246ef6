"""YAML files of this package and of its users, and the faults in what they hold.

``load`` reads files that came with a package. ``document`` reads what somebody
hands us: it bounds size and depth, refuses aliases and keys given twice, and
remembers the line of each entry, so that a fault can be shown where it is.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import yaml
from pydantic import ValidationError

from constraintrot.errors import ScenarioError

# The places of an entry: keys of mappings and indices of lists, from outside in.
Place: TypeAlias = tuple[str | int, ...]

MOST_BYTES = 1_000_000
_MOST_DEPTH = 40
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_UNREADABLE = (OSError, yaml.YAMLError, UnicodeDecodeError, RecursionError, ValueError)


def load(path: Path, shown: str | None = None) -> Any:
    """Read a file that came with a package.

    Args:
        path: the file.
        shown: how an error names it; its name without.

    Raises:
        ScenarioError: it cannot be read, or is no YAML.
    """
    try:
        return yaml.load(path.read_text(encoding="utf-8"), Loader=_LOADER)  # safe loader
    except _UNREADABLE as error:
        raise ScenarioError(f"{shown or path.name}: not a readable YAML file: {error}") from error


def faults(error: ValidationError) -> list[tuple[Place, str]]:
    """A fault in a file's contents: its place and its description."""
    return [(fault["loc"], fault["msg"]) for fault in error.errors()]


def told(error: ValidationError) -> str:
    """The same as one line."""
    return "; ".join(f"{dotted(place)}: {message}" for place, message in faults(error))


def dotted(place: Sequence[str | int]) -> str:
    """A place as it is shown: ``allowed.trigger.2``."""
    return ".".join(str(part) for part in place) or "file"


@dataclass(frozen=True)
class Document:
    """A file that somebody handed us.

    Attributes:
        path: where it is.
        text: what it holds, as it is written.
        data: the same as lists and mappings.
    """

    path: Path
    text: str
    data: Any
    _lines: Mapping[Place, int] = field(default_factory=dict[Place, int], repr=False)

    def line(self, place: Sequence[str | int]) -> int:
        """The line of an entry, from 1; of what is not there, that of what it would be in."""
        for end in range(len(place), -1, -1):
            if tuple(place[:end]) in self._lines:
                return self._lines[tuple(place[:end])]
        return 1


def document(path: Path) -> Document:
    """Read a file that somebody hands us.

    Raises:
        ScenarioError: it is no file, too large, not UTF-8, not YAML, or YAML that is
            too deep, holds an alias, or has a key twice. The message has the line.
    """
    text = read_text(path)
    try:
        _check_events(path, text)
        node = yaml.compose(text, Loader=_LOADER)
        if node is None:
            return Document(path, text, None)
        lines = dict(_lines(path, node, ()))
        return Document(path, text, _constructed(node), lines)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = f"{path}:{mark.line + 1}" if mark else str(path)
        raise ScenarioError(f"{where}: not YAML: {error.problem or error.context}") from error
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        if isinstance(error, ScenarioError):
            raise
        raise ScenarioError(f"{path}: not YAML: {error}") from error


def read_text(path: Path, most: int = MOST_BYTES) -> str:
    """A file's text.

    Raises:
        ScenarioError: it is no file, larger than that many bytes, or not UTF-8.
    """
    try:
        if path.exists() and not path.is_file():
            raise ScenarioError(f"{path} is a folder or a device, not a file")
        if (size := path.stat().st_size) > most:
            raise ScenarioError(f"{path} has {size:,} bytes; at most {most:,} are read")
        return path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise ScenarioError(f"{path}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise ScenarioError(f"{path}:{line}: not UTF-8; save it in that encoding") from error


def _check_events(path: Path, text: str) -> None:
    # Before anything is composed, which recurses, and which an alias can make grow without end.
    depth = 0
    for event in yaml.parse(text, Loader=_LOADER):
        if isinstance(event, yaml.AliasEvent):
            raise ScenarioError(
                f"{path}:{_line(event.start_mark)}: aliases (*{event.anchor}) are not read here;"
                " write the value out"
            )
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if depth > _MOST_DEPTH:
            raise ScenarioError(
                f"{path}:{_line(event.start_mark)}: nested more than {_MOST_DEPTH} deep"
            )


def _lines(path: Path, node: yaml.Node, place: Place) -> Iterator[tuple[Place, int]]:
    """The line of each entry."""
    yield place, node.start_mark.line + 1
    if isinstance(node, yaml.SequenceNode):
        for at, item in enumerate(node.value):
            yield from _lines(path, item, (*place, at))
    if not isinstance(node, yaml.MappingNode):
        return
    first: dict[Hashable, int] = {}
    for key, value in node.value:
        line = key.start_mark.line + 1
        if not isinstance(key, yaml.ScalarNode):
            raise ScenarioError(f"{path}:{line}: a key must be a plain text")
        if key.value in first:
            raise ScenarioError(
                f"{path}:{line}: key {key.value!r} is given twice, before on line {first[key.value]}"
            )
        first[key.value] = line
        yield from _lines(path, value, (*place, key.value))
        yield (*place, key.value), line  # The key's own line rather than its value's.


def _line(mark: Any) -> int:
    """A mark's line, from 1; the parser in C and that in Python have marks of their own."""
    return int(mark.line) + 1


def _constructed(node: yaml.Node) -> Any:
    loader = yaml.SafeLoader("")
    try:
        return loader.construct_document(node)
    finally:
        loader.dispose()
