"""Seeds, and their parsers by file extension (section 2.2)."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from constraintrot.defenses.rampart.block import (
    checked_content,
    checked_int,
    checked_name,
    checked_tags,
)
from constraintrot.defenses.rampart.errors import RegistryError, SeedError

DEFAULT_PRIORITY: Final = 50


@dataclass(frozen=True, slots=True)
class Seed:
    """A block of a seed file.

    Attributes:
        name: one printable line.
        content: the instruction, verbatim and not blank.
        priority: 0 to 100.
        tags: free words.
        origin: the file's name as given; empty without a file.

    Raises:
        SeedError: a field has a wrong value.
    """

    name: str
    content: str
    priority: int = DEFAULT_PRIORITY
    tags: tuple[str, ...] = ()
    origin: str = ""

    def __post_init__(self) -> None:
        try:
            checked_name(self.name)
            checked_int("priority", self.priority, most=100)
            object.__setattr__(self, "tags", checked_tags(self.tags))
            blank = not checked_content(self.content, pinned=False).strip()
        except RegistryError as error:
            raise SeedError(str(error)) from error
        if blank:
            raise SeedError(f"block {self.name!r} has no text")


Parser: TypeAlias = Callable[[str, str], Sequence[Seed]]
"""Called with the text of a file and its stem."""


class Parsers:
    """The parsers by file extension."""

    def __init__(self) -> None:
        self._parsers: dict[str, Parser] = {}

    def add(self, extension: str, parser: Parser) -> None:
        """Register a parser, before the files are read.

        Args:
            extension: with its dot, as ``.toml``; case does not matter.
            parser: from the text and the stem of a file to its seeds.

        Raises:
            SeedError: the extension is invalid or taken.
        """
        key = extension.lower()
        if not re.fullmatch(r"\.[^./\\\s]+", key):
            raise SeedError(f"{extension!r} is no file extension; give one as '.toml'")
        if key in self._parsers:
            raise SeedError(f"a parser of {key} files is registered already")
        self._parsers[key] = parser

    def get(self, extension: str) -> Parser:
        try:
            return self._parsers[extension.lower()]
        except KeyError:
            raise SeedError(
                f"no parser of {extension or 'extensionless'} files; known: "
                f"{', '.join(sorted(self._parsers))}; PARSERS.add registers another"
            ) from None
