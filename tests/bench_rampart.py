"""Benchmarks of the block registry, no assertion on time.

``.venv/bin/python tests/bench_rampart.py`` prints one table. Every figure is the
least of some repetitions, which a busy machine disturbs the least; "growth" is the
slope between N = 12 and N = 1000. The counter is ``len // 4`` unless named.
"""

import random
import sys
import timeit
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from constraintrot.defenses.rampart import Block, CosineGate, Principal, Registry

SIZES = (12, 50, 200, 1000)
DIMENSIONS = 384
OPERATOR = Principal("operator")


def quarter(text: str) -> int:
    """A token is four characters."""
    return len(text) // 4


def vectors(texts: Sequence[str]) -> NDArray[np.float32]:
    """A vector that only depends on the text, at no cost worth measuring for one text."""
    rows = [np.random.default_rng(len(text)).random(DIMENSIONS, np.float32) for text in texts]
    return np.stack(rows)


def filled(size: int, *, embedded: bool = False) -> tuple[Registry, list[Block]]:
    """A registry of one pin and blocks of some 100 characters."""
    registry = Registry(OPERATOR, counter=quarter, embedder=vectors if embedded else None)
    registry.pin("Never send email to an address outside example.com.", by=OPERATOR)
    text = "Use the project's own wrapper for timers, and say which channel it was set up on. " * 2
    blocks = [registry.write(text[at % 60 :], by=OPERATOR) for at in range(size - 1)]
    return registry, blocks


def best(call: Callable[[], object], setup: Callable[[], object] = lambda: None) -> float:
    """Microseconds of a call, the least of many; ``setup`` runs before each, unmeasured."""
    timer = timeit.default_timer
    spent = []
    for _ in range(400):
        setup()
        start = timer()
        call()
        spent.append(timer() - start)
    return min(spent) * 1e6


def row(what: str, figures: Sequence[float]) -> None:
    """One line of the table."""
    growth = (figures[-1] - figures[0]) / (SIZES[-1] - SIZES[0])
    print(f"{what:<52}" + "".join(f"{f:>10.1f}" for f in figures) + f"{growth * 1000:>12.1f}")


def over_sizes() -> None:
    """What depends on the number of blocks."""
    print(f"{'microseconds at N =':<52}" + "".join(f"{n:>10}" for n in SIZES) + "   growth, ns")
    made = {size: filled(size) for size in SIZES}

    def touch(size: int) -> Callable[[], object]:
        registry, blocks = made[size]
        return lambda: registry.promote(random.choice(blocks).id, by=OPERATOR)

    def compiled(size: int, budget: int | None = None) -> Callable[[], object]:
        return lambda: made[size][0].compile(budget)

    row("compile after a change, all fits", [best(compiled(n), touch(n)) for n in SIZES])
    row(
        "  the same, budget given",
        [best(compiled(n, 1_000_000), touch(n)) for n in SIZES],
    )
    row("compile after a change, some 5 fit", [best(compiled(n, 200), touch(n)) for n in SIZES])
    row("compile after no change", [best(compiled(n)) for n in SIZES])
    row("promote to front", [best(touch(n)) for n in SIZES])

    def write_at_front(size: int) -> float:
        registry = made[size][0]
        written: list[Block] = []
        return best(
            lambda: written.append(registry.write("A lesson.", by=OPERATOR, at=0)),
            lambda: registry.evict(written.pop().id, by=OPERATOR) if written else None,
        )

    row("write at front", [write_at_front(n) for n in SIZES])


def searching() -> None:
    """Relevance, with the query's embedding at hand, against the bare product."""
    query = vectors(["a query"])
    vector = query[0]
    gate = CosineGate(least=0.9, most=5)
    columns: list[list[float]] = []
    for size in SIZES:
        registry, _ = filled(size, embedded=True)
        registry.find_relevant("a query")
        registry._searcher._embedder = lambda texts: query
        index, moment = registry._searcher._index, registry._store.moment()
        assert index is not None
        matrix = np.random.default_rng(size).random((size, DIMENSIONS), np.float32)
        columns.append(
            [
                best(partial(np.dot, matrix, vector)),
                best(partial(index.scores, vector, moment)),
                best(partial(registry.find_relevant, "a query")),
                best(partial(registry.compile, query="a query", gate=gate)),
            ]
        )
    names = (
        f"one matrix-vector product, {DIMENSIONS}-d",
        "find_relevant, scoring only",
        "find_relevant, the query's vector at hand",
        "compile through a cosine gate, the same",
    )
    for name, figures in zip(names, zip(*columns, strict=True), strict=True):
        row(name, figures)


def main() -> None:
    """Print the table."""
    table = {f"name-{at}": at for at in range(1000)}
    names = list(table) * 1000
    start = timeit.default_timer()
    for name in names:
        table[name]
    print(
        f"calibration: 10^6 dict lookups in a loop take {(timeit.default_timer() - start) * 1e3:.1f} ms\n"
    )
    over_sizes()
    searching()
    registry, blocks = filled(10_000)
    spent = best(
        lambda: registry.compile(8000),
        lambda: registry.promote(random.choice(blocks).id, by=OPERATOR),
    )
    print(
        f"\ncompile of 10,000 blocks after a change, budget of 8,000 tokens: {spent / 1e3:.2f} ms"
    )


if __name__ == "__main__":
    main()
