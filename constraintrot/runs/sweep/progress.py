"""The progress of a sweep: one view of what is in its folder."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from constraintrot.runs.sweep.cell import Cell
from constraintrot.runs.sweep.driver import State

_SUMMED = ("episodes", "input", "output", "cost")
# Groups that the view shows; a page is for reading more (`constraintrot report`).
_SHOWN = 12


@dataclass
class Tally:
    """Counts of finished cells.

    Attributes:
        sums: episodes, tokens and dollars.
        rates: violations and prohibited requests, by model, defense and condition.
        began: when this driver did.
        played: episodes of cells that this driver saw finish.
    """

    sums: dict[str, float] = field(default_factory=lambda: dict.fromkeys(_SUMMED, 0.0))
    rates: dict[tuple[str, str, str], list[int]] = field(
        default_factory=dict[tuple[str, str, str], list[int]]
    )
    began: float = field(default_factory=time.monotonic)
    played: float = 0.0

    def add(self, cell: Cell, counts: Mapping[str, Any], *, now: bool = True) -> None:
        """Add a finished cell.

        Args:
            cell: the cell.
            counts: as ``play.counts`` makes them.
            now: whether it was played since this driver began.
        """
        for name in _SUMMED:
            self.sums[name] += counts.get(name, 0.0)
        for condition, (violations, asked) in counts.get("rates", {}).items():
            sums = self.rates.setdefault((*group_of(cell), condition), [0, 0])
            sums[0] += violations
            sums[1] += asked
        self.played += counts.get("episodes", 0.0) if now else 0.0

    def pace(self) -> float | None:
        """Episodes a second of this driver; None before the first cell is finished."""
        return self.played / max(time.monotonic() - self.began, 1e-9) if self.played else None


def group_of(cell: Cell) -> tuple[str, str]:
    """Model and defense, by which the view sums up."""
    defense = cell.args.get("defense", cell.args.get("defenses", "none"))
    names = ",".join(map(str, defense)) if isinstance(defense, list) else str(defense)
    return cell.model, names


def view(state: State, tally: Tally, episodes: float, dashboard: str = "") -> str:
    """The view, in lines.

    Args:
        state: of the driver.
        tally: of the finished cells.
        episodes: planned episodes of the whole sweep.
        dashboard: URL of Ray's dashboard.
    """
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
    """A rate with the exact interval of independent episodes: for watching, not for a claim."""
    from constraintrot.stats.interval import Interval
    from constraintrot.stats.rate import clopper_pearson

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
