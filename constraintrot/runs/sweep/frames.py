"""The frames of a sweep's finished cells, in a store (``constraintrot.report.store``)."""

from collections.abc import Iterable

from constraintrot.errors import ConstraintRotError
from constraintrot.runs.sweep.folder import SweepFolder


def commit(store: str, log: str, cell: str) -> None:
    """Add a cell's episodes to a store; a repetition does not change the cell."""
    from constraintrot.report import cells

    cells.commit(store, log, cell=cell)


def catch_up(store: str, folder: SweepFolder, cells: Iterable[str]) -> int:
    """Add the finished cells that a store lacks, because a worker died before it added the frame."""
    from constraintrot.report.store import Store

    known = Store(store)
    there = {one.cell for one in known.commits()} if known.exists else set[str]()
    lacking = sorted(set(cells) & folder.finished() - there)
    try:
        for cell in lacking:
            commit(store, folder.log(cell), cell)
    except ConstraintRotError as error:
        raise ConstraintRotError(
            f"{error}; the logs are whole, and the same command adds what the store lacks"
        ) from error
    return len(lacking)
