"""A sweep on this machine by Inspect Flow; its logs are renamed to their cells."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from constraintrot.errors import ConstraintRotError, EpisodeError
from constraintrot.models.config_errors import reason
from constraintrot.runs.sweep.cell import CELL_KEY
from constraintrot.runs.sweep.driver import TRIES, State
from constraintrot.runs.sweep.folder import LOGS, SweepFolder
from constraintrot.runs.sweep.loading import Sweep
from constraintrot.runs.sweep.play import check_whole, counts

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog


def run(sweep: Sweep, folder: SweepFolder, tries: int = TRIES) -> State:
    """Play a sweep with Flow, in this process.

    Flow finds the logs of finished cells in the folder, also those of another player, and
    reuses the finished episodes of the others. A cell counts as failed after ``tries`` tries.
    """
    served = sorted({cell.model for cell in sweep.cells if cell.server})
    if served:
        raise ConstraintRotError(
            f"the sweep starts a server for {', '.join(served)}, which needs Ray: add --ray"
        )
    if sweep.settings.get("stop"):
        raise ConstraintRotError(
            "the sweep declares a stop rule, whose looks Flow does not know: add --ray"
        )
    from inspect_flow.api import init
    from inspect_flow.api import run as flow_run

    _find_uv()
    init(log_level="error", display="plain", dotenv_base_dir=None)
    options = sweep.spec.options
    chosen = (
        options.model_copy(update={"retry_attempts": tries, "display": "plain"})
        if options
        else None
    )
    spec = sweep.spec.model_copy(update={"log_dir": folder.path(LOGS), "options": chosen})
    try:
        result = flow_run(spec, base_dir=str(Path.cwd()))
    except ConstraintRotError:
        raise
    except Exception as error:
        cause = error.__cause__ if isinstance(error.__cause__, Exception) else error
        raise ConstraintRotError(
            f"Flow could not run the sweep: {reason(cause)}; what is finished is kept in"
            f" {folder.url}"
        ) from error
    state = outcome(sweep, result.logs)
    adopt(folder, (cell.id for cell in sweep.cells))
    return state


def outcome(sweep: Sweep, logs: list[EvalLog]) -> State:
    state = State(sweep.cells)
    labels = {cell.id: cell.label for cell in sweep.cells}
    for header in logs:
        cell = str((header.eval.metadata or {}).get(CELL_KEY, ""))
        if cell not in labels:
            continue
        if header.status == "success":
            state.finished.add(cell)
            continue
        error = (
            header.error.message if header.error else f"the run did not finish ({header.status})"
        )
        state.failures += 1
        state.poisoned[cell] = {"cell": cell, "label": labels[cell], "error": error}
    return state


def _find_uv() -> None:
    """Put the interpreter's folder on the PATH: the extra installs uv, which Flow calls, there."""
    beside = str(Path(sys.executable).parent)
    paths = os.environ.get("PATH", "").split(os.pathsep)
    if beside not in paths:
        os.environ["PATH"] = os.pathsep.join((beside, *paths))


def adopt(folder: SweepFolder, cells: Iterable[str], *, partial: bool = False) -> int:
    """Rename the logs of finished cells to their cells' names.

    With ``partial``, unfinished logs become tries of their cells; Flow itself needs no tries.
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
                # The log was cut off during a write; Flow plays its cell again.
                continue
            folder.commit(cell, str(copy), counts(log))
            folder.remove_log(name)
            finished += 1
    return finished
