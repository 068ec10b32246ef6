"""A sweep with kills beside the same one in peace: ``make sweep-demo``.

Both play ``quick`` with scripted models, one of them behind an HTTP server that Ray starts, on a
Ray cluster of this machine's own. In one of them workers, the server and the driver are killed at
random, and with ``--s3`` the store: a bucket of moto's S3 server, which forgets all it had. The
driver is started again by the same command. Then the frames, of the logs or of the store, are
compared row by row. Exit status 1: a row is missing, there twice, or another. For Linux, whose
``/proc`` names the processes: only those are killed that this program started.

A row of ``--csv`` is a run; the columns:

- run: ``calm`` or ``killed``.
- cells, episodes: finished ones.
- drivers: how often the driver was started.
- killed_workers, killed_servers, killed_drivers, killed_stores: kills that hit.
- twice: episodes that the frame holds more than once.
- different: rows of the frame that the calm run has otherwise, or has not.
- seconds: of the whole run.
"""

from __future__ import annotations

import argparse
import csv
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from constraintrot.extras import require
from constraintrot.runs.sweep.ray_local import LocalCluster
from tests.runs.sweep.drill_processes import BUCKET, Bucket, descendants, end, kill

if TYPE_CHECKING:
    import pandas as pd

SERVER = "constraintrot.models.scripted.server"
_MOST_DRIVERS = 50
# Mean seconds between two kills: at least the first, and the second where work goes slowly.
_LEAST_SECONDS, _MOST_SECONDS = 3.0, 8.0
# What differs between two runs of the same: clocks, and names of logs.
_CLOCKS = (
    "seconds",
    "seconds_compaction",
    "seconds_defense",
    "log",
    "cached_tokens",
    "input_tokens",
)
_IDENTITY = (
    "agent", "compactor", "defense", "family", "locale", "seed", "condition", "replicate",
)  # fmt: skip


@dataclass
class Row:
    """A run; the attributes are the columns of the table, as the module says."""

    run: str
    cells: int = 0
    episodes: int = 0
    drivers: int = 0
    killed_workers: int = 0
    killed_servers: int = 0
    killed_drivers: int = 0
    killed_stores: int = 0
    twice: int = 0
    different: int = 0
    seconds: float = 0.0


@dataclass(frozen=True)
class Drill:
    """What is played.

    Attributes:
        folder: where the logs of both runs go.
        variants: variants of each family.
        epochs: replicates.
        block: most variants in a cell.
        workers: Ray's processors.
        compactors: of ``quick``, comma-separated.
        kills: of the second run; at random times, as many as would be in the time of the first.
        drivers: most kills of a driver, and of the store.
        seed: of the kills.
        s3: whether the frames go to a bucket, whose server is killed too.
    """

    folder: Path
    variants: int
    epochs: int
    block: int
    workers: int
    compactors: str
    kills: int
    drivers: int
    seed: int
    s3: bool = False

    def source(self, name: str) -> str:
        """Where the frame of a run is read from."""
        return f"s3://{BUCKET}/{name}" if self.s3 else str(self.folder / name / "logs")

    def command(self, name: str, address: str) -> list[str]:
        """The command line of a run."""
        spec: dict[str, object] = {
            "variants": self.variants, "epochs": self.epochs, "block": self.block,
            "compactors": self.compactors,
        }  # fmt: skip
        args = [f"-A{key}={value}" for key, value in spec.items()]
        where = ["--dir", str(self.folder / name), "--ray", address]
        store = ["--store", self.source(name)] if self.s3 else []
        code = "from constraintrot.cli.main import main; main()"
        started = [sys.executable, "-c", code, "sweep", "run", "quick"]
        return [*started, *args, "-Aserved=true", *where, *store]


@dataclass
class Stage:
    """What is played on, and killed.

    Attributes:
        drill: what is played.
        cluster: of Ray.
        bucket: the store's server, if there is one.
    """

    drill: Drill
    cluster: LocalCluster
    bucket: Bucket | None

    def play(self, name: str, deck: list[str], every: float = 1.0) -> Row:
        """Play a run to its end, killing what is drawn.

        Args:
            name: of the run.
            deck: what is killed, the next first.
            every: mean seconds between two kills.

        Raises:
            RuntimeError: the sweep ended with an error of its own.
        """
        draw, row, began = random.Random(self.drill.seed), Row(name), time.monotonic()
        while row.drivers < _MOST_DRIVERS:
            row.drivers += 1
            command = self.drill.command(name, self.cluster.address)
            driver = subprocess.Popen(command, start_new_session=True)
            try:
                status = self._watched(driver, row, draw, deck, every)
            finally:
                end(driver)
            if status == 0:
                row.cells = len(list((self.drill.folder / name / "logs").glob("*.eval")))
                row.seconds = round(time.monotonic() - began, 1)
                return row
            # A driver that finds no store says so and ends, and is started again as by a user.
            if status != -signal.SIGKILL and not row.killed_stores:
                break
        raise RuntimeError(f"the sweep ended with status {status} after {row.drivers} starts")

    def _watched(
        self,
        driver: subprocess.Popen[bytes],
        row: Row,
        draw: random.Random,
        deck: list[str],
        every: float,
    ) -> int:
        following = time.monotonic() + draw.expovariate(1 / every)
        while driver.poll() is None:
            time.sleep(0.2)
            if deck and time.monotonic() >= following:
                following = time.monotonic() + draw.expovariate(1 / every)
                self._kill(driver.pid, row, draw, deck)
        return int(driver.returncode)

    def _kill(self, driver: int, row: Row, draw: random.Random, deck: list[str]) -> None:
        """Kill what is on top of the deck; nothing where there is none of it, or before work began."""
        below = dict(descendants(self.cluster.pid))
        targets = {
            "workers": [pid for pid, text in below.items() if text.startswith("ray::cell")],
            "servers": [pid for pid, text in below.items() if SERVER in text],
            "drivers": [driver],
        }
        what = deck[0]
        if not targets["workers"] or not targets.get(what, [driver]):
            return
        del deck[0]
        setattr(row, f"killed_{what}", getattr(row, f"killed_{what}") + 1)
        if what in targets:
            kill(draw.choice(targets[what]))
        elif self.bucket is not None:
            self.bucket.kill()
            self.bucket.start()


