"""The paths of a vault's files, and the names that they may have."""

import hashlib
import re
import unicodedata
from typing import Final, Literal, TypeAlias

from constraintrot.errors import ConstraintRotError

Kind: TypeAlias = Literal["entity", "concept", "analysis"]
SCHEMA: Final = "CLAUDE.md"
INDEX: Final = "index.md"
HOT_CACHE: Final = "hot-cache.md"
LOG: Final = "log.md"
ROOT_FILES: Final = (SCHEMA, INDEX, HOT_CACHE, LOG)
SOURCES: Final = "sources"
FOLDERS: Final[dict[Kind, str]] = {
    "entity": "entities", "concept": "concepts", "analysis": "analyses",
}  # fmt: skip
KINDS: Final[tuple[Kind, ...]] = ("entity", "concept", "analysis")
JOURNAL: Final = ".wiki/journal.json"
# With ".md" and the suffix of a file being written, below 255 bytes in UTF-8.
_LONGEST: Final = 60
_RESERVED: Final = frozenset(name.removesuffix(".md").casefold() for name in ROOT_FILES)


class WikiError(ConstraintRotError, ValueError):
    """A vault cannot be used as asked: it is missing, a file is damaged, or a name is invalid."""


def slug(title: str) -> str:
    """Return the file name of a title, without ``.md``.

    Letters of any alphabet and digits, in lower case, joined by dashes. Titles that differ only
    in case or punctuation have the same name, so they are one page.
    """
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", title).casefold())
    name = re.sub(r"[\W_]+", "-", folded).strip("-")
    if not name:
        raise WikiError(f"{title!r} makes no file name: it has no letter and no digit")
    if len(name) > _LONGEST:
        # Titles that differ after the cut stay two pages.
        name = f"{name[: _LONGEST - 9]}-{digest(name)[:8]}"
    return f"{name}-page" if name in _RESERVED else name


def page_path(kind: Kind, name: str) -> str:
    return f"{FOLDERS[kind]}/{name}.md"


def source_path(name: str) -> str:
    return f"{SOURCES}/{name}.md"


def digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def plain_text(text: str) -> str:
    """Return a text with line feeds for all line ends, and without a byte order mark.

    Editors and version control change both without a meaning.
    """
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def one_line(text: str, most: int = 0) -> str:
    """Return a text on one line, cut to ``most`` characters."""
    line = " ".join(text.split())
    return f"{line[: most - 1].rstrip()}…" if most and len(line) > most else line
