"""Untrusted documents, read within bounds, and the faults in their content.

Every reader of an untrusted file or text uses this module. A file must be regular and of
a bounded size, so that a pipe or device cannot block. YAML is bounded in depth; aliases,
duplicate keys and numbers that take long to parse are refused; JSON is bounded in depth
too. ``document`` records the line of each entry, so that a fault can be shown with its
line. ``load`` reads files that came with a package.
"""

import json
import re
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import yaml
from pydantic import ValidationError

from constraintrot import files
from constraintrot.errors import ConstraintRotError, ScenarioError

# The place of an entry: keys of mappings and indices of lists, from outside in.
Place: TypeAlias = tuple[str | int, ...]

MOST_BYTES = 1_000_000
_MOST_DEPTH = 40
# YAML reads `1:1:1` as a number of base 60, in a time that grows with the square of its length.
_LONGEST_NUMBER = 400
_NUMBER = re.compile(r"[-+.\d]")
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_TEXT_KEYS = ("tag:yaml.org,2002:str", "tag:yaml.org,2002:merge")
_UNREADABLE = (OSError, yaml.YAMLError, UnicodeDecodeError, RecursionError, ValueError)


def load(path: Path, shown: str | None = None) -> Any:
    """Read a file that came with a package.

    Args:
        path: the file.
        shown: its name in an error; by default the file's name.

    Raises:
        ScenarioError: the file cannot be read, or is not YAML.
    """
    try:
        return yaml.load(path.read_text(encoding="utf-8"), Loader=_LOADER)  # safe loader
    except _UNREADABLE as error:
        raise ScenarioError(f"{shown or path.name}: not a readable YAML file: {error}") from error


def faults(error: ValidationError) -> list[tuple[Place, str]]:
    """Return the faults in a file's content, each with its place and description."""
    return [(fault["loc"], fault["msg"]) for fault in error.errors()]


def told(error: ValidationError) -> str:
    """Return the faults in a file's content as one line."""
    return "; ".join(f"{dotted(place)}: {message}" for place, message in faults(error))


def dotted(place: Sequence[str | int]) -> str:
    """Return a place as text: ``allowed.trigger.2``."""
    return ".".join(str(part) for part in place) or "file"


@dataclass(frozen=True)
class Document:
    """An untrusted file: its text, and its data as lists and mappings."""

    path: Path
    text: str
    data: Any
    _lines: Mapping[Place, int] = field(default_factory=dict[Place, int], repr=False)

    def line(self, place: Sequence[str | int]) -> int:
        """Return the line of an entry, from 1; for a missing entry, the line of its parent."""
        for end in range(len(place), -1, -1):
            if tuple(place[:end]) in self._lines:
                return self._lines[tuple(place[:end])]
        return 1


def document(path: Path, error: type[ConstraintRotError] = ScenarioError) -> Document:
    """Read an untrusted YAML file.

    Raises:
        ConstraintRotError: as ``error``; it is not a file, too large, not UTF-8, not YAML, or YAML
            that is too deep, has an alias, or has a key twice. The message has the line.
    """
    text = read_text(path, error=error)
    return Document(path, text, *_parsed(text, str(path), error))


def yaml_data(
    text: str, where: str, error: type[ConstraintRotError] = ScenarioError, *, aliases: int = 0
) -> Any:
    """Return the data of an untrusted YAML text.

    Args:
        text: the text.
        where: the beginning of an error message.
        error: the exception to raise.
        aliases: most aliases; few of them cannot make the data large.

    Raises:
        ConstraintRotError: as for ``document``.
    """
    return _parsed(text, where, error, aliases)[0]


def json_data(text: str | bytes, where: str, error: type[ConstraintRotError]) -> Any:
    """Return the data of an untrusted JSON text.

    Raises:
        ConstraintRotError: as ``error``; it is not JSON, or too deep.
    """
    try:
        return json.loads(text)
    except RecursionError:
        raise error(f"{where}: nested too deeply") from None
    except ValueError as fault:
        raise error(f"{where}: not JSON: {str(fault)[:200]}") from fault


