"""A sweep on a Ray cluster: its cells are driven through a pool, and its view is shown."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from constraintrot.runs.progress import Shown
from constraintrot.runs.sweep import stopping
from constraintrot.runs.sweep.adopt import adopt
from constraintrot.runs.sweep.cell import check_playable
from constraintrot.runs.sweep.driver import State, drive
from constraintrot.runs.sweep.folder import SweepFolder
from constraintrot.runs.sweep.loading import Sweep
from constraintrot.runs.sweep.planning import size_of
from constraintrot.runs.sweep.play import Played
from constraintrot.runs.sweep.progress import Tally, view
from constraintrot.runs.sweep.ray_pool import RayPool


def run(
    sweep: Sweep,
    folder: SweepFolder,
    address: str,
    *,
    workers: int | None,
    tries: int,
    store: str | None,
    tell: Callable[[str], None],
) -> State:
    """Play what a sweep's folder lacks.

    Args:
        sweep: the sweep.
        folder: where its logs are.
        address: of a cluster, or ``local`` for one of this machine's own.
        workers: processors of one of this machine's own.
        tries: failed tries after which a cell is set aside.
        store: where the frames of finished cells go, if anywhere.
        tell: is told what a user should know of the cluster.

    Raises:
        ConstraintRotError: a cell cannot be played by a worker, or the cluster cannot be used.
    """
    for cell in sweep.cells:
        check_playable(cell)
    adopt(folder, (cell.id for cell in sweep.cells), partial=True)
    rule = stopping.rule(sweep, folder)
    planned = sum(size_of(cell).episodes for cell in sweep.cells)
    tally, by_id = Tally(), {cell.id: cell for cell in sweep.cells}
    for name, counts in folder.counts().items():
        if name in by_id:
            tally.add(by_id[name], counts, now=False)
    finished, settings = folder.finished(), sweep.settings
    left = [cell for cell in sweep.cells if cell.id not in finished]
    pool = RayPool(
        address, folder, _options(sweep), cells=left, resources=settings.get("resources"),
        budgets=settings.get("budgets"), workers=workers, store=store,
        tell=tell,
    )  # fmt: skip
    show = Shown(lambda state: view(state, tally, planned, pool.dashboard))

    def listen(state: State, played: Played | None) -> None:
        if played is not None and played.log:
            tally.add(by_id[played.cell], played.counts)
        show.update(state)

    try:
        with show:
            return drive(sweep.cells, folder, pool, tries=tries, rule=rule, listen=listen)
    finally:
        pool.close()


def _options(sweep: Sweep) -> dict[str, Any]:
    options = sweep.spec.options
    return options.model_dump(exclude_unset=True) if options else {}
