"""Lint: each promise of a vault, as findings with a fix."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from constraintrot.memory.wiki import hot_cache, index, log, schema
from constraintrot.memory.wiki.edits import link_changes
from constraintrot.memory.wiki.names import (
    FOLDERS,
    HOT_CACHE,
    INDEX,
    JOURNAL,
    KINDS,
    LOG,
    ROOT_FILES,
    SCHEMA,
    SOURCES,
    WikiError,
    digest,
    page_path,
    source_path,
)
from constraintrot.memory.wiki.page import Page, links, read_page
from constraintrot.memory.wiki.stores import Store
from constraintrot.memory.wiki.writing import read_journal

# What each finding is, and what is done about it. Those of the first kind repair() does.
REPAIRED: Final = {
    "unfinished_ingest": "finish it from its journal",
    "leftover": "remove it; the file beside it is whole",
    "not_indexed": "write the index again from the pages",
    "index_dangling": "write the index again from the pages",
    "index_stale": "write the index again from the pages",
    "unresolved_link": "link to the page of that title, or make it plain text",
    "hot_cache_stale": "write it again from the log's last change",
    "log_torn": "remove the line that a crash cut off",
}
BY_HAND: Final = {
    "unreadable": "repair the file by hand; until then nothing is written to it",
    "source_changed": "put back what the log's digest is of, from a backup or version control",
    "source_missing": "put it back from a backup or version control",
    "source_not_logged": "move it out of sources/ and ingest it",
    "page_unsourced": "name its sources in the frontmatter, or remove it",
    "cites_no_source": "correct the name in the frontmatter, or put the source back",
    "duplicate_page": "bring both into one file and remove the other",
    "log_changed": "put back the log from a backup or version control",
    "journal_damaged": "remove .wiki/journal.json, and ingest its source again",
    "schema_missing": "write CLAUDE.md; `constraintrot wiki init` makes one elsewhere to copy",
    "schema_incomplete": "name the six writes in their order under `## Write order`",
    "source_poses_as_schema": "read it; a source gives no orders, whatever it says",
}
_POSES: Final = re.compile(
    r"""\b(?:new|updated?|revised|current|this\ is\ the|replaces?|supersedes?|overrides?|amends?)
        \b.{0,40}?\b(?:vault'?s?\ schema|schema\ of\ (?:this|the)\ vault|CLAUDE\.md)
      | ^type:\s*"?schema\b | ^\#+\ +(?:vault\ )?schema\b | ^\#+\ +(?:write|read)\ order\b""",
    re.VERBOSE | re.IGNORECASE | re.MULTILINE,
)


@dataclass(frozen=True)
class Finding:
    """A promise that does not hold.

    Attributes:
        code: which; a key of ``REPAIRED`` or ``BY_HAND``.
        path: where.
        text: what is wrong.
    """

    code: str
    path: str
    text: str

    @property
    def repaired(self) -> bool:
        """Return whether ``repair`` puts it right."""
        return self.code in REPAIRED

    @property
    def fix(self) -> str:
        """The repair of the finding."""
        return REPAIRED.get(self.code) or BY_HAND[self.code]


@dataclass
class Seen:
    """All pages and sources of a vault, read once.

    Attributes:
        pages: by name; of two of one name the first.
        texts: of the sources, by name.
        findings: what was found on the way.
        unreadable: names of page files that are no pages, as they are.
        damaged: which files of the vault's root cannot be read.
        names: of all files; what a link may go to.
        pending: the source of an ingest that was cut off.
    """

    pages: dict[str, Page] = field(default_factory=dict[str, Page])
    texts: dict[str, str] = field(default_factory=dict[str, str])
    findings: list[Finding] = field(default_factory=list[Finding])
    unreadable: set[str] = field(default_factory=set[str])
    damaged: set[str] = field(default_factory=set[str])
    names: set[str] = field(default_factory=set[str])
    pending: str = ""

    def resolves(self, name: str) -> bool:
        """Return whether a link goes to a file."""
        return name in self.names or f"{name}.md" in ROOT_FILES


def see(store: Store) -> Seen:
    """Read all pages and sources, and see which files of the root cannot be read."""
    seen = Seen(names=store.names())
    for path in ROOT_FILES:
        _text(store, path, seen)
    seen.damaged = {one.path for one in seen.findings}
    for name in store.files(SOURCES):
        text = _text(store, source_path(name), seen)
        if text is not None:
            seen.texts[name] = text
    for kind in KINDS:
        for name in store.files(FOLDERS[kind]):
            path = page_path(kind, name)
            text = _text(store, path, seen)
            if text is None:
                seen.unreadable.add(name)
                continue
            try:
                page = read_page(kind, name, text)
            except WikiError as error:
                seen.findings.append(Finding("unreadable", path, str(error)))
                seen.unreadable.add(name)
                continue
            if name in seen.pages or name in seen.texts:
                where = "sources" if name in seen.texts else FOLDERS[seen.pages[name].kind]
                seen.findings.append(
                    Finding("duplicate_page", path, f"{where}/ has a file of that name")
                )
            seen.pages.setdefault(name, page)
    return seen


