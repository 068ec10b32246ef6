"""An instruction block as callers see it, and the checks of its fields.

A block is the paper's tuple (id, content, priority, source, author, removable, run,
created, accesses, embedding), section 2.1, with a name, tags and fields for a compile.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, get_args
from uuid import UUID

from constraintrot.defenses.rampart.errors import RegistryError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


# Alike in some typeface, but not in the table.
_TWINS: Final = str.maketrans("ӏьмтнвкκτχηωյʟ", "lbmthbkkuxnwjL")
_DIGITS: Final = str.maketrans("I1|0", "lllo")
_BLANKS: Final = re.compile(" {2,}")
# Printable by their category, but drawn as nothing or as a blank.
_UNSEEN: Final = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0"
    "\U00016fe4\U0001d159\U000e0100-\U000e01ef]"
)


@cache
def _table() -> dict[int, str]:
    lines = files("constraintrot.defenses.rampart").joinpath("confusables.txt")
    told = [one for one in lines.read_text(encoding="utf-8").splitlines() if one[:2] != "# "]
    return {ord(twin): line[0] for line in told for twin in line[1:] if not twin.isascii()}


def unseen(name: str) -> bool:
    return _UNSEEN.search(name) is not None


def look_key(name: str) -> str:
    """Return a key that is the same for names that look the same.

    It is the skeleton of Unicode Technical Standard 39 (``confusables.txt``) and also folds small
    letters that look like other alphabets' capitals, digits for letters, and unseen marks.
    """
    text = unicodedata.normalize("NFKC", name)
    if not text.isascii():
        text = _bare(text).translate(_TWINS).translate(_table())
    text = _BLANKS.sub(" ", text).translate(_DIGITS).casefold()
    return text.replace("rn", "m").replace("vv", "w")


def _bare(text: str) -> str:
    """Return a text with no marks on its Latin, Greek and Cyrillic letters."""
    kept: list[str] = []
    for letter in unicodedata.normalize("NFD", text):
        # A mark at the start of a name belongs to no letter.
        bare = not kept or ord(kept[-1]) < 0x530
        if not (bare and unicodedata.category(letter) == "Mn"):
            kept.append(letter)
    return "".join(kept)


Source: TypeAlias = Literal["seed", "agent", "orchestrator"]
Counter: TypeAlias = Callable[[str], int]

SOURCES: Final[tuple[Source, ...]] = get_args(Source)
LONGEST_NAME: Final = 200
# A subclass may have a property of that name.
_INT: Final = UUID.__dict__["int"].__get__


# Without slots, a view can be made of its fields at once; a search makes several.
@dataclass(frozen=True)
class Block:
    """A view of a block at one moment; the registry keeps its own record.

    Attributes:
        id: address of the block, fresh at every write, load and restore.
        name: unique within a registry.
        content: the instruction, verbatim.
        priority: 0 to 100; the default eviction scorer reads it, position does not.
        source: its origin as the writer stated it.
        author: the id of the ``Principal`` that wrote it, proven at the call.
        removable: whether others who may write may remove it.
        run: the run that a rollback takes back.
        created: seconds since the epoch.
        accesses: compiles that it was part of.
        last_access: number of the last such compile, from 1; None before any.
        idle: compiles since then, or since it was written.
        embedding: unit length, float32, read-only, shape (d,); None until needed.
        tags: free words.
        pinned: whether it is in the pinned tier.
        tokens: tokens of its frame, by the registry's counter.
        digest: SHA-256 of the content's UTF-8 bytes, hex.
    """

    id: UUID
    name: str
    content: str
    priority: int
    source: Source
    author: UUID
    removable: bool
    run: str | None
    created: float
    accesses: int
    last_access: int | None
    idle: int
    embedding: NDArray[np.float32] | None = field(compare=False, repr=False)
    tags: tuple[str, ...]
    pinned: bool
    tokens: int
    digest: str


def checked_content(content: object, *, pinned: bool) -> str:
    """Return the content as a plain string."""
    plain = _text("content", content)
    if pinned and not plain.strip():
        raise RegistryError("a pin's content is empty; a pin holds a text that must stay")
    return plain


def checked_name(name: object) -> str:
    """Return a name of one printable line."""
    plain = _text("name", name)
    if not plain.isprintable() or plain != plain.strip() or not 0 < len(plain) <= LONGEST_NAME:
        raise RegistryError(
            f"block name {plain[:60]!r}: a name is 1 to {LONGEST_NAME} printable characters "
            "on one line, without blanks at its ends"
        )
    if unseen(plain):
        raise RegistryError(
            f"block name {plain[:60]!a} holds a letter that nobody sees; leave it out"
        )
    return plain


def name_key(name: str) -> str:
    """Return the key of a name, the same for names that differ in case, width or composition."""
    return unicodedata.normalize("NFKC", name).casefold()


def checked_int(what: str, value: object, *, least: int = 0, most: int | None = None) -> int:
    """Return a whole number in a range; a bool is refused, though it is an int in Python."""
    if type(value) is not int or value < least or (most is not None and value > most):
        upper = "" if most is None else f" to {most}"
        raise RegistryError(
            f"{what} is a whole number, {least}{upper or ' or more'}; got {value!r}"
        )
    return value


def checked_source(source: object) -> Source:
    plain = _text("source", source)
    for known in SOURCES:
        if plain == known:
            return known
    raise RegistryError(f"source is one of {', '.join(SOURCES)}; got {plain[:60]!r}")


def plain_id(what: str, value: object) -> UUID:
    """Return an id as a plain ``UUID``: a subclass could compare and hash as it likes."""
    if type(value) is UUID:
        return value
    number = _INT(value) if isinstance(value, UUID) else None
    if type(number) is not int:
        raise RegistryError(f"{what} by its UUID, not by {type(value).__name__}")
    return UUID(int=number)


def checked_tags(tags: Iterable[str]) -> tuple[str, ...]:
    if isinstance(tags, str):
        raise RegistryError(f"tags is a sequence of strings, not the one string {tags!r}")
    return tuple(_text("tag", tag) for tag in tags)


def checked_run(run: object) -> str | None:
    return None if run is None else _text("run", run)


def _text(what: str, value: object) -> str:
    if not isinstance(value, str):
        raise RegistryError(f"{what} is a string; got {type(value).__name__}")
    plain = str.__str__(value)  # a subclass could answer differently each time
    try:
        plain.encode()
    except UnicodeEncodeError as error:
        raise RegistryError(
            f"{what} holds a lone surrogate at {error.start}, which is no text; "
            "decode its source with errors='replace'"
        ) from error
    return plain
