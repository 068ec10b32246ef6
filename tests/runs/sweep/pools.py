"""A pool of scripted ends, without any worker: what the driver makes of them."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from constraintrot.runs.sweep.cell import Cell
from constraintrot.runs.sweep.driver import Ended
from constraintrot.runs.sweep.folder import SweepFolder
from constraintrot.runs.sweep.play import Played


def cell(number: int, look: int = 1, model: str = "scripted/obedient") -> Cell:
    """A cell, one of many that differ in their seed."""
    args = {"variants": 1, "seed": number, "context_tokens": 300}
    return Cell({"name": "constraintrot/soft_email", "args": args, "model": model}, look)


class ScriptedPool:
    """Ends a cell's tries as a script says; a cell without one is finished at its first try.

    Attributes:
        started: ids of the cells, in the order in which they were started.
    """

    def __init__(self, folder: SweepFolder, script: Mapping[str, Sequence[str]], at_once: int = 2):
        self._folder, self._at_once = folder, at_once
        self._script = {name: list(ends) for name, ends in script.items()}
        self._running: list[str] = []
        self.started: list[str] = []

    def room(self) -> int:
        return self._at_once - len(self._running)

    def start(self, cell: Cell) -> None:
        self._running.append(cell.id)
        self.started.append(cell.id)

    def wait(self, seconds: float) -> list[Ended]:
        if not self._running:
            return []
        name = self._running.pop(0)
        how = self._script[name].pop(0) if self._script.get(name) else "done"
        if how == "done":
            log = Path(self._folder.path(".made.eval"))
            log.parent.mkdir(parents=True, exist_ok=True)
            log.write_bytes(b"a log")
            return [Ended(name, Played(name, self._folder.commit(name, str(log), {"episodes": 1})))]
        if how == "crash":
            return [Ended(name, crash="the worker died")]
        return [Ended(name, Played(name, error=how))]
