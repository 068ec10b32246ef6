"""Claims of a paper or a specification that can be asked here, theirs beside ours.

Each page computes its own verdicts; the claim, its table and the reading and writing of the
tables behind it are here.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

Verdict: TypeAlias = Literal["same", "opposite", "cannot tell", "not measured"]
ALPHA: Final = 0.05


@dataclass(frozen=True)
class Claim:
    """A claim.

    Attributes:
        title: what it claims.
        paper: their figures.
        ours: our figures, real models first.
        verdict: from the figures that may have one.
        ask: the command that measures it with a real model.
    """

    title: str
    paper: str
    ours: tuple[str, ...] = ()
    verdict: Verdict = "not measured"
    ask: str = ""

    @property
    def told(self) -> str:
        """Our figures in a table's cell."""
        return "; ".join(self.ours) or "-"


def listing(claims: Sequence[Claim], noun: str = "claim", theirs: str = "the paper") -> list[str]:
    """The lines of a page that count claims by verdict and list them."""
    told = [one.verdict for one in claims]
    counts = ", ".join(f"{told.count(name)} {name}" for name in dict.fromkeys(told))
    return [
        f"**Of {len(claims)} {noun}s: {counts}.**", "",
        f"| {noun} | {theirs} | here | verdict |", "| --- | --- | --- | --- |",
        *(f"| {one.title} | {one.paper} | {one.told} | {one.verdict} |" for one in claims),
        "",
    ]  # fmt: skip


def tables(folder: Path, name: str) -> list[Path]:
    """The tables ``NAME.csv`` and ``NAME-*.csv`` of a folder, the scripts' one first."""
    found = (folder / f"{name}.csv", *sorted(folder.glob(f"{name}-*.csv")))
    return [path for path in found if path.is_file()]


def read(path: Path) -> list[dict[str, str]]:
    """The rows of a table; empty if there is no such file."""
    if not path.is_file():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def write(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write a table, each row as it comes."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer: csv.DictWriter[str] | None = None
        for row in rows:
            if writer is None:
                writer = csv.DictWriter(file, list(row), lineterminator="\n")
                writer.writeheader()
            writer.writerow(row)
            file.flush()


def rows_of(path: Path, name: str) -> Iterator[dict[str, str]]:
    """The rows of all tables ``NAME.csv`` and ``NAME-*.csv`` of a folder."""
    for one in tables(path, name):
        yield from read(one)
