"""Benchmarks of the playbook's merge, no assertion on time.

``python tests/bench_playbook.py`` prints the least CPU time of some repetitions.
No model and no embedding is involved; likeness is by words. "to 1,000" is a delta of ten
operations merged into a playbook that has 1,000 bullets, "of 1,000" a delta of 1,000 new
ones merged into an empty one.
"""

import random
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from constraintrot import tokens
from constraintrot.memory.playbook import (
    APPEND_ONLY,
    LAZY,
    PROACTIVE,
    Add,
    Count,
    Playbook,
    Refinement,
    Update,
)
from constraintrot.memory.playbook.delta import Operation
from constraintrot.memory.playbook.similarity import Words

REPETITIONS = 7
WORDS = [
    f"{a}{b}"
    for a in ("inv", "bad", "lif", "por", "ser", "que")
    for b in ("oice", "ge", "t", "ter")
]


def tips(number: int, seed: int = 0) -> list[Add]:
    """Bullets of 12 words, every tenth a rule."""
    draw = random.Random(seed)
    return [
        Add(
            text=("Never open " if at % 10 == 0 else "")
            + f"case {at}: {' '.join(draw.choices(WORDS, k=12))}",
            section=f"part {at % 8}",
        )
        for at in range(number)
    ]


def filled(size: int, refinement: Refinement, budget: int | None) -> Playbook:
    """A playbook of so many bullets."""
    playbook = Playbook(refinement=APPEND_ONLY)
    playbook.apply(tips(size))
    made = Playbook(refinement=refinement, budget=budget)
    made.fill(playbook.plain())
    return made


def least(prepare: Callable[[], Playbook], delta: Sequence[Operation]) -> float:
    """Milliseconds of the quickest merge; each into a playbook of its own."""
    taken: list[float] = []
    for _ in range(REPETITIONS):
        playbook = prepare()
        start = time.process_time()
        playbook.apply(delta)
        taken.append(time.process_time() - start)
    return min(taken) * 1e3


def figures() -> list[str]:
    """One line for each setting."""
    tokens.count("The vocabulary is loaded before anything is timed.")
    ten: list[Operation] = [
        *tips(6, seed=9),
        Count(id="par-00003", helpful=1),
        Count(id="par-00004", harmful=1),
        Update(id="par-00005", text="The porter has the badges of the day."),
        Count(id="par-00006", helpful=1),
    ]
    no_update = [one for one in ten if not isinstance(one, Update)]
    lines = ["merge of a delta, ms, without embeddings"]
    for name, refinement, budget in (
        ("proactive", PROACTIVE, None),
        ("proactive, budget", PROACTIVE, 60_000),
        ("lazy, budget", LAZY, 60_000),
        ("append only", APPEND_ONLY, None),
    ):
        prepared = partial(filled, 1000, refinement, budget)
        to, changed = least(prepared, no_update), least(prepared, ten)
        of = least(partial(Playbook, refinement=refinement, budget=budget), tips(1000))
        lines.append(
            f"{name:18} ten to 1,000 {to:6.2f}   with an UPDATE {changed:6.2f}   of 1,000 {of:7.2f}"
        )
    texts = [one.text for one in tips(1000)]
    start = time.process_time()
    pairs = len(list(Words().alike(texts, range(1000), Words.least)))
    lines.append(
        f"all pairs of 1,000 by words {(time.process_time() - start) * 1e3:6.2f}   {pairs} alike"
    )
    return lines


if __name__ == "__main__":
    sys.stdout.write("\n".join(figures()) + "\n")
