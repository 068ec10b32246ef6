"""Simulated coverage of the report's nominal 95 % intervals.

``python -m results.tools.coverage [--csv FILE] [--simulations N]``
simulates clustered outcomes with known rates, beta-binomial with a Gaussian copula
between arms, and runs the same functions that compute the report's intervals. It
prints a table, and exits with status 1 if an interval of the report covers less than
93 %; above 97 % it is called conservative. The table also has the methods that were
not chosen: Wilson's interval ignoring the clusters, and the bootstrap wherever it can
be computed.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from constraintrot.report.tables import Table
from constraintrot.stats import bootstrap, clusters
from constraintrot.stats.agreement import agreement_limits, alpha_chance, kappa_chance
from constraintrot.stats.curves import rounds_to_loss
from constraintrot.stats.interval import TOO_FEW, Floats, Interval, around
from constraintrot.stats.mediation import share_carried
from constraintrot.stats.newcombe import (
    count_pairs,
    difference_limits,
    pair_limits,
    square_and_add,
)
from constraintrot.stats.rate import BCA, Limits, Resampler, rate_limits, ratio
from results.tools.clustered_outcomes import (
    EFFECTS,
    PAIRS,
    RATERS,
    RATES,
    Cell,
    grid,
    resampler,
    simulate,
    two_raters,
    wilson,
)

LEAST, MOST = 0.93, 0.97
CHOSEN = "chosen"
KEPT = (0.1, 0.5, 0.9, 0.97)
"""True shares kept after two rounds."""
IGNORED = "Wilson, clusters ignored"


@dataclass(frozen=True)
class Row:
    """Coverage of one method in one cell.

    Attributes:
        statistic: rate, difference, unpaired (difference), share, kept (of a survival
            curve), kappa or alpha.
        truth: the true value of the statistic.
        rates: the true rates of the arms.
        clusters: number of clusters.
        size: name of the cluster sizes, a key of ``clustered_outcomes.SIZES`` or ``UNEVEN``.
        correlation: intra-cluster correlation.
        method: ``CHOSEN``, or the name of another method.
        coverage: share of the printed intervals that include the truth; None if none was
            printed.
        error: Monte Carlo standard error of ``coverage``.
        width: mean width of the printed intervals.
        bootstrap: share of simulations in which the bootstrap was used.
        printed: share of simulations that have an interval.
        verdict: holds, conservative, below 93 %, zero width, no interval or too few
            clusters.
    """

    statistic: str
    truth: float
    rates: str
    clusters: int
    size: str
    correlation: float
    method: str
    coverage: float | None
    error: float | None
    width: float | None
    bootstrap: float
    printed: float
    verdict: str


def rate_rows(cell: Cell, simulations: int, resamples: int, seed: Sequence[int]) -> list[Row]:
    """Coverage of a rate's interval."""
    rng = np.random.default_rng(seed)
    (hits,) = simulate(cell, simulations, rng)
    sizes = np.broadcast_to(cell.sizes, hits.shape)
    draw = resampler(cell.clusters, resamples, rng)
    n, truth = sizes.sum(-1), cell.rates[0]
    rows = [_row("rate", truth, cell, CHOSEN, _rate(hits, sizes, cell, draw))]
    ignored = Limits(*wilson(hits.sum(-1), n), np.zeros(simulations, bool))
    rows.append(_row("rate", truth, cell, IGNORED, ignored))
    return rows + _boot("rate", truth, cell, np.stack([hits, sizes], -1), draw)


def _rate(hits: Floats, sizes: Floats, cell: Cell, draw: Resampler) -> Limits:
    if cell.size != "1":
        return rate_limits(hits, sizes, draw=draw)
    limits = clusters.clopper_pearson(hits.sum(-1), sizes.sum(-1))
    return Limits(*limits, np.zeros(len(hits), bool))


def difference_rows(cell: Cell, simulations: int, resamples: int, seed: Sequence[int]) -> list[Row]:
    """Coverage of a paired difference's interval."""
    rng = np.random.default_rng(seed)
    a, b = simulate(cell, simulations, rng)
    sizes = np.broadcast_to(cell.sizes, a.shape)
    draw = resampler(cell.clusters, resamples, rng)
    truth = cell.rates[1] - cell.rates[0]
    chosen = difference_limits(a, b, sizes, draw=draw)
    rows = [_row("difference", truth, cell, CHOSEN, chosen)]
    if cell.size == "1":
        plain = pair_limits(count_pairs(a, b), find=wilson)
        limits = Limits(*plain, np.zeros(simulations, bool))
        rows.append(_row("difference", truth, cell, "Newcombe of Wilson", limits))
    return rows + _boot("difference", truth, cell, np.stack([b - a, sizes], -1), draw)


