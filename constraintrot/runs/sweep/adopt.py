"""Logs that Flow wrote under names of its own, taken into the sweep's order."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from pathlib import Path

from constraintrot.errors import EpisodeError
from constraintrot.runs.sweep.cell import CELL_KEY
from constraintrot.runs.sweep.folder import SweepFolder
from constraintrot.runs.sweep.play import check_whole, counts


def adopt(folder: SweepFolder, cells: Iterable[str], *, partial: bool = False) -> int:
    """Give the logs of finished cells their cells' names.

    Args:
        folder: the sweep's.
        cells: ids of its cells.
        partial: take unfinished logs as tries of their cells too; Flow takes them up itself.

    Returns:
        How many cells were finished.

    Raises:
        ConstraintRotError: the folder cannot be read or written.
    """
    from inspect_ai.log import read_eval_log

    from constraintrot.report.frame import UNREADABLE

    known, finished = set(cells), 0
    for name in folder.logs():
        if name.removesuffix(".eval") in known:
            continue
        with tempfile.TemporaryDirectory() as place:
            copy = Path(place) / name
            folder.fetch(folder.path("logs", name), copy)
            try:
                log = read_eval_log(str(copy))
                cell = str((log.eval.metadata or {}).get(CELL_KEY, ""))
                if cell not in known:
                    continue
                check_whole(log)
            except EpisodeError:
                if partial:
                    folder.keep_try(cell, "flow", str(copy))
                continue
            except UNREADABLE:
                # Cut off in the middle of a write; Flow plays its cell again.
                continue
            folder.commit(cell, str(copy), counts(log))
            folder.remove_log(name)
            finished += 1
    return finished
