"""Commit the episodes of a finished run to a store (``constraintrot.report.store``)."""

from collections.abc import Sequence
from pathlib import Path

from constraintrot.errors import ConstraintRotError
from constraintrot.extras import require
from constraintrot.report.page import files, frames, source
from constraintrot.report.store import Commit, Store

PARTITION = ("task", "agent")
"""Facts of a cell that name its frame's folders."""


def expanded(given: Sequence[str]) -> list[str]:
    """Return the given logs, and the logs of the given folders."""
    found: list[str] = []
    for name in given:
        kind = files.kind(name)
        if not kind:
            raise ConstraintRotError(f"no such log: {name}")
        logs = [path for path in files.below(name, set()) if path.endswith(".eval")]
        if kind == "folder" and not logs:
            raise ConstraintRotError(f"no Inspect log (.eval) in {name}")
        found += logs if kind == "folder" else [name]
    return found


def commit(store: str | Path, log: str | Path, *, cell: str | None = None) -> Commit:
    """Add the episodes of one log to a store, whole or not at all.

    Committing the same log again, from any worker, does not change a reader's counts: a cell
    counts once. If the log ended in errors or was cut off, its unfinished planned episodes are
    committed too, without a verdict.

    Args:
        store: path or fsspec URL; the store is made if it is not there.
        log: path or fsspec URL of an Inspect log of a constraintrot task.
        cell: name of the cell, the same in all attempts to run it; by default Inspect's id
            of the task, which a retry keeps.

    Returns:
        The commit; ``finished`` of ``rows`` planned episodes have a verdict.

    Raises:
        MissingExtraError: the extra ``report`` is not installed.
        ConstraintRotError: the log cannot be read, or the store cannot be written.
    """
    require("a store", "eval", "report")
    episodes, run = source.of_log(str(log))
    first = episodes.iloc[0]
    return Store(store).add(
        cell or run.task_id,
        frames.parquet_bytes(episodes),
        rows=len(episodes),
        finished=run.finished,
        partition=[(name, str(first[name])) for name in PARTITION],
        created=run.created,
        run=run.model_dump(mode="json"),
    )
