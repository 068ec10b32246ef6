"""Load time of seed files against PyYAML's C loader on the same text; no assertion on time.

``python tests/bench_seeds.py``
"""

import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import yaml

SIZES = (12, 50, 200, 1000)
LEAST_RUNS = 15
# About 140 tokens a block, as in the registry's other figures.
RULE = "Transfers above the limit need a second approval by the owner of the account. "


def seed_file(blocks: int) -> tuple[str, str]:
    """A seed file of so many blocks: its frontmatter, and the sections after it."""
    listed = "".join(
        f"  - name: rule-{number}\n    priority: {number % 101}\n    tags: [bank, limit]\n"
        for number in range(blocks)
    )
    sections = "".join(f"## rule-{number}\n{RULE * 9}\n\n" for number in range(blocks))
    return f"blocks:\n{listed}", sections


def seconds(first: Callable[[], object], second: Callable[[], object], runs: int) -> list[float]:
    """Seconds of each, median; in turns, since a shared machine changes its pace."""
    taken: tuple[list[float], list[float]] = ([], [])
    for _ in range(runs):
        for act, times in zip((first, second), taken, strict=True):
            start = time.perf_counter()
            act()
            times.append(time.perf_counter() - start)
    return [statistics.median(times) for times in taken]


def seeds() -> list[str]:
    """One line for each number of blocks.

    The loader parses the frontmatter alone, from memory; ``read`` opens and
    checks the file, parses the frontmatter and takes the sections apart.
    """
    from constraintrot.defenses.rampart.seeds import read

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    lines = [f"load from a seed file, ms; yaml: {loader.__name__}"]
    with tempfile.TemporaryDirectory() as folder:
        for blocks in SIZES:
            head, sections = seed_file(blocks)
            path = Path(folder) / f"{blocks}.md"
            path.write_text(f"---\n{head}---\n{sections}", encoding="utf-8")
            ours, theirs = seconds(
                lambda path=path: read(path),  # type: ignore[misc]
                lambda head=head: yaml.load(head, loader),  # type: ignore[misc]
                max(LEAST_RUNS, 4000 // blocks),
            )
            lines.append(
                f"N={blocks:<5} read {ours * 1e3:8.2f}   yaml {theirs * 1e3:8.2f}   "
                f"ratio {ours / theirs:.2f}"
            )
    return lines


if __name__ == "__main__":
    sys.stdout.write("\n".join(seeds()) + "\n")
