"""The YAML head of a seed file, read from parser events.

The events come from libyaml if PyYAML has it. This is faster than a loader, takes every scalar
as the text that the author wrote (a block may be named ``on`` or ``2026-01-01``), and sees
aliases, repeated keys and depth, which a loader hides.
"""

import re
from typing import Any, Final, TypeAlias, cast

import yaml

from constraintrot.defenses.rampart.errors import SeedError

Value: TypeAlias = "str | list[Value] | dict[str, Value]"

DEEPEST: Final = 64
"""The largest depth of nested collections; the format itself needs three."""

_LOADER: Final = cast(Any, getattr(yaml, "CSafeLoader", yaml.SafeLoader))
_OPENS: Final = re.compile(r"\ufeff?---[ \t]*\r?\n")
_CLOSES: Final = re.compile(r"^---[ \t]*\r?(?:\n|\Z)", re.MULTILINE)


class NoFrontmatterError(ValueError):
    """The text between the two ``---`` lines is not a YAML mapping."""


def span(text: str) -> tuple[int, int, int] | None:
    """Return the start and end of a head's YAML, and the start of the body.

    Returns:
        Offsets, or None if the text does not begin with a line ``---`` followed by a second one.
    """
    opened = _OPENS.match(text)
    closed = opened and _CLOSES.search(text, opened.end())
    return (opened.end(), closed.start(), closed.end()) if opened and closed else None


def parse(text: str) -> dict[str, Value]:
    """Parse a YAML mapping, with its scalars as text."""
    try:
        documents = _documents(text)
    except yaml.YAMLError as error:
        raise NoFrontmatterError(" ".join(str(error).split())) from error
    if len(documents) != 1 or not isinstance(documents[0], dict):
        raise NoFrontmatterError("it is not one mapping of names to values")
    return documents[0]


def _documents(text: str) -> list[Value]:
    documents: list[Value] = []
    # The open collections, innermost last; a mapping is a flat list until it ends.
    open_: list[list[Value]] = [documents]
    loader = _LOADER(text)
    event: Any
    try:
        # check_event would be a second call for each of thousands of events.
        while not isinstance(event := loader.get_event(), yaml.StreamEndEvent):
            kind: type[object] = event.__class__
            if kind is yaml.ScalarEvent:
                open_[-1].append(event.value)
            elif kind is yaml.MappingStartEvent or kind is yaml.SequenceStartEvent:
                _deeper(open_, event)
            elif kind is yaml.MappingEndEvent:
                flat = open_.pop()
                open_[-1].append(_mapping(flat))
            elif kind is yaml.SequenceEndEvent:
                items = open_.pop()
                open_[-1].append(items)
            elif kind is yaml.AliasEvent:
                _refuse_alias(event.anchor, text)
    finally:
        loader.dispose()
    return documents


def _deeper(open_: list[list[Value]], event: yaml.Event) -> None:
    if len(open_) > DEEPEST:
        line = event.start_mark.line + 1 if event.start_mark else "?"
        raise SeedError(f"frontmatter line {line} is more than {DEEPEST} collections deep")
    open_.append([])


def _mapping(flat: list[Value]) -> dict[str, Value]:
    made: dict[str, Value] = {}
    pairs = iter(flat)
    for key, value in zip(pairs, pairs, strict=True):
        if not isinstance(key, str):
            raise NoFrontmatterError("a key is a collection, not a name")
        if key in made:
            raise NoFrontmatterError(f"the key {key!r} is there twice")
        made[key] = value
    return made


def _refuse_alias(anchor: str, text: str) -> None:
    if f"&{anchor}" in text:
        raise SeedError(f"frontmatter uses the YAML alias *{anchor}; write the value out")
    raise NoFrontmatterError(f"it refers to *{anchor}, which is nowhere")
