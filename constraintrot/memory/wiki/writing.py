"""Ingest: the six ordered writes, with a journal from which any later process can finish.

The journal holds all planned writes, from before the first one until after the last one. Each step
checks whether it was already done, so repeating it changes nothing: a page names its sources, and
the log names each source once.
"""

import json
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import cache
from typing import Any, Final

from constraintrot.memory.wiki import index, log
from constraintrot.memory.wiki.edits import Done, Place, applied, places, resolves
from constraintrot.memory.wiki.log import Entry
from constraintrot.memory.wiki.names import (
    HOT_CACHE,
    INDEX,
    JOURNAL,
    LOG,
    WikiError,
    digest,
    slug,
    source_path,
)
from constraintrot.memory.wiki.page import Page, new_page, read_page
from constraintrot.memory.wiki.plan import (
    Edit,
    Plan,
    Source,
    dated,
    from_plain,
    name_of,
    source_text,
)
from constraintrot.memory.wiki.schema import STEPS, Step
from constraintrot.memory.wiki.stores import Store

_VERSION: Final = 1


@dataclass(frozen=True)
class Ingested:
    """The result of an ingest."""

    source: str
    pages: tuple[str, ...] = ()  # names of the pages that it wrote
    # The parts of the plan that were not done as asked, with the reason.
    refused: tuple[str, ...] = ()
    unlinked: tuple[str, ...] = ()  # targets of unresolved links, which became plain text
    already: bool = False  # whether the vault already had this text, so nothing was written

    @property
    def told(self) -> list[str]:
        """The deviations from the plan, as lines for the caller."""
        gone = f"no page for {', '.join(self.unlinked)}; plain text now"
        return [*self.refused, *([gone] if self.unlinked else [])]


def now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def ingest(
    store: Store, source: Source, plan: Plan, *, time: str = "", steps: Collection[Step] = STEPS
) -> Ingested:
    """Write a source and the pages of its plan; arguments and errors are as for ``Wiki.ingest``."""
    time = time or now()
    own, source = dated(source, time)
    with store.locked():
        check_readable(store)
        refused = (*finished(store), *plan.unreadable)
        name, there = name_of(store, source, own)
        if there:
            return Ingested(name, already=True, refused=refused)
        job = {
            "version": _VERSION, "time": time, "name": name, "source": asdict(source),
            "plan": plan.plain(), "steps": [step for step in STEPS if step in steps],
        }  # fmt: skip
        _write_journal(store, job)
        done = _write(store, job, again=False)
    return replace(done, refused=(*refused, *done.refused))


def check_readable(store: Store) -> None:
    """Check that index, log and hot cache can be read, since every ingest writes to them."""
    for path in (INDEX, LOG, HOT_CACHE):
        store.read(path)


def finished(store: Store) -> tuple[str, ...]:
    """Finish the ingest that a killed process left, and return what was not done as asked.

    The caller holds the lock, and gets the report in place of the killed process.
    """
    text = store.read(JOURNAL)
    if text is None:
        return ()
    done = _write(store, read_journal(text), again=True)
    return tuple(f"{done.source}, cut off before: {line}" for line in done.told)


def read_journal(text: str) -> dict[str, Any]:
    try:
        job: Any = json.loads(text)
        Source(**job["source"]), from_plain(job["plan"])
        [*job.get("refused", ()), *job.get("unlinked", ())]
        if job["version"] != _VERSION or slug(job["name"]) != job["name"]:
            raise ValueError("of another version")
        return dict(job)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise WikiError(
            f"{JOURNAL} is damaged ({error}); remove it, and ingest its source again"
        ) from error


def _write(store: Store, job: dict[str, Any], *, again: bool) -> Ingested:
    source = Source(**{**job["source"], "tags": tuple(job["source"]["tags"])})
    name, steps = job["name"], job["steps"]
    text = source_text(source)
    if "source" in steps and not store.exists(source_path(name)):
        store.write(source_path(name), text)
    done = Done(refused=[*job.get("refused", ())], unlinked=[*job.get("unlinked", ())])
    planned, changed = _changes(store, job, source.date, done)
    told = {"refused": done.refused, "unlinked": done.unlinked}
    if any(told.values()) and {**job, **told} != job:
        # Before the pages: a written page no longer shows what was refused.
        _write_journal(store, {**job, **told})
    for page in changed:
        store.write(page.path, page.render())
    if "index" in steps:
        _write_index(store, done.pages)
    entry = log.latest_change(store)
    if "log" in steps and not (again and log.has(store, name)):
        names = tuple(one.name for one in done.pages)
        what = Entry(job["time"], "ingest", f"[[{name}]]", names, digest(text))
        entry = log.append(store, what)
    if "hot-cache" in steps and entry is not None:
        _write_hot_cache(store, entry, done.pages)
    store.remove(JOURNAL)
    return Ingested(
        name, tuple(one.name for one in planned if store.exists(one.path)),
        tuple(done.refused), tuple(done.unlinked),
    )  # fmt: skip


def _write_journal(store: Store, job: dict[str, Any]) -> None:
    store.write(JOURNAL, json.dumps(job, ensure_ascii=False, indent=1) + "\n")


def _changes(
    store: Store, job: dict[str, Any], date: str, done: Done
) -> tuple[list[Place], list[Page]]:
    """Return the places of a plan's pages, and the pages that are still to be written."""
    plan = from_plain(job["plan"])
    done.refused += plan.unreadable
    if "pages" not in job["steps"]:
        plan = replace(plan, edits=())
    if "analysis" not in job["steps"]:
        plan = replace(plan, analysis=None)
    planned = places(store, plan, date)
    names = {one.name for one in planned}
    # A person's attachments and notes. Walking all folders is slow, so it is done once.
    others = cache(store.names)

    def known(name: str) -> bool:
        return name in names or resolves(store, name) or name in others()

    changed: list[Page] = []
    # The analysis comes last, as the schema has it.
    for where in sorted(planned, key=lambda one: one.kind == "analysis"):
        page = _page(store, where, planned[where], date)
        if page is None:
            done.refused.append(f"{where.path} cannot be read as a page; lint says why")
        elif job["name"] in page.sources:
            done.pages.append(page)
        else:
            changed.append(applied(page, planned[where], job["name"], date, known, done))
            done.pages.append(changed[-1])
    done.refused, done.unlinked = _once(done.refused), _once(done.unlinked)
    return list(planned), changed


def _once(lines: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(lines))


def _page(store: Store, where: Place, edits: Sequence[Edit], date: str) -> Page | None:
    try:
        text = store.read(where.path)
        if text is None:
            return new_page(where.kind, where.name, edits[0].title, edits[0].summary, date)
        return read_page(where.kind, where.name, text)
    except WikiError:
        # A person may be editing it, so an unreadable page is not overwritten.
        return None


def _write_index(store: Store, pages: Sequence[Page]) -> None:
    before = store.read(INDEX) or ""
    after = index.updated(before, pages)
    if after != before:
        store.write(INDEX, after)


def _write_hot_cache(store: Store, entry: Entry, pages: Sequence[Page]) -> None:
    before = store.read(HOT_CACHE) or ""
    if index.hot_latest(before) != entry.chain:
        store.write(HOT_CACHE, index.render_hot(entry, pages, before))
