"""The graph of a vault's pages: nodes, edges, clustering, hubs, and links that go nowhere.

As in the paper's Table 1: of the pages of V alone, without sources and root files.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from constraintrot.memory.wiki.lint import see
from constraintrot.memory.wiki.names import KINDS, Kind
from constraintrot.memory.wiki.page import links
from constraintrot.memory.wiki.stores import Store

_HUBS = 5


@dataclass(frozen=True)
class Graph:
    """Measures of a graph of pages.

    Attributes:
        pages: by kind.
        edges: directed, each pair once.
        occurrences: links between pages, each as often as it is written.
        clustering: mean over all pages of the share of a page's neighbours that are
            neighbours of each other, directions aside; 0 for a page with fewer than two.
        unresolved: links that go to no file, each as often as it is written.
        orphans: pages that no other page links to.
        hubs: the pages that most link to, with how many.
    """

    pages: dict[Kind, int]
    edges: int
    occurrences: int
    clustering: float
    unresolved: int
    orphans: int
    hubs: tuple[tuple[str, int], ...]

    @property
    def nodes(self) -> int:
        """All pages."""
        return sum(self.pages.values())

    @property
    def links_a_page(self) -> float:
        """Mean of the different pages that a page links to."""
        return self.edges / self.nodes if self.nodes else 0.0

    def plain(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "pages": self.nodes, **{f"pages_{kind}": number for kind, number in self.pages.items()},
            "edges": self.edges, "occurrences": self.occurrences,
            "links_a_page": round(self.links_a_page, 3), "clustering": round(self.clustering, 3),
            "unresolved": self.unresolved, "orphans": self.orphans,
            "hubs": [list(one) for one in self.hubs],
        }  # fmt: skip


def graph(store: Store) -> Graph:
    """Measure a vault's graph."""
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
