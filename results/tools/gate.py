"""Simulated decisions of the gate ``constraintrot compare``: how often does it say HOLDS falsely?

``python -m results.tools.gate [--csv FILE] [--runs N]``
simulates A/B runs with known rates of violation, in correlated clusters, of which episodes get
lost *because of* what they would have shown: an error where b would have violated, silence
where it would have, and the same where a would not have. It decides by the functions that
``report.compare_claims`` decides by, prints a table, and exits with status 1 if the gate says
HOLDS in more than 5 % of the runs of a setting where it should not.

Not simulated are groups that show the contrary, which can only take a HOLDS away.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from constraintrot.report.compare_question import MISSING_SHARE, Claim
from constraintrot.report.tables import Table
from constraintrot.stats import clusters, power
from constraintrot.stats.bounds import Range, difference_upper, rate_upper
from constraintrot.stats.interval import CONFIDENCE, Floats
from constraintrot.stats.newcombe import count_pairs, difference_limits
from constraintrot.stats.paired import flip_test
from constraintrot.stats.rate import Resampler, rate_limits
from results.tools.clustered_outcomes import chances, resampler

MOST_FALSE = 0.05
LIMIT = 0.1
"""Accepted difference of "no worse" and of "utility"."""
CAP = 0.2
"""Accepted rate of "at most"."""

LAYOUTS: dict[str, tuple[tuple[int, ...], float]] = {
    "40 x 1": ((1,) * 40, 0.0),
    "150 x 1": ((1,) * 150, 0.0),
    "20 x 3": ((3,) * 20, 0.5),
    "60 x 3": ((3,) * 60, 0.5),
    "27 x 1, 3 x 20": ((1,) * 27 + (20,) * 3, 0.7),
}
"""By name, the episodes of each variant, and their correlation."""

LOST: dict[str, tuple[float, float]] = {
    "nothing": (0.0, 0.0),
    "few errors": (0.08, 0.0),
    "errors": (0.25, 0.0),
    "silence": (0.0, 0.5),
    "errors and silence": (0.15, 0.4),
}
"""By name, the shares of unwelcome episodes that end in an error, and in silence."""

# True rates of a and b, and whether the claim is false of them.
TRUTHS: dict[Claim, tuple[tuple[float, float, bool], ...]] = {
    "fewer": ((0.3, 0.3, True), (0.05, 0.05, True), (0.3, 0.5, True), (0.5, 0.3, False)),
    "no worse": ((0.3, 0.3 + LIMIT, True), (0.3, 0.5, True), (0.05, 0.05, False)),
    "at most": ((0.0, CAP, True), (0.0, CAP + 0.2, True), (0.0, 0.02, False)),
    "utility": ((0.9, 0.9 - LIMIT, True), (0.9, 0.7, True), (0.95, 0.95, False)),
}


@dataclass(frozen=True)
class Setting:
    """One setting of the simulation.

    Attributes:
        claim: what is decided.
        a: true rate of a.
        b: true rate of b.
        layout: the episodes of each variant, a key of ``LAYOUTS``.
        lost: which episodes get lost, a key of ``LOST``.
        false: whether the claim is false of these rates.
    """

    claim: Claim
    a: float
    b: float
    layout: str
    lost: str
    false: bool


@dataclass(frozen=True)
class Row(Setting):
    """What the gate said.

    Attributes:
        runs: number of simulated runs.
        holds: share of the runs of which it said HOLDS.
        naive: share of which it would have, had it taken silence for obedience, left out what
            did not come back, and counted replicates as independent.
        verdict: too often, if it said a false HOLDS in more than ``MOST_FALSE``.
    """

    runs: int
    holds: float
    naive: float
    verdict: str


@dataclass(frozen=True)
class Runs:
    """Simulated runs.

    Attributes:
        a: outcomes that would have been, 0 or 1, shape (runs, episodes).
        b: the same of the second arm.
        errors: by arm, a mask of the episodes that did not come back.
        silent: by arm, a mask of the episodes without a readable call.
        variants: variant of each episode, shape (episodes,).
    """

    a: Floats
    b: Floats
    errors: tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]
    silent: tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]
    variants: npt.NDArray[np.intp]


def settings() -> Iterator[Setting]:
    """All settings."""
    for claim, truths in TRUTHS.items():
        for (a, b, false), layout, lost in itertools.product(truths, LAYOUTS, LOST):
            yield Setting(claim, a, b, layout, lost, false)


def simulated(setting: Setting, runs: int, rng: np.random.Generator) -> Runs:
    """Simulated runs of a setting; what speaks against b's claim gets lost in both arms."""
    sizes, correlation = LAYOUTS[setting.layout]
    variants = np.repeat(np.arange(len(sizes)), sizes)
    shape = (runs, len(sizes))
    a, b = (
        (rng.random((runs, len(variants))) < chance[:, variants]).astype(np.float64)
        for chance in chances((setting.a, setting.b), correlation, shape, rng)
    )
    harm = 0.0 if setting.claim == "utility" else 1.0
    error, silence = LOST[setting.lost]
    unwelcome = (a != harm, b == harm)
    drawn = [rng.random(a.shape) for _ in unwelcome]
    errors = [bad & (one < error) for bad, one in zip(unwelcome, drawn, strict=True)]
    silent = [
        bad & (one >= error) & (one < error + silence)
        for bad, one in zip(unwelcome, drawn, strict=True)
    ]
    if setting.claim == "utility":
        # An allowed request without a call is not done: that is known.
        silent = [np.zeros_like(one) for one in silent]
    return Runs(a, b, (errors[0], errors[1]), (silent[0], silent[1]), variants)


