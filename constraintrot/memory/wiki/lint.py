"""Lint and repair: broken promises of a vault as findings, and the fixes that need no judgement."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Final

from constraintrot.memory.wiki import index, log, schema
from constraintrot.memory.wiki.edits import link_changes
from constraintrot.memory.wiki.graph import Finding, Seen, see
from constraintrot.memory.wiki.log import Entry
from constraintrot.memory.wiki.names import (
    HOT_CACHE,
    INDEX,
    JOURNAL,
    KINDS,
    LOG,
    SCHEMA,
    WikiError,
    digest,
    source_path,
)
from constraintrot.memory.wiki.page import Page, links, relinked
from constraintrot.memory.wiki.stores import Store
from constraintrot.memory.wiki.writing import finished, now, read_journal

_POSES: Final = re.compile(
    r"""\b(?:new|updated?|revised|current|this\ is\ the|replaces?|supersedes?|overrides?|amends?)
        \b.{0,40}?\b(?:vault'?s?\ schema|schema\ of\ (?:this|the)\ vault|CLAUDE\.md)
      | ^type:\s*"?schema\b | ^\#+\ +(?:vault\ )?schema\b | ^\#+\ +(?:write|read)\ order\b""",
    re.VERBOSE | re.IGNORECASE | re.MULTILINE,
)


def lint(store: Store) -> list[Finding]:
    """Return the broken promises of a vault; a vault that only ingests have written to has none."""
    seen = see(store)
    checks: tuple[Callable[[Store, Seen], Iterator[Finding]], ...] = (
        _journal, _leftovers, _schema, _log, _sources, _pages, _links, _index, _hot_cache,
    )  # fmt: skip
    found = list(seen.findings)
    for check in checks:
        found += check(store, seen)
    return found


def blocking(found: Iterable[Finding]) -> list[str]:
    """Return the files that must be repaired by hand before ``repair`` can do anything."""
    needed = (INDEX, HOT_CACHE, LOG)
    return [one.path for one in found if one.code == "unreadable" and one.path in needed]


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
    # The paper's order.
    if tuple(steps) != schema.STEPS:
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
        if not page.sources:
            yield Finding("page_unsourced", page.path, "it names no source")
        for name in page.sources:
            if name not in seen.texts:
                yield Finding("cites_no_source", page.path, f"there is no source {name}")


def _links(store: Store, seen: Seen) -> Iterator[Finding]:
    for page in seen.pages.values():
        for target in dict.fromkeys(links(page.body)):
            if not seen.resolves(target):
                yield Finding("unresolved_link", page.path, f"[[{target}]] goes nowhere")


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
        # The line of a page that a person broke stays, so that a query still finds it.
        if name not in seen.pages and name not in seen.unreadable:
            yield Finding("index_dangling", INDEX, f"[[{name}]] is no page")


def _hot_cache(store: Store, seen: Seen) -> Iterator[Finding]:
    if seen.damaged & {LOG, HOT_CACHE}:
        return
    entry = log.latest_change(store)
    text = store.read(HOT_CACHE)
    if text is None:
        yield Finding("hot_cache_stale", HOT_CACHE, "there is none")
    elif entry is not None and index.hot_latest(text) != entry.chain:
        yield Finding("hot_cache_stale", HOT_CACHE, f"the last change is {entry.about}")


def repair(store: Store, *, time: str = "") -> list[Finding]:
    """Fix what code can fix, and return the findings that are fixed.

    It finishes a cut-off ingest, rewrites index and hot cache from pages and log, and turns
    unresolved links into plain text. Changes are logged. Sources and the schema are never changed.
    A finding's text lists the refusals of a cut-off ingest. Nothing is done if index, log or hot
    cache cannot be read, because every change is recorded there. The time is in UTC.
    """
    with store.locked():
        before = lint(store)
        if blocking(before):
            return []
        log.cut_torn(store)
        told = finished(store)
        for path in store.leftovers():
            store.remove(path)
        _rewrite(store, time or now())
        # These could not be repaired.
        left = {*lint(store)}
    fixed = [one for one in before if one.repaired and one not in left]
    return [
        replace(one, text="; ".join((one.text, *told))) if one.code == "unfinished_ingest" else one
        for one in fixed
    ]


def _rewrite(store: Store, time: str) -> None:
    seen = see(store)
    changed = _mend_links(store, seen)
    listed = index.read(store.read(INDEX) or "")
    unreadable = seen.unreadable - seen.pages.keys()
    lines = {
        kind: {name: line for name, line in listed[kind].items() if name in unreadable}
        | {page.name: index.line_of(page) for page in seen.pages.values() if page.kind == kind}
        for kind in KINDS
    }
    # Only the lines count; other text in the index is allowed.
    drifted = lines != listed
    if drifted:
        store.write(INDEX, index.render(lines))
    if changed or drifted:
        about = f"links of {len(changed)} pages" + (" and the index" if drifted else "")
        log.append(store, Entry(time, "repair", about, tuple(page.name for page in changed)))
    _refresh_hot_cache(store, seen)


def _mend_links(store: Store, seen: Seen) -> list[Page]:
    changed: list[Page] = []
    for page in seen.pages.values():
        fixes = link_changes(dict.fromkeys(links(page.body)), seen.resolves)
        if fixes:
            mended = replace(page, body=relinked(page.body, fixes))
            store.write(page.path, mended.render())
            seen.pages[page.name] = mended
            changed.append(mended)
    return changed


def _refresh_hot_cache(store: Store, seen: Seen) -> None:
    entry = log.latest_change(store)
    before = store.read(HOT_CACHE)
    if entry is None or (before is not None and index.hot_latest(before) == entry.chain):
        return
    # A stale hot cache may name removed pages; only existing ones are carried on.
    recent = [name for one in reversed(log.entries(store)) for name in one.pages]
    pages = [seen.pages[name] for name in dict.fromkeys(recent) if name in seen.pages]
    store.write(HOT_CACHE, index.render_hot(entry, pages[: index.MOST_HOT]))
