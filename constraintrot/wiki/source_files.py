"""A source's file: its text, its date, and the name that it has or gets in a vault."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date
from typing import Final

from constraintrot.wiki import log
from constraintrot.wiki.frontmatter import frontmatter
from constraintrot.wiki.names import (
    KINDS,
    SOURCES,
    WikiError,
    page_path,
    plain_text,
    slug,
    source_path,
)
from constraintrot.wiki.plan import Source
from constraintrot.wiki.stores import Store

_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def source_text(source: Source) -> str:
    """A source's file."""
    fields = {
        "title": source.title, "type": source.kind, "date": source.date, "tags": list(source.tags),
    }  # fmt: skip
    text = source.text if source.text.endswith("\n") else f"{source.text}\n"
    return f"{frontmatter(fields)}\n{text}"


def dated(source: Source, time: str) -> tuple[bool, Source]:
    """Whether a source has a date of its own, and the source as it is written."""
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
    """The name for a source, and whether it was ingested already.

    One that is written and not logged was cut off, and its journal is gone: it is no further
    source, and its pages are still to be written.
    """
    if not dated and (earlier := _earlier(store, source)):
        return earlier, True
    text, number = source_text(source), 1
    while True:
        name = slug(f"{source.date} {source.title}" + (f" {number}" if number > 1 else ""))
        there = store.read(source_path(name))
        if there == text:
            return name, log.has(store, name)
        if there is None and not any(store.exists(page_path(kind, name)) for kind in KINDS):
            return name, False
        number += 1


def _earlier(store: Store, source: Source) -> str | None:
    """The name of the same text under the same title from another day.

    Who gives no date and goes on after midnight has not got another source.
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