def unpaired_rows(cell: Cell, simulations: int, resamples: int, seed: Sequence[int]) -> list[Row]:
    """Coverage of the difference of two rates of different episodes."""
    rng = np.random.default_rng(seed)
    ends: list[tuple[Floats, Floats, Floats]] = []
    for arm in range(2):
        # Drawn anew for each arm, so nothing ties them.
        hits = simulate(cell, simulations, rng)[arm]
        sizes = np.broadcast_to(cell.sizes, hits.shape)
        limits = _rate(hits, sizes, cell, resampler(cell.clusters, resamples, rng))
        ends.append((hits.sum(-1) / sizes.sum(-1), limits.lower, limits.upper))
    both = Limits(
        *square_and_add(ends[0], ends[1], np.zeros(simulations)), np.zeros(simulations, bool)
    )
    return [_row("unpaired", cell.rates[1] - cell.rates[0], cell, CHOSEN, both)]


def _limits(printed: Sequence[Interval]) -> Limits:
    return Limits(
        np.asarray([one.lower for one in printed]),
        np.asarray([one.upper for one in printed]),
        np.zeros(len(printed), bool),
    )


def share_rows(cell: Cell, simulations: int, resamples: int, seed: Sequence[int]) -> list[Row]:
    """Coverage of the share of an effect that is mediated by deletion, where it is printed."""
    rng = np.random.default_rng(seed)
    control, restored, compacted = simulate(cell, simulations, rng)
    sizes = np.broadcast_to(cell.sizes, control.shape)
    draw = resampler(cell.clusters, resamples, rng)
    effects = [
        _intervals(control, arm, difference_limits(control, arm, sizes, draw=draw), sizes)
        for arm in (compacted, restored)
    ]
    shares = [share_carried(total, direct) for total, direct in zip(*effects, strict=True)]
    printed = [share for share in shares if isinstance(share, Interval)]
    truth = 1 - (cell.rates[1] - cell.rates[0]) / (cell.rates[2] - cell.rates[0])
    return [_row("share", truth, cell, CHOSEN, _limits(printed), len(printed) / simulations)]


def curve_rows(cell: Cell, simulations: int, resamples: int, seed: Sequence[int]) -> list[Row]:
    """Coverage of the share kept after two rounds, where a third is observed for one round only."""
    rng = np.random.default_rng(seed)
    of = np.repeat(np.arange(cell.clusters), cell.sizes.astype(int))
    kept = cell.rates[0]
    printed: list[Interval] = []
    for _ in range(simulations):
        # With this chance for each, two episodes of a cluster are copies as often as the correlation.
        copied = rng.random(len(of)) < cell.correlation**0.5
        fate = np.where(copied, rng.random(cell.clusters)[of], rng.random(len(of)))
        lost_at = np.select([fate < 1 - kept**0.5, fate < 1 - kept], [1, 2], 3)
        seen = np.where(rng.random(len(of)) < 1 / 3, 1, 2)
        curve = rounds_to_loss(np.minimum(lost_at, seen), lost_at <= seen, of)
        last = curve.steps[-1]
        if last.time == 2 and isinstance(last.kept, Interval):
            printed.append(last.kept)
    return [_row("kept", kept, cell, CHOSEN, _limits(printed), len(printed) / simulations)]


def agreement_rows(cell: Cell, simulations: int, _: int, seed: Sequence[int]) -> list[Row]:
    """Coverage of the intervals of kappa and alpha, for two raters and two categories."""
    table, truth = two_raters(cell, simulations, np.random.default_rng(seed))
    apart, sizes = table[..., 1] + table[..., 2], table.sum(-1)
    ones = 2 * table[..., 0] + apart
    counts = np.stack([ones, 2 * sizes - ones], -1)
    rows: list[Row] = []
    for name, columns, chance in (
        ("kappa", table[..., [3, 2, 1, 0]], kappa_chance),
        ("alpha", counts, alpha_chance),
    ):
        # Without two categories there is no value, so no interval is printed.
        defined = chance(columns.sum(-2)) > 1e-12
        ends = agreement_limits(apart[defined], sizes[defined], columns[defined], chance)
        limits = Limits(*ends, np.zeros(int(defined.sum()), bool))
        rows.append(_row(name, truth, cell, CHOSEN, limits, float(defined.mean())))
    return rows


