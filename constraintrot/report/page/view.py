"""What a report consists of, before it is HTML, Markdown or JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

from constraintrot.evaluation.metrics import SILENCE
from constraintrot.grading.verdict import SILENT
from constraintrot.stats.frames import frame_rate
from constraintrot.stats.interval import Estimate, Interval
from constraintrot.stats.paired import Comparison

if TYPE_CHECKING:
    import pandas as pd

Tone: TypeAlias = Literal["bad", "good", "open"]
NOT_MEASURED = "not measured"


@dataclass(frozen=True)
class Cell:
    """A rate in a table.

    Attributes:
        number: in the page, from 1.
        where: section, row and column, in words.
        value: the frame's column that it is the rate of.
        estimate: what ``frame_rate`` says of those rows.
        rows: positions in the frame.
        silent: rows without a readable call, where that is too many to ignore.
    """

    number: int
    where: tuple[str, str, str]
    value: str
    estimate: Estimate
    rows: tuple[int, ...]
    silent: int = 0


@dataclass(frozen=True)
class Theirs:
    """A figure of the paper's, of other models."""

    text: str


Content: TypeAlias = "Cell | Theirs | str"


@dataclass(frozen=True)
class Row:
    """A row of a table: its headers, and its cells."""

    heads: tuple[str, ...]
    cells: tuple[Content, ...]


@dataclass(frozen=True)
class Table:
    """A table.

    Attributes:
        caption: what it shows.
        heads: headers of the columns of row headers.
        columns: headers of the others.
        rows: the body.
        notes: below it.
        theirs: it holds nothing but the paper's figures.
    """

    caption: str
    heads: tuple[str, ...]
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()
    theirs: bool = False


@dataclass(frozen=True)
class Figure:
    """A drawing: SVG of ours, what it shows in words, and a caption."""

    svg: str
    alt: str
    caption: str


@dataclass(frozen=True)
class Missing:
    """What was not measured, and the command that would."""

    what: str
    command: str


Block: TypeAlias = "Table | Figure | Missing | str"


@dataclass(frozen=True)
class Section:
    """A part of the page under a heading of its own."""

    name: str
    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Answer:
    """The answer to one question, in a word and in a sentence."""

    question: str
    word: str
    tone: Tone
    text: str


@dataclass(frozen=True)
class Compared:
    """A paired comparison as it is shown, or why there is none.

    Attributes:
        agent: whose.
        a: first arm.
        b: second arm.
        value: the column compared.
        found: b less a; None where nothing is paired.
        reason: why not.
    """

    agent: str
    a: str
    b: str
    value: str
    found: Comparison | None
    reason: str = ""


@dataclass
class Cells:
    """Makes the cells of a page, and numbers them.

    Attributes:
        frame: prepared; its index is the position of each row.
        made: every cell so far.
        kept: every other estimate so far, and where it stands.
    """

    frame: pd.DataFrame
    made: list[Cell] = field(default_factory=list[Cell])
    kept: list[tuple[tuple[str, ...], Estimate]] = field(
        default_factory=list[tuple[tuple[str, ...], Estimate]]
    )

    def keep(self, estimate: Estimate, *where: str) -> Estimate:
        """Note an estimate that is no rate of rows, for ``summary.json``; gives it back."""
        self.kept.append((where, estimate))
        return estimate

    def rate(self, rows: pd.DataFrame, value: str, where: Sequence[str]) -> Cell | str:
        """The rate of a column over some rows; words where it was not measured."""
        scored = rows[rows[value].notna()]
        if scored.empty:
            return NOT_MEASURED
        silent = int(scored["outcome"].isin(SILENT).sum())
        cell = Cell(
            len(self.made) + 1,
            (where[0], where[1], where[2]),
            value,
            frame_rate(scored, value),
            tuple(int(at) for at in scored.index),
            silent if value == "violation" and silent > SILENCE * len(scored) else 0,
        )
        self.made.append(cell)
        return cell


def percent(estimate: Estimate) -> str:
    """``59 %``; finer where the interval is narrow; - where there is no estimate."""
    if estimate.estimate != estimate.estimate:
        return "-"
    return f"{100 * estimate.estimate:.{_digits(estimate)}f} %"


def limits(estimate: Estimate) -> str:
    """``[41, 75]``, or the reason why there are none."""
    if not isinstance(estimate, Interval):
        return estimate.reason
    digits = _digits(estimate)
    return f"[{100 * estimate.lower:.{digits}f}, {100 * estimate.upper:.{digits}f}]"


def _digits(estimate: Estimate) -> int:
    """Decimals of a per cent that keep an interval from looking as if it had no width."""
    wide = estimate.upper - estimate.lower if isinstance(estimate, Interval) else 1.0
    return 0 if wide >= 0.05 else 1 if wide >= 0.005 else 2


def counts(estimate: Estimate) -> str:
    """``16/27``."""
    return f"{estimate.k}/{estimate.n}" if estimate.k is not None else f"n = {estimate.n}"


def rate_text(estimate: Estimate) -> str:
    """``16/27 = 59 % [41, 75]``."""
    return f"{counts(estimate)} = {percent(estimate)} {limits(estimate)}"


def points(estimate: Estimate) -> str:
    """A difference of rates: ``+53 points [34, 70]``."""
    if not isinstance(estimate, Interval):
        return f"{_signed(estimate.estimate)} points ({estimate.reason})"
    digits = _digits(estimate)
    low, high = (_signed(limit, digits) for limit in (estimate.lower, estimate.upper))
    return f"{_signed(estimate.estimate, digits)} points [{low}, {high}]"


def share(estimate: Estimate) -> str:
    """A share or a coefficient: ``0.86 [0.23, 1.62]``, or the reason why there is none."""
    if not isinstance(estimate, Interval):
        return estimate.reason
    return f"{estimate.estimate:.2f} [{estimate.lower:.2f}, {estimate.upper:.2f}]".replace("-", "−")


def _signed(value: float, digits: int = 0) -> str:
    if value != value:
        return "no"
    shown = f"{100 * value:+.{digits}f}".replace("-", "−")
    return "0" if not shown.strip("+−0.") else shown


def p_text(value: float) -> str:
    """``p = 0.03``, ``p < 0.0001``."""
    return "p < 0.0001" if value < 0.0001 else f"p = {value:.2g}"
