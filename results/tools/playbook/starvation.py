"""The loss of a rule that only prevents, in a small playbook pruned by counters.

A rule is in a playbook from the start. Each step adds a tip, and counts some of the tips that
are there as helpful, as a Generator does that used them. The rule is counted at a rate of its
own: a rule that was obeyed shows up in nothing that happened, so the rate is low.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

from constraintrot.memory.playbook import (
    COUNTERS_ONLY,
    Add,
    Count,
    Playbook,
    Refinement,
)
from constraintrot.memory.playbook.delta import Operation

RULE = "Never send email outside example.com."
RATES = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5)
PROTECTED = Refinement("lazy", deduplicate=False)


@dataclass(frozen=True)
class Starved:
    """Runs at one rate.

    Attributes:
        pruning: ``by counters alone``, or ``kinds protected``.
        rate: chance in each step that the rule is counted as helpful.
        lost: runs in which the rule was pruned.
        runs: all runs.
    """

    pruning: str
    rate: float
    lost: int
    runs: int


def starvation(runs: int = 200, steps: int = 120, most: int = 40) -> Iterator[Starved]:
    """Yield the runs lost at each rate, with and without protection by kind, on the same draws."""
    for pruning, refinement in (
        ("by counters alone", COUNTERS_ONLY),
        ("kinds protected", PROTECTED),
    ):
        for rate in RATES:
            lost = sum(not survives(refinement, rate, seed, steps, most) for seed in range(runs))
            yield Starved(pruning, rate, lost, runs)


def survives(refinement: Refinement, rate: float, seed: int, steps: int, most: int) -> bool:
    """Return whether the rule is there after all steps of one run."""
    draw = random.Random(f"{seed} {rate}")
    playbook = Playbook(most=most, refinement=refinement)
    (rule,) = playbook.apply([Add(text=RULE, kind="constraint")]).added
    for step in range(steps):
        tips = [one.id for one in playbook.bullets if one.id != rule]
        delta: list[Operation] = [Add(text=f"The form for case {step} is in folder {step}.")]
        delta += [Count(id=one, helpful=1) for one in tips if draw.random() < 0.05]
        if draw.random() < rate:
            delta.append(Count(id=rule, helpful=1))
        playbook.apply(delta)
        if playbook.get(rule) is None:
            return False
    return True
