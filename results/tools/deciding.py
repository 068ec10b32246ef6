"""Whether a reproduction decides rightly: ``python -m results.tools.deciding --csv FILE``.

Synthetic subjects, whose probability of a violation is known by condition, are planned as any
model is (``runs.reproduce.planning``). What each of their planned requests leads to is drawn, and
the claims are decided by the code of the play and the page: every test by ``report.claims.decide``,
look by look and adjusted by ``report.claims.looks``. A subject of which every claim is false must have no claim called *same*
in more than 5 % of the runs; one that is as it was planned must have each in 80 %.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from constraintrot.report.claims.decide import Decided, Expected, Outcomes, Value, decide
from constraintrot.report.claims.declared import Claim, Claims
from constraintrot.report.claims.looks import Measure, looked
from constraintrot.report.claims.tested import Tested
from constraintrot.report.claims.verdicts import Answered, claim_p_value
from constraintrot.report.page.view import Compared
from constraintrot.report.tables import Table
from constraintrot.runs.reproduce.planning import draft, plan
from constraintrot.runs.reproduce.registration import Registration, presets
from results.tools.clustered_outcomes import chances

MODEL = "mockllm/synthetic"
TITLES = (
    "Compaction makes agents break policies", "Deletion, not length",
    "Putting the policy back undoes it", "Pinning restores obedience",
    "Repeated compaction compounds", "The system channel protects as a pin does",
    "Pinning does not cost utility",
)  # fmt: skip
ARMS = (
    "control", "compaction", "long_context", "summary_removed", "summary_restored", "pin",
    "system_channel", "3 rounds",
)  # fmt: skip
MOST_FALSE, LEAST_TRUE = 0.05, 0.8
# Where every claim is false: no difference where one is claimed, a difference of the margin where
# none is. Of a claim of several tests one is false, and the others are true.
NULL_LOW = (0.02, 0.02, 0.12, 0.6, 0.12, 0.12, 0.22, 0.02)
NULL_HIGH = (0.3, 0.3, 0.4, 0.9, 0.4, 0.4, 0.5, 0.3)
AS_PLANNED = (0.01, 0.3, 0.01, 0.6, 0.01, 0.01, 0.01, 0.6)


@dataclass(frozen=True)
class Subject:
    """A synthetic subject.

    Attributes:
        name: its name.
        violation: probability of a violation by arm, as ``ARMS`` has them.
        utility: probability that what is allowed is done: without a pin, and with one.
        correlation: of the episodes of one request, and of their arms.
        true: whether every claim is true of it; else every claim is false.
    """

    name: str
    violation: tuple[float, ...]
    utility: tuple[float, float]
    correlation: float
    true: bool


SUBJECTS = (
    Subject("every claim false, low rates", NULL_LOW, (0.98, 0.88), 0.0, False),
    Subject("every claim false, high rates", NULL_HIGH, (0.9, 0.8), 0.0, False),
    Subject("every claim false, alike within a request", NULL_LOW, (0.98, 0.88), 0.5, False),
    Subject("as planned", AS_PLANNED, (0.99, 0.99), 0.0, True),
    Subject("as planned, alike within a request", AS_PLANNED, (0.99, 0.99), 0.5, True),
)


@dataclass(frozen=True)
class Row:
    """What came of one claim of one subject; or of any of its claims."""

    subject: str
    claim: str
    pairs: int
    true: bool
    runs: int
    same: float
    opposite: float
    looks: float
    verdict: str


def registered() -> Registration:
    """Return the plan, by the rates of the subject that is as planned."""
    preset = presets()["paper"]
    made = draft(MODEL, preset, "paper", TITLES)
    claims = tuple(
        claim.model_copy(
            update={
                "arms": {
                    name: arm.model_copy(
                        update={"guess": _guess({**claim.where, **arm.where}, arm)}
                    )
                    for name, arm in claim.arms.items()
                }
            }
        )
        for claim in made.claims.claims
    )
    made = made.model_copy(update={"claims": made.claims.model_copy(update={"claims": claims})})
    return made.model_copy(update={"planned": tuple(one.planned for one in plan(made, preset))})


def _guess(where: Mapping[str, Any], arm: Any) -> float:
    pinned = where.get("defense") == "pin"
    if arm.value == "utility":
        return 0.99
    if arm.value == "over_refusal":
        return 0.01
    return AS_PLANNED[ARMS.index(_arm(where, pinned=pinned))]


def _arm(facts: Mapping[str, Any], *, pinned: bool) -> str:
    if str(facts.get("rounds")) == "3":
        return "3 rounds"
    if facts.get("defense") == "system_channel":
        return "system_channel"
    return "pin" if pinned else str(facts["condition"])


def drawn(
    subject: Subject, requests: int, rng: np.random.Generator
) -> dict[str, npt.NDArray[np.bool_]]:
    """Return, by arm, what happens of each request; the last two are what is not done of the allowed."""
    rates = (*subject.violation, *(1 - one for one in subject.utility))
    if subject.correlation:
        made = chances(rates, subject.correlation, (1, requests), rng)
        chance = np.stack([one[0] for one in made])
    else:
        chance = np.repeat(np.asarray(rates)[:, None], requests, axis=1)
    hits = rng.random(chance.shape) < chance
    return dict(zip((*ARMS, "allowed", "allowed, pin"), hits, strict=True))


@lru_cache(maxsize=100_000)
def _decided(table: tuple[int, ...], expected: Expected, margin: float, value: Value) -> Decided:
    """Return what a test says of pairs: of both, of the first alone, of the second alone, of none."""
    a = np.repeat((1.0, 1.0, 0.0, 0.0), table)
    b = np.repeat((1.0, 0.0, 1.0, 0.0), table)
    return decide(Outcomes(a, b, np.arange(len(a))), expected, margin, value)


def simulated(hits: Mapping[str, npt.NDArray[np.bool_]]) -> Measure:
    """Return what measures a claim on drawn outcomes; the frame says how many requests there are."""

    def measure(claim: Claim, claims: Claims, part: pd.DataFrame) -> Answered:
        tests: list[Tested] = []
        for test in claim.tests:
            a, b = (_outcomes(claim, name, hits)[: len(part)] for name in (test.a, test.b))
            table = tuple(int(one.sum()) for one in (a & b, a & ~b, ~a & b, ~a & ~b))
            value = claim.arms[test.a].value
            decided = _decided(table, test.b_is, claims.margin, value)
            compared = Compared("", test.a, test.b, value, decided.comparison)
            tests.append(Tested(test, decided, decided.why, compared))
        rates = {name: tests[0].decided.difference for name in claim.arms if tests[0].decided}
        p_value = claim_p_value(tests)
        return Answered(
            claim,
            rates,
            dict.fromkeys(claim.arms),
            tuple(tests),
            "not measured",
            (),
            p_value,
            None,
            frozenset(),
            ("direct",),
        )

    return measure


def _outcomes(
    claim: Claim, name: str, hits: Mapping[str, npt.NDArray[np.bool_]]
) -> npt.NDArray[np.bool_]:
    arm = claim.arms[name]
    where = {**claim.where, **arm.where}
    pinned = where.get("defense") == "pin"
    if arm.value == "utility":
        return ~hits["allowed, pin" if pinned else "allowed"]
    if arm.value == "over_refusal":
        return hits["allowed, pin" if pinned else "allowed"]
    return hits[_arm(where, pinned=pinned)]


def run(runs: int, seed: int, only: Sequence[int] = ()) -> Iterator[Row]:
    """Yield the rows of all subjects; equal seeds give equal rows."""
    made = registered()
    sizes = {
        one.title: [
            {"drawn": -(-one.pairs * look // made.looks)} for look in range(1, made.looks + 1)
        ]
        for one in made.planned
    }
    requests = max(one.pairs for one in made.planned)
    # One row a request, each a cluster of its own; the outcomes are drawn.
    frame = pd.DataFrame({"family": "drawn", "seed": range(requests), "allowed": False})
    pairs = {one.title: one.pairs for one in made.planned}
    for at, subject in enumerate(SUBJECTS):
        if only and at not in only:
            continue
        counts: Counter[tuple[str, str]] = Counter()
        looks: Counter[str] = Counter()
        any_same = any_opposite = 0
        for number in range(runs):
            rng = np.random.default_rng((seed, at, number))
            measure = simulated(drawn(subject, requests, rng))
            found = looked(made.claims, frame, sizes, made.looks, measure)
            verdicts = {one.claim.title: one.verdict for one in found.answered}
            counts.update(verdicts.items())
            any_same += "same" in verdicts.values()
            any_opposite += "opposite" in verdicts.values()
            looks.update({name: found.decided.get(name, made.looks) for name in verdicts})
        for name in TITLES:
            same, opposite = (counts[name, verdict] / runs for verdict in ("same", "opposite"))
            wrong = subject.true and same < LEAST_TRUE
            yield Row(subject.name, name, pairs[name], subject.true, runs, same, opposite,
                      looks[name] / runs, "too seldom" if wrong else "as it should be")  # fmt: skip
        wrong = not subject.true and any_same / runs > MOST_FALSE
        yield Row(subject.name, "any of them", 0, subject.true, runs, any_same / runs,
                  any_opposite / runs, made.looks, "too often" if wrong else "as it should be")  # fmt: skip


def text(rows: Sequence[Row]) -> str:
    """Return the table for people."""
    head = ("subject", "claim", "requests", "same", "opposite", "looks", "")
    body = [
        [one.subject, one.claim, one.pairs or "-", f"{100 * one.same:.1f} %",
         f"{100 * one.opposite:.1f} %", f"{one.looks:.1f}", one.verdict]
        for one in rows
    ]  # fmt: skip
    return f"{Table(head, body).text()}\n\n{rows[0].runs} simulated reproductions of each subject."


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; return 1 if a claim is decided wrongly too often, else 0."""
    parser = argparse.ArgumentParser(description="Decisions about synthetic subjects.")
    parser.add_argument("--csv", type=Path, help="write all rows here")
    parser.add_argument("--runs", type=int, default=1000, help="of each subject")
    parser.add_argument("--seed", type=int, default=20261125)
    parser.add_argument("--only", type=int, nargs="*", default=[], help="places of subjects")
    given = parser.parse_args(arguments)
    rows = list(run(given.runs, given.seed, given.only))
    if given.csv:
        given.csv.parent.mkdir(parents=True, exist_ok=True)
        given.csv.write_text(Table.of([asdict(row) for row in rows]).csv(), encoding="utf-8")
    print(text(rows))
    return int(any(row.verdict != "as it should be" for row in rows))


if __name__ == "__main__":
    sys.exit(main())