def deck_of(drill: Drill) -> list[str]:
    """What is killed, in which order: one of each kind first, in a run that ends early too."""
    draw = random.Random(drill.seed)
    kinds = ["workers", "servers", "drivers", *(["stores"] if drill.s3 else [])]
    rest = [kind for kind in kinds[2:] for _ in range(drill.drivers - 1)]
    rest += ["servers"] * (drill.kills // 5)
    rest += ["workers"] * max(0, drill.kills - len(kinds) - len(rest))
    draw.shuffle(kinds)
    draw.shuffle(rest)
    return (kinds + rest)[: drill.kills]


def frame(source: str) -> tuple[pd.DataFrame, int]:
    """The episodes of logs or a store without their clocks, in order, and how many are there twice."""
    from constraintrot.report.planned import planned_episodes

    read = planned_episodes([source])
    twice = int(read.duplicated([*_IDENTITY]).sum())
    told = read.drop(columns=[name for name in _CLOCKS if name in read])
    return told.sort_values([*_IDENTITY], ignore_index=True), twice


def differing(a: pd.DataFrame, b: pd.DataFrame) -> int:
    """How many rows one frame has that the other has not, has otherwise, or has less often."""
    names = sorted({*map(str, a), *map(str, b)})
    sides: list[Any] = [one.reindex(columns=names).astype(str) for one in (a, b)]
    # Rows that are alike are told apart by their number.
    sides = [one.assign(**{"": one.groupby(names).cumcount()}) for one in sides]
    joined = sides[0].merge(sides[1], how="outer", indicator=True)
    return int((joined["_merge"] != "both").sum())


def main(arguments: Sequence[str] | None = None) -> int:
    """Play both, compare, print; return the exit status."""
    parser = argparse.ArgumentParser(description="A sweep with kills beside the same in peace.")
    parser.add_argument("--variants", type=int, default=1)
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--block", type=int, default=20)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--compactors", default="truncate", help="Of quick's.")
    parser.add_argument("--kills", type=int, default=5, help="At random times, of one run.")
    parser.add_argument("--drivers", type=int, default=1, help="Most of a driver, and store.")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--s3", action="store_true", help="Kill a store in a bucket, too.")
    parser.add_argument("--dir", type=Path, help="Keep the logs here; what is finished is reused.")
    parser.add_argument("--csv", type=Path, help="Write the table here.")
    given = vars(parser.parse_args(arguments))
    require("the drill", "scale", *(["report"] if given["s3"] else []))
    table, place = given.pop("csv"), given.pop("dir")
    # Ended by `kill` or a time limit, it ends its driver and its cluster all the same.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    folder = place or Path(tempfile.mkdtemp(prefix="sweep-drill-"))
    try:
        rows = compared(Drill(folder=folder, **given))
    finally:
        if place is None:
            shutil.rmtree(folder, ignore_errors=True)
    if table is not None:
        with table.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, [one.name for one in fields(Row)], lineterminator="\n")
            writer.writeheader()
            writer.writerows(map(asdict, rows))
    for row in rows:
        print(", ".join(f"{name} {value}" for name, value in asdict(row).items()))
    wrong = sum(row.twice + row.different for row in rows)
    print(
        f"{rows[1].episodes} episodes, row for row those of the calm run."
        if not wrong
        else f"{wrong} rows differ."
    )
    return int(bool(wrong))


def compared(drill: Drill) -> list[Row]:
    """Both runs, and how the second's frame differs from the first's."""
    with ExitStack() as held:
        # First, so that workers know where it is.
        bucket = held.enter_context(closing(Bucket())) if drill.s3 else None
        cluster = held.enter_context(closing(LocalCluster(drill.workers)))
        stage = Stage(drill, cluster, bucket)
        rows = [stage.play("calm", [])]
        # Now: a bucket that is killed forgets this run's frames, too.
        calm, rows[0].twice = frame(drill.source("calm"))
        # By the speed of the calm run: by the clock alone, a slow machine would never get anywhere.
        every = rows[0].seconds / max(1, 2 * drill.kills)
        every = min(max(_LEAST_SECONDS, every), _MOST_SECONDS)
        rows.append(stage.play("killed", deck_of(drill), every))
        killed, rows[1].twice = frame(drill.source("killed"))
    rows[0].episodes, rows[1].episodes = len(calm), len(killed)
    rows[1].different = differing(calm, killed)
    return rows


if __name__ == "__main__":
    sys.exit(main())
