"""A vault as one object: create, open, ingest, query, lint, repair, measure."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

from constraintrot.memory.wiki import index, log
from constraintrot.memory.wiki import schema as schema_of
from constraintrot.memory.wiki.graph import Finding, Graph, graph
from constraintrot.memory.wiki.lint import lint, repair
from constraintrot.memory.wiki.log import Entry
from constraintrot.memory.wiki.names import (
    HOT_CACHE,
    INDEX,
    KINDS,
    LOG,
    SCHEMA,
    WikiError,
    page_path,
)
from constraintrot.memory.wiki.page import Page, read_page
from constraintrot.memory.wiki.plan import Plan, Source, by_code, dated, name_of
from constraintrot.memory.wiki.query import DEFAULT_BUDGET, DEFAULT_PAGES, Answer, HotCache, query
from constraintrot.memory.wiki.schema import STEPS, Step, Wording
from constraintrot.memory.wiki.stores import Folder, Store, kind_of
from constraintrot.memory.wiki.writing import Ingested, check_readable, finished, ingest, now


class Wiki:
    """A living wiki W = (S, V, Σ): immutable sources, pages that are kept, and a schema.

    It is opened from an existing vault's folder, or from a store.
    """

    def __init__(self, where: str | Path | Store) -> None:
        self.store: Store = Folder(where) if isinstance(where, str | Path) else where
        if not self.store.exists(LOG):
            named = where if isinstance(where, str | Path) else "the store"
            if self.store.exists(INDEX) and self.store.exists(HOT_CACHE):
                raise WikiError(
                    f"{named} has lost its {LOG}, without which it is no vault; put that back"
                    " from a backup or version control"
                )
            raise WikiError(f"{named} is no vault; `constraintrot wiki init` makes one")

    @classmethod
    def create(
        cls, where: str | Path | Store, rules: Sequence[str] = (),
        wording: Wording = "consequence", *, time: str = "",
    ) -> Wiki:  # fmt: skip
        """Make an empty vault; an existing schema is kept as it is.

        Args:
            where: a folder, created if it is missing, or a store.
            rules: policies of the schema.
            wording: wording of the schema's steps.
            time: in UTC; by default the current time.

        Raises:
            WikiError: there is a vault already, or a schema without the rules, the rules are a
                text, or the disk refused.
        """
        if isinstance(rules, str):
            # A text is a sequence too: each character would become a rule.
            raise WikiError(f"rules are several texts, as [{rules!r:.60}], and no text")
        text = schema_of.render(rules, wording)
        store: Store = Folder(where) if isinstance(where, str | Path) else where
        with store.locked():
            if store.exists(LOG):
                raise WikiError(f"{where} is a vault already; `wiki ingest` adds to it")
            empty = index.render({kind: {} for kind in KINDS})
            if store.read(INDEX) not in (None, empty) or store.exists(HOT_CACHE):
                raise WikiError(
                    f"{where} has an {INDEX} or {HOT_CACHE} of its own, which a vault would write"
                    " over; name another folder"
                )
            schema = store.read(SCHEMA)
            # A killed call may have written this text before.
            if rules and schema not in (None, text):
                raise WikiError(
                    f"{where} has a {SCHEMA} of its own, which would not get the rules; write them"
                    " into it, and leave rules out"
                )
            if schema is None:
                store.write(SCHEMA, text)
            store.write(INDEX, empty)
            # Last but one, so that a vault with a log lacks at most its hot cache.
            entry = log.append(store, Entry(time or now(), "init", "the vault"))
            store.write(HOT_CACHE, index.render_hot(entry, ()))
        return cls(store)

    def ingest(
        self, source: Source, plan: Plan | None = None, *, time: str = "",
        steps: Collection[Step] = STEPS,
    ) -> Ingested:  # fmt: skip
        """Ingest a source with a plan, or with the plan that plain code makes.

        An ingest that was killed is finished first.

        Args:
            source: never changes later; another text under its title is a further source. A source
                without a date is also recognised if it was ingested on an earlier day.
            plan: the pages to write from it.
            time: in UTC; by default the current time.
            steps: the writes to carry out; fewer only to measure the cost of skipping one.

        Raises:
            WikiError: the title gives no file name, the date is invalid, or index, log or hot cache
                cannot be read. Nothing was written then.
        """
        if plan is None:
            plan = by_code(source, lambda name: kind_of(self.store, name) is not None)
        return ingest(self.store, source, plan, time=time, steps=steps)

    def finish(self) -> tuple[str, ...]:
        """Finish an ingest that was killed, and return what was not done as asked."""
        with self.store.locked():
            check_readable(self.store)
            return finished(self.store)

    def known(self, source: Source, *, time: str = "") -> Ingested | None:
        """Return the result of ``ingest`` for a source that is already there, else None.

        A caller that asks this first never pays a model twice for one source. An ingest that was
        killed is finished first. The time is in UTC.
        """
        own, source = dated(source, time or now())
        with self.store.locked():
            check_readable(self.store)
            refused = finished(self.store)
            name, there = name_of(self.store, source, own)
        return Ingested(name, already=True, refused=refused) if there else None

    def query(
        self, question: str, *, k: int = DEFAULT_PAGES, budget: int | None = DEFAULT_BUDGET,
        hot: HotCache = "guide", schema: bool = True, record: bool = False,
    ) -> Answer:  # fmt: skip
        """Return the vault's answer to a question, with the path that it took.

        Args:
            question: the question in words.
            k: the most pages, and the most sources.
            budget: the most tokens of all shown text, estimated, without headings; None for no
                limit.
            hot: the use of the hot cache: ``guide``, ``gate`` or ``off``.
            schema: whether the schema comes first.
            record: whether the question is logged; else nothing is written.

        Raises:
            WikiError: ``k`` or ``budget`` is below 1, the schema's rules exceed the budget, or
                ``hot`` is unknown; or the question is to be logged, and index, log or hot cache
                cannot be read.
        """
        answer = query(self.store, question, k=k, budget=budget, hot=hot, schema=schema)
        if record:
            with self.store.locked():
                check_readable(self.store)
                log.append(self.store, Entry(now(), "query", question, tuple(answer.pages)))
        return answer

    def lint(self) -> list[Finding]:
        return lint(self.store)

    def repair(self, *, time: str = "") -> list[Finding]:
        """Fix what code can fix, and return the findings that are fixed."""
        return repair(self.store, time=time)

    def graph(self) -> Graph:
        return graph(self.store)

    def log(self) -> list[Entry]:
        return log.entries(self.store)

    def page(self, name: str) -> Page | None:
        """Return a page by name; None if there is no such page."""
        kind = kind_of(self.store, name)
        if kind is None:
            return None
        return read_page(kind, name, self.store.read(page_path(kind, name)) or "")
