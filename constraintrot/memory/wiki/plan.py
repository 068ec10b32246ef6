"""Sources to ingest, and plans of the pages to write from them.

A model writes a plan, or plain code does (``by_code``)::

    {"pages": [{"kind": "entity", "title": "Acme", "summary": "A supplier of badges.",
                "add": ["Delivers on Mondays."], "links": ["badge-rules"]},
               {"kind": "concept", "title": "Badge rules", "section": "Facts",
                "rewrite": "the whole section anew"}],
     "analysis": {"title": "...", "summary": "...", "add": ["..."]}}

A model's fault raises nothing: unreadable parts are listed, and the rest is used.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import date
from typing import Any, Final

from constraintrot.memory.playbook.delta import json_values
from constraintrot.memory.wiki import log
from constraintrot.memory.wiki.frontmatter import frontmatter
from constraintrot.memory.wiki.index import terms
from constraintrot.memory.wiki.names import (
    KINDS,
    SOURCES,
    Kind,
    WikiError,
    one_line,
    plain_text,
    slug,
    source_path,
)
from constraintrot.memory.wiki.stores import Store, kind_of

FACTS: Final = "Facts"
MOST_EDITS: Final = 60
"""The most pages that are read from one plan."""
_MOST_FACTS: Final = 40
# The beginning of a source in which ``by_code`` looks for titles of pages.
_MOST_WORDS: Final = 500
_SENTENCE: Final = re.compile(r"[^.!?。！？\n]+(?:[.!?]+(?=\s|$)|[。！？]+)?")


@dataclass(frozen=True)
class Source:
    """A raw document."""

    title: str
    text: str  # the text, word for word
    kind: str = "note"  # the kind, such as note, mail or transcript
    date: str = ""  # ISO 8601; empty for the day of the ingest
    tags: tuple[str, ...] = ()  # tags that a person gave


@dataclass(frozen=True)
class Edit:
    """An edit of a page; a missing page is created."""

    kind: Kind
    title: str  # the page's title; two titles that make one file name are one page
    summary: str = ""  # one line; empty leaves it as it is
    add: tuple[str, ...] = ()  # facts; each becomes a line that cites the source
    section: str = FACTS
    rewrite: str | None = None  # the section's new text, in place of the old one; None to leave it
    # Digest of the text that a rewrite is based on (``Section.digest``). Without it, or if the
    # section has changed since, both texts are kept.
    base: str | None = None
    links: tuple[str, ...] = ()  # titles or names of related pages


@dataclass(frozen=True)
class Plan:
    """The pages that an ingest writes besides its source."""

    edits: tuple[Edit, ...] = ()  # edits of entity and concept pages
    analysis: Edit | None = None  # a page of its own for conclusions, if there are any
    unreadable: tuple[str, ...] = ()  # parts of a model's answer that could not be read

    def plain(self) -> dict[str, Any]:
        return {
            "pages": [asdict(one) for one in self.edits],
            "analysis": asdict(self.analysis) if self.analysis else None,
        }


def read_plan(text: str) -> Plan:
    for value in json_values(text):
        if isinstance(value, dict) and ({"pages", "analysis"} & value.keys()):
            return from_plain(value)
    return Plan(unreadable=(f"no plan: {one_line(text, 120)!r}",))


def from_plain(value: Mapping[str, Any]) -> Plan:
    faults: list[str] = []
    listed = value.get("pages") or []
    if not isinstance(listed, list):
        faults.append("pages are no list")
        listed = []
    if len(listed) > MOST_EDITS:
        faults.append(f"{len(listed) - MOST_EDITS} pages over the {MOST_EDITS} that are read")
    edits = [_edit(one, faults) for one in listed[:MOST_EDITS]]
    analysis = value.get("analysis")
    made = _edit(analysis | {"kind": "analysis"}, faults) if isinstance(analysis, dict) else None
    return Plan(tuple(one for one in edits if one), made, tuple(faults))


def _edit(value: Any, faults: list[str]) -> Edit | None:
    fields = value if isinstance(value, dict) else {}
    title, kind = fields.get("title"), fields.get("kind", "concept")
    if not isinstance(title, str) or kind not in KINDS:
        faults.append(f"no page: {one_line(str(value), 120)}")
        return None
    try:
        slug(title)
    except WikiError as error:
        faults.append(str(error))
        return None
    rewrite, base = fields.get("rewrite"), fields.get("base")
    return Edit(
        kind, one_line(title), _text(fields.get("summary")), _texts(fields.get("add")),
        _text(fields.get("section")) or FACTS, rewrite if isinstance(rewrite, str) else None,
        base if isinstance(base, str) else None, _texts(fields.get("links")),
    )  # fmt: skip


def _text(value: Any) -> str:
    return one_line(value) if isinstance(value, str) else ""


def _texts(value: Any) -> tuple[str, ...]:
    listed = value if isinstance(value, list | tuple) else ()
    return tuple(filter(None, map(_text, listed[:_MOST_FACTS])))


def by_code(source: Source, known: Callable[[str], bool]) -> Plan:
    """Return a plan without a model: a concept page of the source's title and first sentences.

    It makes a source findable and links to existing pages; it draws no conclusions.
    """
    said = [one_line(found[0]) for found in _SENTENCE.finditer(source.text)]
    said = [one for one in said if terms(one)]
    edit = Edit(
        "concept", source.title, said[0] if said else "", tuple(said[:3]),
        links=tuple(_mentioned(source, known)),
    )  # fmt: skip
    return Plan((edit,))


def _mentioned(source: Source, known: Callable[[str], bool]) -> list[str]:
    words = re.findall(r"[^\W_]+", f"{source.title} {source.text}".casefold())[:_MOST_WORDS]
    own = slug(source.title)
    names = dict.fromkeys(
        "-".join(words[at : at + length]) for length in (3, 2, 1) for at in range(len(words))
    )
    return [name for name in names if len(name) > 3 and name != own and known(name)][:10]


_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def source_text(source: Source) -> str:
    fields = {
        "title": source.title, "type": source.kind, "date": source.date, "tags": list(source.tags),
    }  # fmt: skip
    text = source.text if source.text.endswith("\n") else f"{source.text}\n"
    return f"{frontmatter(fields)}\n{text}"


def dated(source: Source, time: str) -> tuple[bool, Source]:
    """Return whether a source has its own date, and the source as it is written."""
    day = source.date or time[:10]
    if not _is_date(day):
        raise WikiError(f"the date of a source is a day as YYYY-MM-DD, not {day!r}")
    clean = plain_text(source.text.encode("utf-8", "replace").decode())
    return bool(source.date), replace(source, date=day, text=clean)


def _is_date(text: str) -> bool:
    try:
        # The pattern, since other forms of ISO 8601 would sort differently as file names.
        return _DATE.fullmatch(text) is not None and bool(date.fromisoformat(text))
    except ValueError:
        return False


def name_of(store: Store, source: Source, dated: bool) -> tuple[str, bool]:
    """Return the name for a source, and whether it was already ingested.

    A source that is written but not logged was cut off, and its journal is gone. It keeps its
    name, and its pages are still to be written.
    """
    if not dated and (earlier := _earlier(store, source)):
        return earlier, True
    text, number = source_text(source), 1
    while True:
        name = slug(f"{source.date} {source.title}" + (f" {number}" if number > 1 else ""))
        there = store.read(source_path(name))
        if there == text:
            return name, log.has(store, name)
        if there is None and kind_of(store, name) is None:
            return name, False
        number += 1


def _earlier(store: Store, source: Source) -> str | None:
    """Return the name of a source with the same text and title from another day.

    So a run without a date that continues after midnight ingests no source twice.
    """
    name = slug(f"{source.date} {source.title}")
    # A name that was too long ends in a digest, which another date changes.
    title = rf"(?:{re.escape(name[10:])}|{re.escape(name[10:-9])}-[0-9a-f]{{8}})(?:-\d+)?"
    for known in store.files(SOURCES):
        if re.fullmatch(rf"{_DATE.pattern}{title}", known):
            same = source_text(replace(source, date=known[:10]))
            if store.read(source_path(known)) == same and log.has(store, known):
                return known
    return None
