"""The driver: the order of cells, the count of failed tries, and the end of a sweep.

Its state (finished, failed and set-aside cells) is in the sweep's folder, so a killed driver can
be started again.
"""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from constraintrot.runs.sweep.cell import Cell
from constraintrot.runs.sweep.folder import SweepFolder
from constraintrot.runs.sweep.play import Played, furthest

TRIES = 3
"""Failed tries after which a cell is set aside."""
CRASHES = 10
"""Worker deaths of a cell in a row, without a new finished episode, that count as a failure."""


@dataclass(frozen=True)
class Ended:
    """The end of a try.

    Attributes:
        crash: a cause outside the cell, such as a worker or server that died; empty if none.
    """

    cell: str
    played: Played | None = None
    crash: str = ""


class Pool(Protocol):
    def room(self) -> int: ...

    def start(self, cell: Cell) -> None: ...

    def wait(self, seconds: float) -> list[Ended]: ...


@dataclass
class State:
    """The state of a sweep.

    Attributes:
        poisoned: cells that were set aside, with label and error.
        crashes: tries that ended with the death of a worker or a server.
        failures: tries that ended in an error.
        stopped: why the rest is not played; empty if it is played.
    """

    cells: Sequence[Cell]
    finished: set[str] = field(default_factory=set[str])
    poisoned: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])
    running: set[str] = field(default_factory=set[str])
    crashes: int = 0
    failures: int = 0
    stopped: str = ""

    @property
    def done(self) -> bool:
        return all(cell.id in self.finished for cell in self.cells)


Listen = Callable[[State, Played | None], None]
Rule = Callable[[State], str]
"""Decides after each complete look whether the sweep ends: returns the reason, or an empty text."""


def ordered(cells: Sequence[Cell]) -> list[Cell]:
    """Return the cells sorted by look; within a look, cells that share a history are adjacent."""
    first: dict[str, int] = {}
    for number, cell in enumerate(cells):
        first.setdefault(cell.prefix, number)
    return sorted(cells, key=lambda cell: (cell.look, first[cell.prefix]))


def drive(
    cells: Sequence[Cell],
    folder: SweepFolder,
    pool: Pool,
    *,
    tries: int = TRIES,
    rule: Rule | None = None,
    listen: Listen = lambda state, played: None,
) -> State:
    """Play the unfinished cells.

    A cell is set aside after ``tries`` failed tries; ``rule`` may end the sweep after a look.
    """
    state = State(cells, folder.finished(), folder.poisoned())
    by_id = {one.id: one for one in cells}
    settled = state.finished | set(state.poisoned)
    waiting = deque(one for one in ordered(cells) if one.id not in settled)
    crashed: dict[str, tuple[int, int]] = {}
    listen(state, None)
    while waiting or state.running:
        if waiting and not state.running and rule is not None and _look_ends(state, waiting[0]):
            state.stopped = rule(state)
            if state.stopped:
                break
        while waiting and pool.room() > 0 and _may_start(state, waiting[0], rule):
            cell = waiting.popleft()
            state.running.add(cell.id)
            pool.start(cell)
        for ended in pool.wait(1.0):
            cell = by_id[ended.cell]
            state.running.discard(cell.id)
            if _settle(state, folder, cell, ended, crashed, tries):
                # Behind the untried cells: a cell that kills its worker must not delay them.
                waiting.append(cell)
                waiting = deque(sorted(waiting, key=lambda one: one.look))
            listen(state, ended.played)
        listen(state, None)
    return state


def _look_ends(state: State, following: Cell) -> bool:
    return following.look > 1 and not any(
        cell.look == following.look and cell.id in state.finished for cell in state.cells
    )


def _may_start(state: State, cell: Cell, rule: Rule | None) -> bool:
    """Return whether a cell may start: with a rule, only when the look before is complete."""
    if rule is None or not state.running:
        return True
    return all(one.look == cell.look for one in state.cells if one.id in state.running)


def _settle(
    state: State,
    folder: SweepFolder,
    cell: Cell,
    ended: Ended,
    crashed: dict[str, tuple[int, int]],
    tries: int,
) -> bool:
    """Record the end of a try; return whether to try the cell again."""
    if ended.played is not None and ended.played.log:
        state.finished.add(cell.id)
        return False
    error = ended.played.error if ended.played is not None else ended.crash
    if ended.crash:
        state.crashes += 1
        if cell.id in folder.finished():
            # The worker died between its log and its answer.
            state.finished.add(cell.id)
            return False
        if not _hopeless(folder, cell, crashed):
            return True
        error = f"{CRASHES} tries ended with the death of a worker or server: {ended.crash}"
    state.failures += 1
    failed = folder.fail(cell.id, error)
    if failed < tries and not ended.crash:
        return True
    folder.poison(cell.id, cell.label, error)
    state.poisoned[cell.id] = {"cell": cell.id, "label": cell.label, "error": error}
    return False


def _hopeless(folder: SweepFolder, cell: Cell, crashed: dict[str, tuple[int, int]]) -> bool:
    """Return whether a cell's tries keep dying without a new finished episode."""
    number, before = crashed.get(cell.id, (0, 0))
    now = furthest(folder, cell.id)
    crashed[cell.id] = (1 if now > before else number + 1, max(now, before))
    return crashed[cell.id][0] >= CRASHES
