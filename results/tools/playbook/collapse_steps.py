"""The context-collapse probe in a report: size and content of a memory by step (ACE, Figure 2)."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from constraintrot.errors import ConstraintRotError
from constraintrot.report.page import files
from constraintrot.report.page.view import Figure, Row, Section, Table, Theirs
from results.tools.docs_figures import by_step

TITLE = "Context collapse"
COLUMNS = ("model", "memory", "step", "tokens", "facts", "facts_kept", "rules", "rules_kept")
COSTS = ("input_tokens", "output_tokens", "seconds")
# The paper's case (Figure 2): tokens at step 60 and at the next one.
THEIRS = ((60, 18_282), (61, 122))


@dataclass(frozen=True)
class Steps:
    """A memory under the probe.

    Attributes:
        model: in all its roles.
        memory: which.
        rows: a step each, as numbers by column.
    """

    model: str
    memory: str
    rows: tuple[dict[str, float], ...]

    def values(self, column: str) -> list[float]:
        """Return a column, step by step."""
        return [row[column] for row in self.rows]

    def share(self, column: str) -> list[tuple[int, float]]:
        """Return the kept share of a column by step, in per cent."""
        return [
            (int(row["step"]), 100 * row[f"{column}_kept"] / row[column])
            for row in self.rows
            if row[column]
        ]

    @property
    def name(self) -> str:
        """The memory, and its model unless that is a script."""
        return self.memory if self.model.startswith("scripted/") else f"{self.memory}, {self.model}"

    @property
    def lost(self) -> int:
        """Rules that it held after one step and not after the next."""
        kept = self.values("rules_kept")
        return int(sum(max(0, before - after) for before, after in pairwise(kept)))

    @property
    def shrink(self) -> tuple[float, int]:
        """The largest share of its tokens lost in one step, and that step; 0 if it only grew."""
        lost = [
            (1 - after["tokens"] / before["tokens"], int(after["step"]))
            for before, after in pairwise(self.rows)
            if before["tokens"]
        ]
        return max(lost, default=(0.0, 0))


def read(path: str | Path) -> list[Steps]:
    """Read the memories of a table that the probe wrote.

    Raises:
        ConstraintRotError: the file holds something else.
    """
    try:
        # A spreadsheet may have put a byte order mark before it.
        text = files.read(str(path)).decode("utf-8-sig")
        if found := list(_memories(list(csv.DictReader(io.StringIO(text))))):
            return found
        raise ValueError("it has no row")
    except (KeyError, TypeError, ValueError) as error:
        raise ConstraintRotError(
            f"{path} holds no steps of the collapse probe: {error!r}; `python -m"
            " results.tools.playbook collapse` writes them"
        ) from error


def _memories(rows: Sequence[dict[str, str]]) -> Iterator[Steps]:
    # A run that was taken up again has a memory's steps in several places.
    found: dict[tuple[str, str], list[dict[str, float]]] = {}
    for row in rows:
        numbers = {name: float(row[name]) for name in (*COLUMNS[2:], "rules_verbatim", *COSTS)}
        found.setdefault((row["model"], row["memory"]), []).append(numbers)
    for (model, memory), steps in found.items():
        yield Steps(model, memory, tuple(sorted(steps, key=lambda step: step["step"])))


def section(memories: Sequence[Steps]) -> Section:
    """Return the section: size and survival by step, and the largest one-step losses."""
    return Section("collapse", TITLE, (*figures(memories), table(memories)))


def figures(memories: Sequence[Steps]) -> tuple[Figure, Figure]:
    """Return the figures of the tokens by step and the rules kept by step."""
    sizes = [
        (one.name, [(int(row["step"]), row["tokens"]) for row in one.rows]) for one in memories
    ]
    return (
        by_step(sizes, "Size of the memory", "tokens", THEIRS, "paper, one rewriting model"),
        by_step(
            [(one.name, one.share("rules")) for one in memories],
            "Rules that the memory still holds",
            "rules kept, per cent",
        ),
    )


def table(memories: Sequence[Steps]) -> Table:
    """Return the table of the one-step shrink, the final content, and the cost of a step."""
    rows = [
        Row(
            ("paper, one rewriting model", ""),
            (Theirs("99.3 % at step 61"), *(Theirs("") for _ in range(5))),
        )
    ]
    for one in memories:
        lost, at = one.shrink
        last, n = one.rows[-1], len(one.rows)
        sent, written, waited = (sum(one.values(name)) / n for name in COSTS)
        rows.append(
            Row(
                (one.memory, one.model),
                (
                    f"{100 * lost:.1f} % at step {at}" if lost > 0 else "none",
                    f"{last['rules_kept']:.0f}/{last['rules']:.0f}",
                    f"{last['rules_verbatim']:.0f}/{last['rules']:.0f}",
                    f"{last['facts_kept']:.0f}/{last['facts']:.0f}",
                    f"{sent:,.0f} + {written:,.0f}",
                    f"{waited:.2f}",
                ),
            )
        )
    columns = (
        "largest one-step shrink", "rules kept", "word for word", "facts kept",
        "tokens a step, read + written", "seconds a step",
    )  # fmt: skip
    notes = (
        "A scripted rewriter collapses because it is written so, at 18,000 tokens: it shows what"
        " the probe sees, and nothing of a model.",
        "Kept: all words that matter stand in one line of the memory.",
    )
    return Table(
        "One-step shrink and what is left", ("memory", "model"), columns, tuple(rows), notes
    )
