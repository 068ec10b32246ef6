"""The elements of a report, independent of HTML, Markdown and JSON."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from constraintrot.grading.outcome_status import SILENCE, SILENT
from constraintrot.report.arms import CODE, by_appearance
from constraintrot.stats.exact import p_digits
from constraintrot.stats.interval import Estimate, Interval
from constraintrot.stats.paired import Comparison
from constraintrot.stats.rate import rate

Tone: TypeAlias = Literal["bad", "good", "open"]
NOT_MEASURED = "not measured"


@dataclass(frozen=True)
class Cell:
    """A rate in a table.

    Attributes:
        value: column of the frame whose rate it is.
        rows: positions of its episodes in the frame.
        silent: number of episodes without a readable call, if above the share ``SILENCE``;
            else 0.
        anchor: id of its episodes on the page, the same in every report.
    """

    number: int
    where: tuple[str, str, str]
    value: str
    estimate: Estimate
    rows: tuple[int, ...]
    silent: int = 0
    anchor: str = ""


@dataclass(frozen=True)
class Theirs:
    """A figure of the paper, which is about other models."""

    text: str


Content: TypeAlias = "Cell | Theirs | str"


@dataclass(frozen=True)
class Row:
    """A row of a table: its headers, its cells, and an id to link to, if it has one."""

    heads: tuple[str, ...]
    cells: tuple[Content, ...]
    anchor: str = ""


@dataclass(frozen=True)
class Table:
    caption: str
    heads: tuple[str, ...]
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()
    theirs: bool = False


@dataclass(frozen=True)
class Figure:
    """A drawing: trusted SVG, an alternative text, and a caption."""

    svg: str
    alt: str
    caption: str
    data: Sequence[Mapping[str, object]] = field(default=(), repr=False)
    canvas: Any = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class Missing:
    """Something that was not measured, and the command that measures it."""

    what: str
    command: str


Block: TypeAlias = "Table | Figure | Missing | str"


@dataclass(frozen=True)
class Section:
    name: str
    title: str
    blocks: tuple[Block, ...]

    @property
    def unmeasured(self) -> bool:
        """Whether the section has no table of the report's episodes."""
        return not any(isinstance(one, Table) and not one.theirs for one in self.blocks)


@dataclass(frozen=True)
class Answer:
    """The answer to one question about one model.

    Attributes:
        word: the answer in a few words.
        line: the figures behind it, in one line.
        text: the rest: counts, setting, what limits it; may be empty.
        link: id of the part of the page with the numbers; empty if there is none.
        claim: whether it is about the model; the page then says if the model qualifies.
    """

    question: str
    word: str
    tone: Tone
    line: str
    text: str
    agent: str
    link: str = ""
    claim: bool = True


@dataclass(frozen=True)
class Compared:
    """A paired comparison for the page, or the reason why there is none.

    Attributes:
        comparison: the comparison; None if there are no pairs.
        pairs: ids of the episodes of each pair, that of the first arm first.
        primary: name of the primary claim that it answers; empty if it is exploratory.
        at: the settings in which the arms differ from the model's main ones; ``main`` if there
            are none, empty for an exploratory comparison.
        elsewhere: whether the model has no pairs at the setting that was declared for it.
    """

    agent: str
    a: str
    b: str
    value: str
    comparison: Comparison | None
    reason: str = ""
    pairs: tuple[tuple[str, str], ...] = ()
    primary: str = ""
    at: str = ""
    elsewhere: bool = False

    @property
    def name(self) -> str:
        """Both arms; if the second extends the first's name, only the addition."""
        return f"{self.a} → {self.b.replace(f'{self.a}, ', '+ ', 1)}"

    @property
    def anchor(self) -> str:
        """The id of its row on the page, the same in every report."""
        return permanent("p", self.agent, self.a, self.b, self.value, self.at)

    def same_episodes(self, other: Compared) -> bool:
        """Return whether both compare the same outcome of the same episodes, in either order."""
        return self.value == other.value and self._episodes == other._episodes

    @cached_property
    def _episodes(self) -> frozenset[frozenset[str]]:
        return frozenset({frozenset(a for a, _ in self.pairs), frozenset(b for _, b in self.pairs)})


def permanent(kind: str, *names: str) -> str:
    """Return an id for links that depends on the named thing, not on its place on the page."""
    digest = hashlib.sha256("\x1f".join(names).encode(errors="replace")).hexdigest()
    return f"{kind}-{digest[:10]}"


def numbers(estimate: Estimate, prefix: str = "") -> dict[str, object]:
    """Return an estimate as cells of a row: counts, limits, and the method or the reason."""
    limits = (estimate.lower, estimate.upper) if isinstance(estimate, Interval) else (None, None)
    known = {
        "k": estimate.k, "n": estimate.n, "estimate": estimate.estimate,
        "lower": limits[0], "upper": limits[1],
        "method": estimate.method if isinstance(estimate, Interval) else estimate.reason,
    }  # fmt: skip
    return {f"{prefix}{name}": value for name, value in known.items()}


def percent(estimate: Estimate) -> str:
    """Return ``59 %``, with decimals if the interval is narrow; ``-`` without an estimate."""
    if estimate.estimate != estimate.estimate:
        return "-"
    return f"{100 * estimate.estimate:.{_digits(estimate)}f} %"


def limits(estimate: Estimate) -> str:
    """Return ``[41, 75]``, or the reason why there is no interval."""
    if not isinstance(estimate, Interval):
        return estimate.reason
    digits = _digits(estimate)
    return f"[{100 * estimate.lower:.{digits}f}, {100 * estimate.upper:.{digits}f}]"


def _digits(estimate: Estimate) -> int:
    wide = estimate.upper - estimate.lower if isinstance(estimate, Interval) else 1.0
    return 0 if wide >= 0.05 else 1 if wide >= 0.005 else 2


def counts(estimate: Estimate) -> str:
    """Return ``16/27``, or ``n = 27`` if nothing is counted."""
    return f"{estimate.k}/{estimate.n}" if estimate.k is not None else f"n = {estimate.n}"


def rate_text(estimate: Estimate) -> str:
    """Return ``16/27 = 59 % [41, 75]``."""
    return f"{counts(estimate)} = {percent(estimate)} {limits(estimate)}"


def points(estimate: Estimate) -> str:
    """Return a difference of rates: ``+53 points [34, 70]``."""
    if not isinstance(estimate, Interval):
        return f"{_signed(estimate.estimate)} points ({estimate.reason})"
    digits = _digits(estimate)
    low, high = (_signed(limit, digits) for limit in (estimate.lower, estimate.upper))
    return f"{_signed(estimate.estimate, digits)} points [{low}, {high}]"


def share(estimate: Estimate) -> str:
    """Return a share or a coefficient: ``0.86 [0.23, 1.62]``, or the reason why it has no interval."""
    if not isinstance(estimate, Interval):
        return estimate.reason
    return f"{estimate.estimate:.2f} [{estimate.lower:.2f}, {estimate.upper:.2f}]".replace("-", "−")


def _signed(value: float, digits: int = 0) -> str:
    if value != value:
        return "no"
    shown = f"{100 * value:+.{digits}f}".replace("-", "−")
    return "0" if not shown.strip("+−0.") else shown


def p_text(value: float) -> str:
    """Return ``p = 0.03`` or ``p < 0.0001``."""
    return "p < 0.0001" if value < 0.0001 else f"p = {p_digits(value)}"


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
