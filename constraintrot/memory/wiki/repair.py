"""Repair: what of lint's findings code can put right without making anything up."""

from __future__ import annotations

from dataclasses import replace

from constraintrot.memory.wiki import hot_cache, index, log
from constraintrot.memory.wiki.lint import Finding, Seen, blocking, link_fixes, lint, see
from constraintrot.memory.wiki.log import Entry
from constraintrot.memory.wiki.names import HOT_CACHE, INDEX, KINDS, page_path
from constraintrot.memory.wiki.page import Page, relinked
from constraintrot.memory.wiki.stores import Store
from constraintrot.memory.wiki.writing import finished, now


def repair(store: Store, *, time: str = "") -> list[Finding]:
    """Put right what can be; returns what was wrong, and is right now.

    A cut-off ingest is finished; index and hot cache are written from pages and log; links
    that go nowhere become plain text. Whatever was changed is logged. No source and no
    schema is touched. What the end of a cut-off ingest refuses is in the text of its finding.
    Where index, log or hot cache cannot be read, nothing is done: all that is done is told there.

    Args:
        store: the vault.
        time: in UTC; now, unless given.

    Raises:
        WikiError: a journal or a file is damaged.
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
        # What cannot be repaired is still there.
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
    # What a human wrote around the lines is no drift.
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
        fixes = link_fixes(page, seen.resolves)
        if fixes:
            mended = replace(page, body=relinked(page.body, fixes))
            store.write(page_path(page.kind, page.name), mended.render())
            seen.pages[page.name] = mended
            changed.append(mended)
    return changed


def _refresh_hot_cache(store: Store, seen: Seen) -> None:
    entry = log.latest_change(store)
    before = store.read(HOT_CACHE)
    if entry is None or (before is not None and hot_cache.latest(before) == entry.chain):
        return
    # A stale one may name what is gone; only what is there is carried on.
    recent = [name for one in reversed(log.entries(store)) for name in one.pages]
    pages = [seen.pages[name] for name in dict.fromkeys(recent) if name in seen.pages]
    store.write(HOT_CACHE, hot_cache.render(entry, pages[: hot_cache.MOST_PAGES]))
