"""The hot cache: what the last change was, for a start that knows something; never an answer."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from constraintrot.memory.wiki.frontmatter import frontmatter, split
from constraintrot.memory.wiki.index import Line, line_of
from constraintrot.memory.wiki.log import Entry
from constraintrot.memory.wiki.names import WikiError
from constraintrot.memory.wiki.page import Page, links

MOST_PAGES: Final = 12
_HEAD: Final = (
    "# Hot cache\n\nWhat changed last. It is a guide: go on to [[index]] also where this seems"
    " enough.\n"
)


def render(entry: Entry, pages: Iterable[Page], before: str = "") -> str:
    """The hot cache after a change.

    Args:
        entry: the change, as the log has it.
        pages: those that were changed.
        before: the hot cache until now, whose pages follow as far as there is room.
    """
    lines = {page.name: line_of(page).line for page in pages}
    for line in before.split("\n"):
        name = next(links(line), "") if line.startswith("- [[") else ""
        if name and name not in lines:
            lines[name] = line
    listed = "".join(f"{line}\n" for line in list(lines.values())[:MOST_PAGES])
    latest = f"\nLatest: {entry.operation} of {entry.about}, {entry.time}\n\n"
    return frontmatter({"latest": entry.chain}) + _HEAD + latest + listed


def latest(text: str) -> str:
    """Return the chain of the log's entry that a hot cache is of; empty if it names none."""
    try:
        return str(split(text)[0].get("latest", ""))
    except WikiError:
        return ""


def lines(text: str) -> list[Line]:
    """The pages that it names, with what it says of them."""
    found = (line for line in text.split("\n") if line.startswith("- [["))
    return [
        Line(name, line.partition("]]")[2].strip()) for line in found for name in [*links(line)][:1]
    ]