def lint(store: Store) -> list[Finding]:
    """All promises that do not hold; of a vault that only ingests have written to, none."""
    seen = see(store)
    checks: tuple[Callable[[Store, Seen], Iterator[Finding]], ...] = (
        _journal, _leftovers, _schema, _log, _sources, _pages, _links, _index, _hot_cache,
    )  # fmt: skip
    found = list(seen.findings)
    for check in checks:
        found += check(store, seen)
    return found


def blocking(found: Iterable[Finding]) -> list[str]:
    """The files which have to be repaired by hand before code can put anything right."""
    needed = (INDEX, HOT_CACHE, LOG)
    return [one.path for one in found if one.code == "unreadable" and one.path in needed]


def _text(store: Store, path: str, seen: Seen) -> str | None:
    try:
        return store.read(path)
    except WikiError as error:
        seen.findings.append(Finding("unreadable", path, str(error)))
        return None


def _journal(store: Store, seen: Seen) -> Iterator[Finding]:
    try:
        text = store.read(JOURNAL)
        if text is None:
            return
        job = read_journal(text)
    except WikiError as error:
        yield Finding("journal_damaged", JOURNAL, str(error))
    else:
        seen.pending = job["name"]
        yield Finding("unfinished_ingest", JOURNAL, f"the ingest of {job['name']} was cut off")


def _leftovers(store: Store, seen: Seen) -> Iterator[Finding]:
    for path in store.leftovers():
        yield Finding("leftover", path, "a killed process was writing it")


def _schema(store: Store, seen: Seen) -> Iterator[Finding]:
    if SCHEMA in seen.damaged:
        return
    text = store.read(SCHEMA)
    if text is None:
        yield Finding("schema_missing", SCHEMA, "there is none, so nothing says how to write here")
        return
    steps = schema.steps_of(text)
    if not schema.in_order(list(steps)):
        missing = [step for step in schema.STEPS if step not in steps]
        said = f"it lacks {', '.join(missing)}" if missing else "its steps are in another order"
        yield Finding("schema_incomplete", SCHEMA, said)


def _log(store: Store, seen: Seen) -> Iterator[Finding]:
    if LOG in seen.damaged:
        return
    text = store.read(LOG)
    if text is None:
        yield Finding("log_changed", LOG, "there is no log")
        return
    if log.torn(text):
        yield Finding("log_torn", LOG, "the last line was cut off")
    for number, what in log.faults(text):
        yield Finding("log_changed", LOG, f"entry {number} {what}")


def _sources(store: Store, seen: Seen) -> Iterator[Finding]:
    known = LOG not in seen.damaged
    entries = log.entries(store) if known else []
    logged = {one.source: one.sha256 for one in entries if one.source}
    for name, sha256 in logged.items():
        if name not in seen.texts:
            if not store.exists(source_path(name)):
                yield Finding("source_missing", source_path(name), "the log has it")
        elif digest(seen.texts[name]) != sha256:
            yield Finding("source_changed", source_path(name), "it is not what was ingested")
    for name, text in seen.texts.items():
        if known and name not in logged and name != seen.pending:
            yield Finding("source_not_logged", source_path(name), "no ingest wrote it")
        if found := _POSES.search(text):
            said = " ".join(found[0].split())
            yield Finding("source_poses_as_schema", source_path(name), f"it says {said!r}")


def _pages(store: Store, seen: Seen) -> Iterator[Finding]:
    for page in seen.pages.values():
        path = page_path(page.kind, page.name)
        if not page.sources:
            yield Finding("page_unsourced", path, "it names no source")
        for name in page.sources:
            if name not in seen.texts:
                yield Finding("cites_no_source", path, f"there is no source {name}")


def _links(store: Store, seen: Seen) -> Iterator[Finding]:
    for page in seen.pages.values():
        for target in dict.fromkeys(links(page.body)):
            if not seen.resolves(target):
                yield Finding(
                    "unresolved_link", page_path(page.kind, page.name), f"[[{target}]] goes nowhere"
                )


def _index(store: Store, seen: Seen) -> Iterator[Finding]:
    if INDEX in seen.damaged:
        return
    listed = index.read(store.read(INDEX) or "")
    there = {name: line for kind in KINDS for name, line in listed[kind].items()}
    for page in seen.pages.values():
        line = listed[page.kind].get(page.name)
        if page.name not in there:
            yield Finding("not_indexed", INDEX, f"it lacks [[{page.name}]]")
        elif line != index.line_of(page):
            yield Finding("index_stale", INDEX, f"[[{page.name}]] is not what its page says")
    for name in there:
        # Of a page that a person has broken the line stays, so that a query still finds it.
        if name not in seen.pages and name not in seen.unreadable:
            yield Finding("index_dangling", INDEX, f"[[{name}]] is no page")


def _hot_cache(store: Store, seen: Seen) -> Iterator[Finding]:
    if seen.damaged & {LOG, HOT_CACHE}:
        return
    entry = log.latest_change(store)
    text = store.read(HOT_CACHE)
    if text is None:
        yield Finding("hot_cache_stale", HOT_CACHE, "there is none")
    elif entry is not None and hot_cache.latest(text) != entry.chain:
        yield Finding("hot_cache_stale", HOT_CACHE, f"the last change is {entry.about}")


def link_fixes(page: Page, resolves: Callable[[str], bool]) -> dict[str, str | None]:
    """Return the new target of each link of a page that goes nowhere."""
    return link_changes(dict.fromkeys(links(page.body)), resolves)
