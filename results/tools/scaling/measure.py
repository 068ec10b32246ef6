"""What a cell costs, and how fast 1, 2 and 4 workers are: on a Ray cluster of this machine.

Processor seconds, so that another program's work beside it counts less than on a clock.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from constraintrot.report.cells import commit
from constraintrot.runs.sweep.cell import Cell
from constraintrot.runs.sweep.driver import State, drive
from constraintrot.runs.sweep.folder import SweepFolder
from constraintrot.runs.sweep.loading import load
from constraintrot.runs.sweep.on_ray import Tally, view
from constraintrot.runs.sweep.play import Played, play
from constraintrot.runs.sweep.ray_pool import RayPool

REPEATS = 3
# Of cells that only warm a process up; the smallest family has some 96 variants.
WARM_SEED = 80
_IMPORTS = "import inspect_ai, constraintrot._registry"
_OPTIONS: dict[str, Any] = {"log_realtime": False, "score_display": False}


@dataclass(frozen=True)
class Measured:
    """So many workers at work.

    Attributes:
        workers: processes that played cells.
        cells: of the run, after each worker had played one.
        episodes: of those.
        seconds: by the clock.
        driver_start: processor seconds of the driver, to hand over a cell.
        driver_end: likewise for all else that it did, a cell.
    """

    workers: int
    cells: int
    episodes: int
    seconds: float
    driver_start: float
    driver_end: float


def costs() -> dict[str, float]:
    """Processor seconds of a worker, and seconds of a store in a folder."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", _IMPORTS], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    imported = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    with tempfile.TemporaryDirectory() as place:
        folder, store = SweepFolder(f"{place}/sweep"), f"{place}/store"
        _played(cells(1, WARM_SEED)[:1], folder)
        small, some = _played(cells(1)[:REPEATS], folder)
        large, many = _played(cells(3, 50)[:REPEATS], folder)
        put: list[float] = []
        for cell in cells(3, 50)[:REPEATS]:
            began = time.perf_counter()
            commit(store, folder.log(cell.id), cell=cell.id)
            put.append(time.perf_counter() - began)
    episode = (large - small) / (many - some)
    return {
        "import_seconds": imported,
        "episode_seconds": episode,
        "cell_seconds": max(0.0, small - some * episode),
        "folder_store_seconds": statistics.median(put),
    }


def cells(variants: int, seed: int = 0) -> list[Cell]:
    """The cells of ``quick``, of other variants for another seed."""
    return [
        Cell({**one.task, "args": {**one.args, "seed": seed}})
        for one in load("quick", {"variants": variants, "block": variants}).cells
    ]


def _played(some: Sequence[Cell], folder: SweepFolder) -> tuple[float, int]:
    """Median processor seconds of a cell, and its episodes."""
    spent: list[float] = []
    episodes = 0
    for cell in some:
        began = time.process_time()
        episodes = int(play(cell, folder, _OPTIONS).counts["episodes"])
        spent.append(time.process_time() - began)
    return statistics.median(spent), episodes


def at_work(workers: int, variants: int) -> Measured:
    """Play ``quick`` on so many workers."""
    with tempfile.TemporaryDirectory() as place:
        folder = SweepFolder(place)
        pool = _Timed("local", folder, _OPTIONS, cells=[], workers=workers)
        with closing(pool):
            # Each worker has imported what it needs before the clock begins.
            drive(cells(1, WARM_SEED)[: 3 * workers], folder, pool)
            pool.spent = 0.0
            planned, tally = cells(variants), Tally()
            by_id = {one.id: one for one in planned}

            def listen(state: State, played: Played | None) -> None:
                if played is not None and played.log:
                    tally.add(by_id[played.cell], played.counts)
                    view(state, tally, len(planned))

            began, own = time.perf_counter(), time.process_time()
            drive(planned, folder, pool, listen=listen)
            seconds, spent = time.perf_counter() - began, time.process_time() - own
    number = len(planned)
    return Measured(
        workers, number, round(tally.played), seconds,
        pool.spent / number, (spent - pool.spent) / number,
    )  # fmt: skip


class _Timed(RayPool):
    """A pool that knows its driver's processor seconds for handing over cells."""

    spent = 0.0

    def start(self, cell: Cell) -> None:
        """As a pool's."""
        began = time.process_time()
        super().start(cell)
        self.spent += time.process_time() - began


def machine() -> dict[str, Any]:
    """What it was measured on."""
    model = ""
    if Path("/proc/cpuinfo").exists():
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        model = next((one.partition(": ")[2] for one in lines if one.startswith("model name")), "")
    return {"cores": os.cpu_count(), "processor": model, "load": round(os.getloadavg()[0], 1)}


def plain(runs: Sequence[Measured]) -> list[dict[str, Any]]:
    """Runs as plain data."""
    return [{key: round(value, 6) for key, value in asdict(one).items()} for one in runs]