def run(simulations: int, resamples: int, seed: int) -> Iterator[Row]:
    """All rows, cell by cell; equal seeds give equal rows."""
    kinds = (
        (rate_rows, grid((rate,) for rate in RATES)),
        (difference_rows, grid(PAIRS)),
        (share_rows, (cell for cell in grid(EFFECTS) if cell.clusters > 5 and cell.size == "3")),
        (
            curve_rows,
            (cell for cell in grid((kept,) for kept in KEPT) if cell.size in ("1", "3")),
        ),
        (unpaired_rows, grid(PAIRS)),
        (agreement_rows, grid(RATERS)),
    )
    names = (("rate",), ("difference",), ("share",), ("kept",), ("unpaired",), ("kappa", "alpha"))
    for kind, (rows, cells) in enumerate(kinds):
        for at, cell in enumerate(cells):
            if cell.clusters > 1 and clusters.kish(cell.sizes) >= 2:
                yield from rows(cell, simulations, resamples, (seed, kind, at))
            else:
                yield from (_none(name, cell) for name in names[kind])


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; returns 1 if an interval of the report covers too little, else 0."""
    parser = argparse.ArgumentParser(description="Coverage of the report's intervals.")
    parser.add_argument("--csv", type=Path, help="write all rows here")
    parser.add_argument("--simulations", type=int, default=2000, help="of each cell")
    parser.add_argument("--resamples", type=int, default=999, help="of each bootstrap")
    parser.add_argument("--seed", type=int, default=20261101)
    given = parser.parse_args(arguments)
    rows = list(run(given.simulations, given.resamples, given.seed))
    if given.csv:
        write(rows, given.csv)
    print(text(rows, given.simulations))
    return int(any(row.method == CHOSEN and row.verdict == BELOW for row in rows))


BELOW = f"below {LEAST:.0%}"


def write(rows: Sequence[Row], path: Path) -> None:
    """Write all rows as CSV."""
    path.parent.mkdir(parents=True, exist_ok=True)
    made = Table.of([asdict(row) for row in rows]).csv()
    path.write_text(made, encoding="utf-8", newline="")


def text(rows: Sequence[Row], simulations: int) -> str:
    """The chosen intervals cell by cell, then a summary of each method."""
    lines = [
        f"{simulations} simulations a cell; Monte Carlo standard error of a coverage of 95 %:"
        f" {100 * (0.95 * 0.05 / simulations) ** 0.5:.1f} points.",
        "",
    ]
    head = (
        "statistic", "rates", "clusters", "episodes each", "correlation", "coverage", "width",
        "bootstrap", "verdict",
    )  # fmt: skip
    cells: list[list[object]] = []
    for row in rows:
        if row.method == CHOSEN:
            cover = "-" if row.coverage is None else f"{100 * row.coverage:.1f} %"
            width = "-" if row.width is None else f"{row.width:.2f}"
            bootstrap = f"{100 * row.bootstrap:.0f} %"
            cells.append(
                [
                    row.statistic,
                    row.rates,
                    row.clusters,
                    row.size,
                    f"{row.correlation:g}",
                    cover,
                    width,
                    bootstrap,
                    row.verdict,
                ]
            )
    lines += [Table(head, cells).markdown(), ""]
    for statistic, method in dict.fromkeys((row.statistic, row.method) for row in rows):
        of_method = [row for row in rows if (row.statistic, row.method) == (statistic, method)]
        known = [row.coverage for row in of_method if row.coverage is not None]
        below = sum(row.verdict == BELOW for row in of_method)
        over = sum(row.verdict == "conservative" for row in of_method)
        lines.append(
            f"{statistic}, {method}: least {100 * min(known):.1f} %; of {len(known)} cells"
            f" {below} below {LEAST:.0%}, {over} conservative (over {MOST:.0%})."
        )
    return "\n".join(lines)


def _row(
    statistic: str, truth: float, cell: Cell, method: str, limits: Limits, printed: float = 1.0
) -> Row:
    holds = (limits.lower <= truth + 1e-9) & (truth - 1e-9 <= limits.upper)
    coverage = float(holds.mean()) if len(holds) else None
    widths = limits.upper - limits.lower
    return Row(
        statistic,
        round(truth, 4),
        " ".join(f"{rate:g}" for rate in cell.rates),
        cell.clusters,
        cell.size,
        cell.correlation,
        method,
        coverage,
        None if coverage is None else round(_error(coverage, len(holds)), 4),
        round(float(widths.mean()), 4) if len(holds) else None,
        float(limits.resampled.mean()) if len(holds) else 0.0,
        printed,
        _verdict(coverage, bool((widths <= 0).any())),
    )


def _error(coverage: float, simulations: int) -> float:
    return math.sqrt(coverage * (1 - coverage) / simulations)


def _verdict(coverage: float | None, zero: bool) -> str:
    if coverage is None:
        return "no interval"
    if coverage < LEAST:
        return BELOW
    if zero:
        return "zero width"
    return "conservative" if coverage > MOST else "holds"


def _none(statistic: str, cell: Cell) -> Row:
    rates = " ".join(f"{rate:g}" for rate in cell.rates)
    where = (cell.clusters, cell.size, cell.correlation)
    return Row(statistic, np.nan, rates, *where, CHOSEN, None, None, None, 0.0, 0.0, TOO_FEW)


def _boot(statistic: str, truth: float, cell: Cell, totals: Floats, draw: Resampler) -> list[Row]:
    """The bootstrap wherever it can be computed, also where it covers too little."""
    estimate, without = ratio(totals.sum(-2)), bootstrap.jackknife(totals, ratio)
    size = clusters.kish(totals[..., 1])
    lower, upper = bootstrap.bca(draw(totals, ratio), estimate, without, clusters=size)
    limits = Limits(lower, upper, np.ones(len(estimate), bool))
    return [_row(statistic, truth, cell, f"{BCA}, everywhere", limits)]


def _intervals(a: Floats, b: Floats, limits: Limits, sizes: Floats) -> list[Interval]:
    n = int(sizes[0].sum())
    estimates = (b - a).sum(-1) / n
    return [
        around(float(estimate), float(lower), float(upper), None, n, CHOSEN)
        for estimate, lower, upper in zip(estimates, limits.lower, limits.upper, strict=True)
    ]


if __name__ == "__main__":
    sys.exit(main())