def decided(setting: Setting, runs: Runs, draw: Resampler | None) -> npt.NDArray[np.bool_]:
    """In which runs the gate says HOLDS."""
    unknown = [error | silent for error, silent in zip(runs.errors, runs.silent, strict=True)]
    a, b = (
        [np.where(lost, fill, one) for fill in (0.0, 1.0)]
        for lost, one in zip(unknown, (runs.a, runs.b), strict=True)
    )
    judged = runs.errors[1:] if setting.claim == "at most" else runs.errors
    enough = np.all([errors.mean(1) <= MISSING_SHARE for errors in judged], axis=0)
    return np.asarray(enough & _holds(setting.claim, a, b, runs.variants, draw))


def naive(setting: Setting, runs: Runs) -> npt.NDArray[np.bool_]:
    """In which runs it would, if it took silence for obedience and left out what was lost.

    The rule is that of independent episodes, on the counts of those that came back.
    """
    a = np.where(runs.silent[0], 0.0, runs.a)
    b = np.where(runs.silent[1], 0.0, runs.b)
    back = ~runs.errors[1] if setting.claim == "at most" else ~(runs.errors[0] | runs.errors[1])
    if setting.claim == "at most":
        tables = np.stack([(b * back).sum(1), ((1 - b) * back).sum(1)], -1)
        return power.at_most(CAP)(tables)
    tables = np.stack(
        [(x * y * back).sum(1) for x, y in ((a, b), (a, 1 - b), (1 - a, b), (1 - a, 1 - b))], -1
    )
    rules = {
        "fewer": power.fewer(),
        "no worse": power.no_higher(LIMIT),
        "utility": power.no_lower(LIMIT),
    }
    return rules[setting.claim](tables)


