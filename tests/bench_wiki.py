"""Benchmarks of a wiki of 10,000 pages, no assertion on time.

``python tests/bench_wiki.py`` prints the least CPU time of some repetitions. Every query reads
the files anew, as a process does that starts; the index has a line for each page.
"""

import random
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from constraintrot.memory.wiki import Edit, Plan, Source, Wiki, index
from constraintrot.memory.wiki.names import page_path, source_path
from constraintrot.memory.wiki.page import new_page, read_page

PAGES = 10_000
REPETITIONS = 9
WORDS = ["invoice", "badge", "lift", "porter", "server", "query", "backup", "report", "partner", "email", "budget", "garage", "contract", "supplier", "meeting", "release", "region", "ticket", "archive", "export"]  # fmt: skip


def filled(folder: Path, pages: int) -> Wiki:
    """A vault of so many pages, each with a source, written without their ingests."""
    wiki = Wiki.create(folder)
    draw = random.Random(0)
    made = []
    for at in range(pages):
        words = draw.choices(WORDS, k=8)
        page = new_page("concept", f"case-{at}", f"Case {at}", " ".join(words), "2026-04-01")
        page = page.with_section("Facts", "\n".join(f"- {word} ([[s-{at}]])" for word in words))
        text = page.render().replace("sources: []", f'sources: ["s-{at}"]')
        (folder / page_path("concept", page.name)).write_text(text, encoding="utf-8")
        (folder / source_path(f"s-{at}")).write_text("---\ntitle: S\n---\nText.\n", "utf-8")
        made.append(read_page("concept", page.name, text))
    wiki.store.write("index.md", index.updated("", made))
    return wiki


def least(call: Callable[[], object]) -> float:
    """Milliseconds of CPU time of the quickest of some calls."""
    taken: list[float] = []
    for _ in range(REPETITIONS):
        start = time.process_time()
        call()
        taken.append(time.process_time() - start)
    return min(taken) * 1e3


def figures() -> list[str]:
    """One line for each operation."""
    with tempfile.TemporaryDirectory() as folder:
        wiki = filled(Path(folder) / "vault", PAGES)
        numbers = iter(range(10**6))

        def ingest() -> None:
            at = next(numbers)
            edit = Edit("concept", f"New {at}", "x", ("y",), links=("Case 1",))
            wiki.ingest(Source(f"New {at}", "x"), Plan((edit,)))

        return [
            f"wiki of {PAGES:,} pages, ms of CPU time",
            f"query, rare words     {least(lambda: wiki.query('case 77 and case 4711')):8.2f}",
            f"query, common words   {least(lambda: wiki.query(' '.join(WORDS))):8.2f}",
            f"ingest of one page    {least(ingest):8.2f}",
        ]


if __name__ == "__main__":
    sys.stdout.write("\n".join(figures()) + "\n")
