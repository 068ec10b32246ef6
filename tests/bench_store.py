"""Benchmark of stores: CPU seconds and peak memory over millions of episodes, no assertion.

``python tests/bench_store.py [--episodes N] [--cells N] [--keep FOLDER]``: invented episodes
(those of ``tests/bench_report.py``, under more models) are written as a store, column by column,
and ``constraintrot report`` and ``constraintrot compare`` read it, each in a process of its own.
CPU seconds are of user and system, of the whole command with its imports.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from importlib import import_module
from io import BytesIO
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np

from tests.bench_report import FAMILIES, REPLICATES, ROOT, episodes, settings

EPISODES = 10_000_000
CELLS = 2_000
MODELS = 10
COMPARED = ("--a", "defense=none", "--b", "defense=pin", "--where", "condition=compaction")
MAIN = (
    "compactor=summarize,budget_words=60,rounds=1,attack=none,channel=user,locale=en,harness=replay"
)


def write(folder: Path, count: int, cells: int) -> None:
    """A store of so many episodes in so many cells: in each all settings of one model."""
    import pandas as pd

    from constraintrot.report.page import frames
    from constraintrot.report.store import Store

    a_cell = count // cells
    varied = settings()
    kinds = frames.tidy(pd.DataFrame(list(episodes(len(varied) * len(FAMILIES), ["m"], varied))))
    store = Store(folder)
    draw = np.random.default_rng(0)
    done = [0] * MODELS
    for cell in range(cells):
        model = cell % MODELS
        content = _frame(kinds, f"vendor/model-{model}", done[model], a_cell, draw)
        done[model] += a_cell
        store.add(
            f"cell {cell}", content, rows=a_cell, finished=a_cell,
            created=f"2026-11-01T{cell:08}", partition=[("agent", f"vendor/model-{model}")],
        )  # fmt: skip


def _frame(kinds: Any, agent: str, first: int, count: int, draw: np.random.Generator) -> bytes:
    """Episodes first, first + 1 ... of one model, as Parquet with the columns that frames have."""
    pa: Any = import_module("pyarrow")
    parquet: Any = import_module("pyarrow.parquet")
    from constraintrot.report.page import frames

    number = np.arange(first, first + count)
    kind, seed = number % len(kinds), number // len(kinds)
    columns: dict[str, Any] = {}
    for name in kinds.columns:
        values = kinds[name].to_numpy()
        if name in frames.COLUMNS and values.dtype.kind != "O":
            columns[name] = pa.array(values[kind])
            continue
        texts = [None if one is None or one != one else str(one) for one in values]
        codes, distinct = _distinct(texts)
        columns[name] = pa.DictionaryArray.from_arrays(codes[kind], pa.array(distinct)).cast(
            "string"
        )
    allowed = np.asarray(kinds["allowed"], bool)[kind]
    columns["allowed"] = pa.array(allowed)
    columns["agent"] = pa.array([agent] * count)
    columns["seed"] = pa.array((seed // REPLICATES).astype(str))
    columns["replicate"] = pa.array((seed % REPLICATES).astype(str))
    columns["episode"] = pa.array([f"{agent}-{one}" for one in number])
    violated = (draw.random(count) < 0.3) & ~allowed
    columns["violation"] = pa.array(violated.astype(float))
    columns["outcome"] = pa.array(np.where(violated, "violated", "declined"))
    columns["survived"] = pa.array((draw.random(count) < 0.5).astype(float))
    file = BytesIO()
    parquet.write_table(pa.table(columns), file)
    return file.getvalue()


def _distinct(texts: list[str | None]) -> tuple[np.ndarray[Any, Any], list[str | None]]:
    distinct = list(dict.fromkeys(texts))
    number = {one: at for at, one in enumerate(distinct)}
    return np.asarray([number[one] for one in texts], np.int32), distinct


def spent(*command: str) -> dict[str, float]:
    """CPU seconds and peak MB of one command, in a process of its own."""
    code = (
        "import sys, time; from constraintrot.cli.main import main; from tests.bench_stats import peak\n"
        "try: main(sys.argv[1:])\n"
        "except SystemExit as ended: assert ended.code in (0, 1, 3, None), ended.code\n"
        "print(time.process_time(), peak())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *command],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    if done.returncode:
        raise SystemExit(done.stdout[-2_000:] + done.stderr)
    seconds, megabytes = done.stdout.split()[-2:]
    return {"cpu_s": round(float(seconds), 1), "peak_mb": round(float(megabytes))}


def main() -> None:
    """Print one line of figures for each command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--episodes", type=int, default=EPISODES, metavar="N")
    parser.add_argument("--cells", type=int, default=CELLS, metavar="N")
    parser.add_argument("--keep", type=Path, help="where the store is, or is made and kept")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = arguments.keep or Path(name) / "store"
        if not folder.exists():
            write(folder, arguments.episodes, arguments.cells)
        size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
        facts = {"episodes": arguments.episodes, "cells": arguments.cells, "store_mb": size >> 20}
        commands = {
            "report": ("report", str(folder), "-o", str(Path(name) / "report")),
            "compare, one model at one setting": (
                "compare", str(folder), *COMPARED[:4], "--where",
                f"condition=compaction,agent=vendor/model-0,{MAIN}",
            ),
            "compare, all models at one setting": ("compare", str(folder), *COMPARED, "--where", MAIN),
        }  # fmt: skip
        for what, command in commands.items():
            print(json.dumps({"command": what, **facts, **spent(*command)}), flush=True)


if __name__ == "__main__":
    os.environ.setdefault("INSPECT_DISPLAY", "none")
    main()
