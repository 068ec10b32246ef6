"""Claims decided by a declared sequential plan, which sets each look's variants of each family.

A claim's p-value at a look is that of O'Brien and Fleming's boundary through its result
(``stats.sequential.spent``), and its p-value is the least of those so far. It is valid whenever
the claim's looks end, so Holm's adjustment over all planned claims keeps the family-wise error at
every look (Maurer & Bretz, Multiple testing in group sequential trials using graphical
approaches, 2013). A verdict takes the least p-value of its own direction: an earlier look that
nearly showed the contrary does not count for it. A decided claim stays decided.
"""

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import pandas as pd

from constraintrot.report.claims.decide import Why
from constraintrot.report.claims.declared import REPRODUCTION, Claim, Claims
from constraintrot.report.claims.verdicts import (
    Answered,
    both_p_values,
    measured,
    settled,
    with_silence,
)
from constraintrot.report.page.primary import Declared, Family
from constraintrot.stats.sequential import spent

Sizes: TypeAlias = Sequence[Mapping[str, int]]
"""For each look: the number of first seeds of each family that a claim is decided on."""
_CONTRARY = Why("n", "an earlier look said more for the contrary")
Measure: TypeAlias = "Callable[[Claim, Claims, pd.DataFrame], Answered]"


@dataclass(frozen=True)
class Looked:
    """The claims after a look.

    Attributes:
        answered: the planned claims with their verdicts, in the plan's order.
        decided: the look at which a claim was decided, by title.
    """

    answered: tuple[Answered, ...]
    family: Family
    decided: Mapping[str, int]


def looked(
    claims: Claims,
    frame: pd.DataFrame,
    sizes: Mapping[str, Sizes],
    look: int,
    measure: Measure = measured,
) -> Looked:
    """Decide the planned claims at every look up to ``look``.

    The frame has the episodes of all looks so far, from ``page.design.prepared``; those beyond a
    claim's own size, played for another claim, do not count for it. Looks count from 1. ``measure``
    computes a claim's rates and tests; planning passes a simulation.
    """
    declared = Declared(margin=claims.margin, also=REPRODUCTION, claims=())
    planned = [claim for claim in claims.claims if claim.title in sizes]
    least = dict.fromkeys(sizes, 1.0)
    # By title: the least p-values of the claim and of its contrary.
    own = dict.fromkeys(sizes, (1.0, 1.0))
    decided: dict[str, int] = {}
    kept: dict[str, Answered] = {}
    family = Family(declared, (), (), 0)
    for at in range(1, look + 1):
        for claim in planned:
            if claim.title in decided:
                continue
            looks = len(sizes[claim.title])
            if at <= looks:
                part = within(frame, sizes[claim.title][at - 1])
                kept[claim.title] = measure(claim, claims, part)
                if (p_value := kept[claim.title].p_value) is None:
                    continue
                least[claim.title] = min(least[claim.title], spent(p_value, at, looks))
                both = (spent(one, at, looks) for one in both_p_values(kept[claim.title].tests))
                same, opposite = map(min, own[claim.title], both)
                own[claim.title] = same, opposite
        told = [replace(kept[one.title], p_value=least[one.title]) for one in planned]
        answered, family = settled(told, frame, declared)
        for one in answered:
            title = one.claim.title
            told_so = one.verdict in ("same", "opposite")
            if told_so and own[title][one.verdict == "opposite"] > least[title]:
                kept[title] = replace(one, verdict="cannot tell", why=(_CONTRARY,))
                continue
            kept[title] = one
            if told_so:
                decided.setdefault(title, at)
    found = [kept[one.title] for one in planned]
    if measure is measured:

        def heard(titles: Container[str]) -> Sequence[Answered]:
            def among(claim: Claim, claims: Claims, frame: pd.DataFrame) -> Answered:
                return measured(claim, claims, frame, heard=claim.title in titles)

            return looked(claims, frame, sizes, look, among).answered

        found = with_silence(found, heard)
    return Looked(tuple(found), family, decided)


def within(frame: pd.DataFrame, first: Mapping[str, int]) -> pd.DataFrame:
    """Return the episodes of the first seeds of each family."""
    return frame[frame["seed"].astype(int) < frame["family"].map(first).fillna(0)]
