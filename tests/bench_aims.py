"""What was aimed at beside what is measured, one table. ``make bench``.

``python tests/bench_aims.py [PART ...]``: parts are ``registry``, ``engine``, ``engine-10000``
(minutes), ``store``, ``report``, ``pipeline``, ``wiki``, ``playbook`` and ``hook``; all of them
unless named. Times are CPU time of this process or of the command
(user and system), the least of some repetitions where they are microseconds: what else a
machine does then is no property of the code.
"""

import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import cycle
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
# This folder has a package of the name results as well.
sys.path.remove(str(Path(__file__).resolve().parent))

import numpy as np

from constraintrot import tokens
from constraintrot.memory.playbook import APPEND_ONLY, PROACTIVE, Playbook
from tests import (
    bench,
    bench_pins,
    bench_playbook,
    bench_rampart,
    bench_report,
    bench_store,
    bench_wiki,
)

REPEATS = 7


class Line(NamedTuple):
    """A line of the table: what, the aim, and what was measured."""

    what: str
    aim: str
    measured: str


def microseconds(call: Callable[[], object], calls: int) -> float:
    """CPU microseconds of a call, the least of some loops."""
    spent = []
    for _ in range(REPEATS):
        start = time.process_time()
        for _ in range(calls):
            call()
        spent.append((time.process_time() - start) / calls)
    return min(spent) * 1e6


def registry() -> Iterator[Line]:
    """A promotion with the compile after it, and a search less the product that it needs."""
    # What another implementation takes, as it was measured on one of these machines.
    aims = {12: "10.7 µs", 50: "20.6 µs", 200: "-", 1000: "-"}
    for size, aim in aims.items():
        made, blocks = bench_rampart.filled(size)
        ids = cycle([block.id for block in random.Random(0).choices(blocks, k=997)])

        def change() -> None:
            made.promote(next(ids), by=bench_rampart.OPERATOR)  # noqa: B023  # called here only
            made.compile(1_000_000)  # noqa: B023

        taken = microseconds(change, 1_000)
        yield Line(f"registry, {size} blocks: promote and compile", aim, f"{taken:.1f} µs")
    for size in aims:
        made, _ = bench_rampart.filled(size, embedded=True)
        query = bench_rampart.vectors(["a query"])
        made.find_relevant("a query")
        made._searcher._embedder = lambda texts, query=query: query
        matrix = np.random.default_rng(size).random((size, bench_rampart.DIMENSIONS), np.float32)
        product = microseconds(partial(np.dot, matrix, query[0]), 1_000)
        taken = microseconds(partial(made.find_relevant, "a query"), 1_000) - product
        what = f"registry, {size} blocks: find_relevant less its product of {product:.1f} µs"
        yield Line(what, "15 µs", f"{taken:.1f} µs")


def store() -> Iterator[Line]:
    """The whole commands over a store; of a tenth of the episodes, to be done in minutes."""
    count = bench_store.EPISODES // 10
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "store"
        bench_store.write(folder, count, bench_store.CELLS // 10)
        taken = bench_store.spent("report", str(folder), "-o", str(Path(name) / "report"))
    yield Line(
        f"report of a store of {count:,} episodes (aim: for 10,000,000)", "60 s, 2,000 MB",
        f"{taken['cpu_s']} s, {taken['peak_mb']:.0f} MB",
    )  # fmt: skip


def engine(*sizes: int) -> Iterator[Line]:
    """An evaluation beside a bare one that makes the same calls."""
    bench.overhead(bench.CELLS, 1)
    for samples in sizes:
        found = bench.overhead(samples, 1)
        ratio = f"{found['processor ratio']:.2f} ({found['clock ratio']:.2f} by the clock)"
        yield Line(f"evaluation of {samples:,} samples over a bare Inspect task", "1.3", ratio)


def pipeline() -> Iterator[Line]:
    """A request through all layers, without calls of models."""
    from results.tools.pipeline.layers import conversation, measured

    whole = next(row for row in measured(200) if row["layer"] == "whole pipeline")
    what = f"pipeline, a request of {len(conversation()) + 1} messages"
    yield Line(what, "5 ms", f"{float(whole['ms_median']):.1f} ms")


def wiki() -> Iterator[Line]:
    """A query that reads the files anew."""
    with tempfile.TemporaryDirectory() as folder:
        made = bench_wiki.filled(Path(folder) / "vault", bench_wiki.PAGES)
        taken = bench_wiki.least(lambda: made.query(" ".join(bench_wiki.WORDS)))
    yield Line(f"wiki of {bench_wiki.PAGES:,} pages, a query", "50 ms", f"{taken:.1f} ms")


def playbook() -> Iterator[Line]:
    """A delta of new bullets, without embeddings."""
    tokens.count("The vocabulary is loaded before anything is timed.")
    for name, refinement in (("", APPEND_ONLY), (", with likeness by words", PROACTIVE)):
        empty = partial(Playbook, refinement=refinement)
        taken = bench_playbook.least(empty, bench_playbook.tips(1_000))
        yield Line(f"playbook, a merge of 1,000 bullets{name}", "20 ms", f"{taken:.1f} ms")


def hook() -> Iterator[Line]:
    """A call of the hook of a coding agent, which is a process."""
    yield Line("hook of a coding agent, a call", "50 ms", f"{bench_pins.a_call():.1f} ms")


def report() -> Iterator[Line]:
    """The whole page."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "frame.csv"
        bench_report.write_frame(3_000, path)
        bench_report.spent(path, Path(name) / "first")
        taken = bench_report.spent(path, Path(name) / "report")
    yield Line("report of 3,000 episodes", "5 s", f"{taken['cpu_s']} s, {taken['peak_mb']:.0f} MB")


PARTS: dict[str, Callable[[], Iterator[Line]]] = {
    "registry": registry,
    "engine": partial(engine, 108, 999),
    "engine-10000": partial(engine, 9_990),
    "store": store,
    "report": report,
    "pipeline": pipeline,
    "wiki": wiki,
    "playbook": playbook,
    "hook": hook,
}


def main() -> None:
    """Print the table, a line as soon as it is measured."""
    wanted = sys.argv[1:] or list(PARTS)
    if unknown := [name for name in wanted if name not in PARTS]:
        raise SystemExit(f"no part {unknown[0]!r}; there are {', '.join(PARTS)}")
    print(f"{'':<76}{'aim':>16}{'measured':>28}")
    for name in wanted:
        for line in PARTS[name]():
            print(f"{line.what:<76}{line.aim:>16}{line.measured:>28}", flush=True)


if __name__ == "__main__":
    main()
