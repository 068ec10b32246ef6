"""The graph of a growing vault, as in the paper's Table 1, and the removed dangling links.

The writer is plain code that links as aggressively as the paper's did: every capitalised name
of a source becomes a link, and those that come twice a page. It shows what the link pass of an
ingest takes off, and nothing of what a model would link.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from constraintrot.memory.wiki import Edit, Memory, Plan, Source, Wiki
from constraintrot.memory.wiki import channel as wiki_channel
from results.tools.wiki.wording import sources

SNAPSHOTS = (24, 48, 96)
_NAME = re.compile(r"\b[A-Z][a-z]{2,}(?: [A-Z][a-z]{2,})+\b")


@dataclass(frozen=True)
class Snapshot:
    """A vault after a number of ingests.

    Attributes:
        sources: ingested so far.
        pages: of all kinds.
        entities: of them.
        concepts: of them.
        edges: different links between pages.
        links_a_page: edges by pages.
        clustering: as ``graph`` has it.
        unresolved: links that go nowhere.
        taken_off: links that would have gone nowhere, which ingests made plain text.
    """

    sources: int
    pages: int
    entities: int
    concepts: int
    edges: int
    links_a_page: float
    clustering: float
    unresolved: int
    taken_off: int


def snapshots() -> Iterator[Snapshot]:
    """Yield the vault at each of ``SNAPSHOTS``."""
    wiki = Wiki.create(Memory(), time=wiki_channel.TIME)
    seen: Counter[str] = Counter()
    taken_off = 0
    for number, source in enumerate(sources(SNAPSHOTS[-1]), start=1):
        names = list(dict.fromkeys(_NAME.findall(source.text)))
        seen.update(names)
        done = wiki.ingest(source, _plan(source, names, seen), time=wiki_channel.TIME)
        taken_off += len(done.unlinked)
        if number in SNAPSHOTS:
            graph = wiki.graph()
            yield Snapshot(
                number, graph.nodes, graph.pages["entity"], graph.pages["concept"], graph.edges,
                round(graph.links_a_page, 2), round(graph.clustering, 3), graph.unresolved,
                taken_off,
            )  # fmt: skip


def _plan(source: Source, names: list[str], seen: Counter[str]) -> Plan:
    others = " ".join(f"[[{name}]]" for name in names)
    edits = [Edit("concept", source.title, "", (f"About {others}.",) if names else ())]
    edits += [
        Edit("entity", name, "", (f"In {source.title}.",), links=tuple(names))
        for name in names
        if seen[name] > 1
    ]
    return Plan(tuple(edits))
