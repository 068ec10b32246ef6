"""A vault's pages and sources, read once, and the graph of the pages."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Final

from constraintrot.memory.wiki.names import (
    FOLDERS,
    KINDS,
    ROOT_FILES,
    SOURCES,
    Kind,
    WikiError,
    page_path,
    source_path,
)
from constraintrot.memory.wiki.page import Page, links, read_page
from constraintrot.memory.wiki.stores import Store

# Each finding with its fix; repair() carries out those of REPAIRED.
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


@dataclass(frozen=True)
class Finding:
    """A broken promise of a vault."""

    code: str  # a key of ``REPAIRED`` or ``BY_HAND``
    path: str
    text: str

    @property
    def repaired(self) -> bool:
        return self.code in REPAIRED

    @property
    def fix(self) -> str:
        return REPAIRED.get(self.code) or BY_HAND[self.code]


@dataclass
class Seen:
    """The pages and sources of a vault, read once."""

    # The pages by name; if two have one name, the first.
    pages: dict[str, Page] = field(default_factory=dict[str, Page])
    # The texts of the sources by name.
    texts: dict[str, str] = field(default_factory=dict[str, str])
    findings: list[Finding] = field(default_factory=list[Finding])
    # Names of page files that cannot be read as pages.
    unreadable: set[str] = field(default_factory=set[str])
    # Files of the vault's root that cannot be read.
    damaged: set[str] = field(default_factory=set[str])
    # The names of all files that a link may lead to.
    names: set[str] = field(default_factory=set[str])
    pending: str = ""  # the source of an ingest that was cut off

    def resolves(self, name: str) -> bool:
        return name in self.names or f"{name}.md" in ROOT_FILES


def see(store: Store) -> Seen:
    """Read all pages and sources, and note the files of the root that cannot be read."""
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
            try:
                page = read_page(kind, name, store.read(path) or "")
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


def _text(store: Store, path: str, seen: Seen) -> str | None:
    try:
        return store.read(path)
    except WikiError as error:
        seen.findings.append(Finding("unreadable", path, str(error)))
        return None


_HUBS = 5


@dataclass(frozen=True)
class Graph:
    """Measures of a graph of pages."""

    pages: dict[Kind, int]  # numbers of pages by kind
    edges: int  # directed links, each pair of pages once
    occurrences: int  # links between pages, counted as often as they are written
    # Mean over all pages of the share of a page's neighbours that are neighbours of each other,
    # directions aside; 0 for a page with fewer than two.
    clustering: float
    unresolved: int  # unresolved links, counted as often as they are written
    orphans: int  # number of pages that no other page links to
    # The pages with the most pages linking to them, with these numbers.
    hubs: tuple[tuple[str, int], ...]

    @property
    def nodes(self) -> int:
        return sum(self.pages.values())

    @property
    def links_a_page(self) -> float:
        return self.edges / self.nodes if self.nodes else 0.0

    def plain(self) -> dict[str, Any]:
        return {
            "pages": self.nodes, **{f"pages_{kind}": number for kind, number in self.pages.items()},
            "edges": self.edges, "occurrences": self.occurrences,
            "links_a_page": round(self.links_a_page, 3), "clustering": round(self.clustering, 3),
            "unresolved": self.unresolved, "orphans": self.orphans,
            "hubs": [list(one) for one in self.hubs],
        }  # fmt: skip


def graph(store: Store) -> Graph:
    seen = see(store)
    out: dict[str, set[str]] = {name: set() for name in seen.pages}
    occurrences = unresolved = 0
    for page in seen.pages.values():
        for target in links(page.body):
            if target in seen.pages and target != page.name:
                occurrences += 1
                out[page.name].add(target)
            elif not seen.resolves(target):
                unresolved += 1
    into = Counter(target for targets in out.values() for target in targets)
    kinds = Counter(page.kind for page in seen.pages.values())
    return Graph(
        {kind: kinds[kind] for kind in KINDS},
        sum(map(len, out.values())), occurrences, _clustering(out), unresolved,
        sum(into[name] == 0 for name in out),
        tuple(sorted(into.items(), key=lambda one: (-one[1], one[0]))[:_HUBS]),
    )  # fmt: skip


def _clustering(out: dict[str, set[str]]) -> float:
    near: dict[str, set[str]] = {name: set(targets) for name, targets in out.items()}
    for name, targets in out.items():
        for target in targets:
            near[target].add(name)
    total = 0.0
    for around in near.values():
        if len(around) > 1:
            # Each edge between two neighbours is seen from both ends.
            between = sum(len(near[one] & around) for one in around)
            total += between / (len(around) * (len(around) - 1))
    return total / len(near) if near else 0.0