def read_text(
    path: Path, most: int = MOST_BYTES, error: type[ConstraintRotError] = ScenarioError
) -> str:
    """Return the text of a regular file.

    Raises:
        ConstraintRotError: as ``error``; not a file, larger than ``most`` bytes, or not UTF-8.
    """
    try:
        if path.exists() and not path.is_file():
            raise error(f"{path} is a folder or a device, not a file")
        if (size := path.stat().st_size) > most:
            raise error(f"{path} has {size:,} bytes; at most {most:,} are read")
    except OSError as fault:
        raise error(f"{path}: {fault.strerror or fault}") from fault
    try:
        # Checks again, because the file may have changed since.
        data = files.contents(path, most, error, links=True)
    except error as fault:
        raise error(f"{path}: {fault}") from fault.__cause__
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        line = fault.object.count(b"\n", 0, fault.start) + 1
        raise error(f"{path}:{line}: not UTF-8; save it in that encoding") from fault


def _parsed(
    text: str, where: str, error: type[ConstraintRotError], aliases: int = 0
) -> tuple[Any, dict[Place, int]]:
    try:
        _check_events(where, text, error, aliases)
        node = yaml.compose(text, Loader=_LOADER)
        if node is None:
            return None, {}
        lines = dict(_lines(where, node, (), error))
        return _constructed(node), lines
    except yaml.MarkedYAMLError as fault:
        mark = fault.problem_mark
        place = f"{where}:{mark.line + 1}" if mark else where
        raise error(f"{place}: not YAML: {fault.problem or fault.context}") from fault
    except error:
        raise
    except (IndexError, KeyError, AttributeError) as fault:
        # PyYAML raises these for a value that does not fit its tag, as in `!!int ""`.
        raise error(f"{where}: not YAML: a value does not fit its tag") from fault
    except (yaml.YAMLError, RecursionError, ValueError) as fault:
        raise error(f"{where}: not YAML: {fault}") from fault


def _check_events(where: str, text: str, error: type[ConstraintRotError], aliases: int) -> None:
    # Before composing, which recurses, and which aliases can make grow without limit.
    depth = 0
    for event in yaml.parse(text, Loader=_LOADER):
        aliases -= isinstance(event, yaml.AliasEvent)
        if isinstance(event, yaml.AliasEvent) and aliases < 0:
            raise error(
                f"{where}:{_line(event.start_mark)}: aliases (*{event.anchor}) are not read here;"
                " write the value out"
            )
        if isinstance(event, yaml.ScalarEvent) and _long_number(event):
            raise error(
                f"{where}:{_line(event.start_mark)}: a number of more than {_LONGEST_NUMBER}"
                " characters; put a text in quotes"
            )
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if depth > _MOST_DEPTH:
            raise error(f"{where}:{_line(event.start_mark)}: nested more than {_MOST_DEPTH} deep")


def _long_number(event: Any) -> bool:
    value: str = event.value
    plain = event.implicit[0] and " " not in value
    return plain and len(value) > _LONGEST_NUMBER and _NUMBER.match(value) is not None


def _lines(
    where: str, node: yaml.Node, place: Place, error: type[ConstraintRotError]
) -> Iterator[tuple[Place, int]]:
    """Yield the place and line of each entry."""
    yield place, node.start_mark.line + 1
    if isinstance(node, yaml.SequenceNode):
        for at, item in enumerate(node.value):
            yield from _lines(where, item, (*place, at), error)
    if not isinstance(node, yaml.MappingNode):
        return
    first: dict[Hashable, int] = {}
    for key, value in node.value:
        line = key.start_mark.line + 1
        if not isinstance(key, yaml.ScalarNode):
            raise error(f"{where}:{line}: a key must be a plain text")
        # 1 and 1.0 are the same key, as are null and ~.
        made = key.value if key.tag in _TEXT_KEYS else _constructed(key)
        before = first.get(key.value) or first.get(made)
        if before is not None:
            raise error(
                f"{where}:{line}: key {key.value!r} is given twice, before on line {before}"
            )
        first[key.value] = first[made] = line
        yield from _lines(where, value, (*place, key.value), error)
        yield (*place, key.value), line  # The key's own line rather than its value's.


def _line(mark: Any) -> int:
    """Return a mark's line, from 1; the C and Python parsers have different mark classes."""
    return int(mark.line) + 1


def _constructed(node: yaml.Node) -> Any:
    loader = yaml.SafeLoader("")
    try:
        return loader.construct_document(node)
    finally:
        loader.dispose()