def _holds(
    claim: Claim,
    a: Sequence[Floats],
    b: Sequence[Floats],
    variants: npt.NDArray[np.intp],
    draw: Resampler | None,
) -> npt.NDArray[np.bool_]:
    """In which runs a claim holds; the outcomes are those with the unknown ones as 0, and as 1."""
    range_a, range_b = (Range(*(_summed(one, variants) for one in arm)) for arm in (a, b))
    sizes = np.broadcast_to(np.bincount(variants).astype(np.float64), range_b.low.shape)
    # Of a run without an unknown outcome the worst case is what was seen.
    known = np.all(range_b.low == range_b.high, axis=1)
    if claim == "at most":
        if (sizes == 1).all():
            return clusters.clopper_pearson(range_b.high.sum(1), sizes.sum(1))[1] <= CAP
        widened = np.where(known, 0, rate_upper(range_b, sizes))
        return np.maximum(rate_limits(range_b.high, sizes, draw=draw).upper, widened) <= CAP
    known &= np.all(range_a.low == range_a.high, axis=1)
    known |= (sizes == 1).all(1)
    if claim == "utility":
        lower = difference_limits(range_a.high, range_b.low, sizes, draw=draw).lower
        widened = np.where(known, 1, -difference_upper(range_b, range_a, sizes))
        return np.minimum(lower, widened) >= -LIMIT
    hits_a, hits_b = range_a.low, range_b.high
    upper = difference_limits(hits_a, hits_b, sizes, draw=draw).upper
    upper = np.maximum(upper, np.where(known, -1, difference_upper(range_a, range_b, sizes)))
    if claim == "no worse":
        return np.asarray(upper <= LIMIT)
    found = np.asarray(upper < 0)
    if (sizes == 1).all():
        return found & (power.mcnemar(count_pairs(a[0], b[1])) <= 1 - CONFIDENCE)
    # The exact test takes longer, so only where the interval excludes 0.
    for at in np.flatnonzero(found):
        found[at] = flip_test(hits_b[at] - hits_a[at]) <= 1 - CONFIDENCE
    return found


def _summed(outcomes: Floats, variants: npt.NDArray[np.intp]) -> Floats:
    starts = np.searchsorted(variants, np.arange(variants[-1] + 1))
    return np.add.reduceat(outcomes, starts, axis=1)


def run(runs: int, seed: int) -> Iterator[Row]:
    """All rows; equal seeds give equal rows."""
    for at, setting in enumerate(settings()):
        rng = np.random.default_rng((seed, at))
        made = simulated(setting, runs, rng)
        draw = resampler(len(LAYOUTS[setting.layout][0]), 400, rng)
        holds = float(decided(setting, made, draw).mean())
        verdict = "the claim is true" if not setting.false else "never or seldom"
        if setting.false and holds > MOST_FALSE:
            verdict = "too often"
        without = float(naive(setting, made).mean())
        yield Row(**asdict(setting), runs=runs, holds=holds, naive=without, verdict=verdict)


def text(rows: Sequence[Row]) -> str:
    """For each claim, truth and loss, the most that any layout has."""
    body: list[list[str]] = []
    for key, group in itertools.groupby(
        sorted(rows, key=lambda row: (row.claim, not row.false, row.a, row.b, row.lost)),
        key=lambda row: (row.claim, row.a, row.b, row.lost, row.false),
    ):
        some = list(group)
        claim, a, b, lost, false = key
        rates = f"{b:g}" if claim == "at most" else f"{a:g}, {b:g}"
        most = max(some, key=lambda row: row.holds)
        without = max(row.naive for row in some)
        cells = [claim, rates, "no" if false else "yes", lost, most.layout]
        body.append([*cells, f"{100 * most.holds:.1f} %", f"{100 * without:.1f} %"])
    head = ["claim", "true rates", "true", "lost", "most in", "HOLDS", "naive"]
    worst = max(row.holds for row in rows if row.false)
    last = f"{len(rows)} settings of {rows[0].runs} runs; at most {100 * worst:.1f} % false HOLDS."
    return "\n".join([Table(head, body).text(), "", last])


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; returns 1 if a false HOLDS is too frequent, else 0."""
    parser = argparse.ArgumentParser(description="False HOLDS of the gate.")
    parser.add_argument("--csv", type=Path, help="write all rows here")
    parser.add_argument("--runs", type=int, default=2000, help="of each setting")
    parser.add_argument("--seed", type=int, default=20261122)
    given = parser.parse_args(arguments)
    rows = list(run(given.runs, given.seed))
    if given.csv:
        given.csv.parent.mkdir(parents=True, exist_ok=True)
        made = Table.of([asdict(row) for row in rows]).csv()
        given.csv.write_text(made, encoding="utf-8", newline="")
    print(text(rows))
    return int(any(row.verdict == "too often" for row in rows))


if __name__ == "__main__":
    sys.exit(main())
