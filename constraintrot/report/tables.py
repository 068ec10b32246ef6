"""A table of cells, and its three writers: aligned text, Markdown and CSV."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Self


@dataclass(frozen=True)
class Table:
    """Rows of cells below a head.

    Attributes:
        rows: the cells, as many a row as there are columns.
    """

    head: Sequence[str]
    rows: Sequence[Sequence[object]]

    @classmethod
    def of(cls, records: Sequence[Mapping[str, object]]) -> Self:
        """Return the table of some records; a column that a record lacks is None there."""
        names = list(dict.fromkeys(name for record in records for name in record))
        return cls(names, [[record.get(name) for name in names] for record in records])

    def text(self) -> str:
        """Return an aligned pipe table: each column as wide as its widest cell."""
        lines = [[str(cell) for cell in line] for line in [self.head, *self.rows]]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        lines.insert(1, ["-" * width for width in widths])
        return "\n".join(
            _piped(cell.ljust(width) for cell, width in zip(line, widths, strict=True))
            for line in lines
        )

    def markdown(self) -> str:
        """Return a pipe table without padding, so that a long cell lengthens no other line."""
        ruled = [self.head, ["---"] * len(self.head), *self.rows]
        return "\n".join(_piped(" ".join(str(cell).split()) for cell in line) for line in ruled)

    def csv(self) -> str:
        """Return CSV with a line feed after each row; None is an empty cell."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(self.head)
        writer.writerows(self.rows)
        return out.getvalue()


def _piped(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"
