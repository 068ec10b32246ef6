"""A sweep on a Ray cluster, with a view of its progress."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.live import Live
from rich.text import Text

from constraintrot.runs.sweep import stopping
from constraintrot.runs.sweep.cell import Cell, check_playable
from constraintrot.runs.sweep.driver import State, drive
from constraintrot.runs.sweep.folder import SweepFolder
from constraintrot.runs.sweep.loading import Sweep
from constraintrot.runs.sweep.local import adopt
from constraintrot.runs.sweep.planning import size_of
from constraintrot.runs.sweep.play import Played
from constraintrot.runs.sweep.ray_pool import RayPool
from constraintrot.scenario import user_files
from constraintrot.stats.interval import Interval
from constraintrot.stats.rate import clopper_pearson


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
    """Play the cells that a sweep's folder lacks.

    The address is of a cluster, or ``local`` for one that is started on this machine, with
    ``workers`` processors.
    """
    for cell in sweep.cells:
        check_playable(cell)
    folder.check_files(digests(sweep.cells))
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


def digests(cells: Sequence[Cell]) -> dict[str, str]:
    """Return the digests of the scenario files that this machine has.

    A cell's id has their paths only.
    """
    given = [cell.args.get("scenario") or [] for cell in cells]
    listed = [some.split(",") if isinstance(some, str) else some for some in given]
    paths = {str(one) for some in listed for one in some}
    return {
        path: "-".join(one.digest for one in user_files.read_all(Path(path)))
        for path in sorted(paths)
        if Path(path).exists()
    }


def _options(sweep: Sweep) -> dict[str, Any]:
    options = sweep.spec.options
    return options.model_dump(exclude_unset=True) if options else {}


_SECONDS_A_LINE = 30.0
# Between two updates on a terminal: an update per change would take most of the driver's time.
_SECONDS_A_LOOK = 0.25


class Shown:
    """A view of a run: live on a terminal; elsewhere printed now and then."""

    def __init__(self, make: Callable[[Any], str]) -> None:
        self._make, self._last = make, 0.0
        console = Console(stderr=True)
        self._live = Live(console=console, auto_refresh=False) if console.is_terminal else None
        self._state: Any = None

    def __enter__(self) -> None:
        if self._live is not None:
            self._live.start()

    def __exit__(self, *error: object) -> None:
        if self._state is not None:
            self._last = 0.0
            self.update(self._state)
        if self._live is not None:
            self._live.stop()

    def update(self, state: Any) -> None:
        self._state = state
        wait = _SECONDS_A_LOOK if self._live is not None else _SECONDS_A_LINE
        if self._last and time.monotonic() - self._last < wait:
            return
        self._last = time.monotonic()
        if self._live is not None:
            self._live.update(Text(self._make(state)), refresh=True)
        else:
            click.echo(self._make(state), err=True)


_SUMMED = ("episodes", "input", "output", "cost")
# Number of groups in the view; `constraintrot report` shows all.
_SHOWN = 12


@dataclass
class Tally:
    """Counts of finished cells.

    Attributes:
        rates: violations and prohibited requests, by model, defense and condition.
        began: monotonic time when this driver began.
        played: episodes of the cells that finished since then.
    """

    sums: dict[str, float] = field(default_factory=lambda: dict.fromkeys(_SUMMED, 0.0))
    rates: dict[tuple[str, str, str], list[int]] = field(
        default_factory=dict[tuple[str, str, str], list[int]]
    )
    began: float = field(default_factory=time.monotonic)
    played: float = 0.0

    def add(self, cell: Cell, counts: Mapping[str, Any], *, now: bool = True) -> None:
        """Add a finished cell, with counts as ``play.counts`` makes them.

        ``now`` says whether it was played since this driver began.
        """
        for name in _SUMMED:
            self.sums[name] += counts.get(name, 0.0)
        for condition, (violations, asked) in counts.get("rates", {}).items():
            sums = self.rates.setdefault((*group_of(cell), condition), [0, 0])
            sums[0] += violations
            sums[1] += asked
        self.played += counts.get("episodes", 0.0) if now else 0.0

    def pace(self) -> float | None:
        """Return this driver's episodes per second; None before its first finished cell."""
        return self.played / max(time.monotonic() - self.began, 1e-9) if self.played else None


def group_of(cell: Cell) -> tuple[str, str]:
    defense = cell.args.get("defense", cell.args.get("defenses", "none"))
    names = ",".join(map(str, defense)) if isinstance(defense, list) else str(defense)
    return cell.model, names


def view(state: State, tally: Tally, episodes: float, dashboard: str = "") -> str:
    done, pace = tally.sums["episodes"], tally.pace()
    rest = episodes - done
    left = "unknown" if pace is None and rest else _clock(rest / pace if pace else 0.0)
    lines = [
        f"cells {len(state.finished & {one.id for one in state.cells})}/{len(state.cells)} finished,"
        f" {len(state.running)} under way, {len(state.poisoned)} set aside;"
        f" {state.crashes} deaths and {state.failures} errors survived",
        f"episodes {done:,.0f}/{episodes:,.0f}, tokens {tally.sums['input'] / 1e6:.2f} M in,"
        f" {tally.sums['output'] / 1e6:.2f} M out, $ {tally.sums['cost']:.2f}, time left {left}",
    ]
    lines += [
        _rate(" ".join(group), *counts) for group, counts in sorted(tally.rates.items())[:_SHOWN]
    ]
    if len(tally.rates) > _SHOWN:
        lines.append(f"  and {len(tally.rates) - _SHOWN} groups more")
    if dashboard:
        lines.append(f"Ray: http://{dashboard}")
    lines += [
        f"set aside: {one['label']}: {_first(one['error'])}" for one in state.poisoned.values()
    ]
    return "\n".join(lines)


def _rate(group: str, violations: int, asked: int) -> str:
    """Return a rate with the exact interval for independent episodes: to watch, not to claim."""
    found = clopper_pearson(violations, asked)
    shown = ""
    if isinstance(found, Interval):
        shown = f" [{100 * found.lower:.1f}, {100 * found.upper:.1f}]"
    return f"  {group}: violated {violations}/{asked}{shown} % so far"


def _clock(seconds: float) -> str:
    minutes, rest = divmod(max(0, round(seconds)), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}"


def _first(text: str) -> str:
    lines: Sequence[str] = text.strip().splitlines() or [""]
    return lines[0][:200]
