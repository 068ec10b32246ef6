"""The rates of a page, made and numbered as cells that link to their episodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from constraintrot.grading.outcome_status import SILENCE, SILENT
from constraintrot.report.arms import CODE, by_appearance
from constraintrot.report.page.view import NOT_MEASURED, Cell, permanent
from constraintrot.stats.interval import Estimate
from constraintrot.stats.rate import rate


@dataclass
class Cells:
    """A maker of the cells of a page, which numbers them.

    Attributes:
        kept: every other estimate so far, with its section, row and column.
    """

    frame: pd.DataFrame
    made: list[Cell] = field(default_factory=list[Cell])
    kept: list[tuple[tuple[str, ...], Estimate]] = field(
        default_factory=list[tuple[tuple[str, ...], Estimate]]
    )
    _columns: dict[str, npt.NDArray[Any]] = field(default_factory=dict[str, npt.NDArray[Any]])
    _anchors: dict[str, int] = field(default_factory=dict[str, int])

    def keep(self, estimate: Estimate, *where: str) -> Estimate:
        """Record an estimate that is not a rate of rows, for ``summary.json``, and return it."""
        self.kept.append((where, estimate))
        return estimate

    def rate(self, rows: pd.DataFrame, value: str, where: Sequence[str]) -> Cell | str:
        """Make a cell of the rate of a column over rows; ``NOT_MEASURED`` if no row is scored."""
        # By position: selecting the frame's many columns takes longer than the rate.
        at = rows.index.to_numpy()
        at = at[~np.isnan(self._column(value)[at])]
        if not len(at):
            return NOT_MEASURED
        silent = int(self._column("silent")[at].sum())
        cell = Cell(
            len(self.made) + 1,
            (where[0], where[1], where[2]),
            value,
            rate(self._column(value)[at], by_appearance(self._column(CODE)[at])),
            tuple(at.tolist()),
            silent if value == "violation" and silent > SILENCE * len(at) else 0,
            self._anchor(permanent("c", *where, value)),
        )
        self.made.append(cell)
        return cell

    def _column(self, name: str) -> npt.NDArray[Any]:
        if name not in self._columns:
            values = self.frame["outcome"].isin(SILENT) if name == "silent" else self.frame[name]
            self._columns[name] = values.to_numpy()
        return self._columns[name]

    def _anchor(self, name: str) -> str:
        self._anchors[name] = self._anchors.get(name, 0) + 1
        again = self._anchors[name]
        return name if again == 1 else f"{name}-{again}"
