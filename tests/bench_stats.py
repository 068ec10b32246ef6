"""Benchmark of the cluster bootstrap: figures, no assertion on time.

``python tests/bench_stats.py``: 10,000 resamples over 100,000 episodes in
clusters of several sizes, against ``scipy.stats.bootstrap`` on the same ratio of
the same clusters in the same process; then ours over ten times as many episodes;
and the peak memory of a process that does ours alone.
"""

import json
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from constraintrot.stats import bootstrap, clusters
from constraintrot.stats.interval import Floats
from constraintrot.stats.rate import drawer, rate_limits, ratio

EPISODES, RESAMPLES = 100_000, 10_000
PER_CLUSTER = (10, 100, 1_000)
ROOT = Path(__file__).parent.parent


def episodes(n: int, each: int, yes_or_no: bool = True) -> tuple[Floats, Any]:
    """Outcomes and cluster labels of n episodes, in clusters of ``each``."""
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(n // each), each)
    chance = rng.beta(0.7, 1.63, n // each)[labels]
    hits = (rng.random(n) < chance).astype(np.float64)
    return (hits if yes_or_no else hits + rng.random(n)), labels


def ours(n: int, each: int, yes_or_no: bool = True) -> float:
    """Seconds from episodes to BCa limits."""
    values, labels = episodes(n, each, yes_or_no)
    start = time.perf_counter()
    found = clusters.group([values], labels)
    if yes_or_no:
        limits = rate_limits(found.column(0), found.sizes, draw=drawer(0))
        assert limits.resampled
        return time.perf_counter() - start
    totals = np.column_stack([found.column(0), found.sizes])
    resampled = bootstrap.resample(totals, ratio, RESAMPLES)
    bootstrap.bca(resampled, ratio(totals.sum(0)), bootstrap.jackknife(totals, ratio))
    return time.perf_counter() - start


def theirs(n: int, each: int) -> float:
    """Seconds of scipy's, from the same episodes to BCa limits."""
    from scipy import stats

    values, labels = episodes(n, each)

    def share(hits: Floats, sizes: Floats, axis: int) -> Floats:
        return np.asarray(hits.sum(axis) / sizes.sum(axis))

    start = time.perf_counter()
    found = clusters.group([values], labels)
    stats.bootstrap(
        (found.column(0), found.sizes),
        share,
        n_resamples=RESAMPLES,
        paired=True,
        vectorized=True,
        # Whole, its index array alone would be larger than the memory that ours may take.
        batch=max(1, 10_000_000 // len(found.sizes)),
        rng=np.random.default_rng(0),
    )
    return time.perf_counter() - start


def memory(each: int) -> float:
    """Peak MB of a process that does ours over all episodes."""
    code = (
        f"from tests.bench_stats import ours, peak, EPISODES; ours(EPISODES, {each}); print(peak())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    return round(float(done.stdout.split()[-1]))


def peak() -> float:
    """Peak MB of this process; what getrusage says of a child may be its parent's."""
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    (line,) = (line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1024


def main() -> None:
    """Print one line of figures for each size of cluster."""
    ours(1_000, 10)  # imports
    for each in PER_CLUSTER:
        mine, scipys = ours(EPISODES, each), theirs(EPISODES, each)
        figures = {
            "episodes": EPISODES,
            "clusters": EPISODES // each,
            "resamples": RESAMPLES,
            "ours_s": round(mine, 3),
            "scipy_s": round(scipys, 2),
            "times": round(scipys / mine, 1),
            "ours_peak_mb": memory(each),
        }
        print(json.dumps(figures), flush=True)
    for n in (EPISODES, 10 * EPISODES):
        print(json.dumps({"episodes": n, "each": 10, "ours_s": round(ours(n, 10), 3)}), flush=True)
    real = ours(EPISODES, 10, yes_or_no=False)
    print(json.dumps({"episodes": EPISODES, "each": 10, "real_valued_s": round(real, 2)}))


if __name__ == "__main__":
    main()
