"""The README's first table is of a committed run of ``make demo``."""

from __future__ import annotations

import re
from pathlib import Path

from constraintrot.report.page import frames
from constraintrot.report.table import text
from constraintrot.runs.demo import CONDITIONS, CONTEXT_TOKENS, SCAFFOLD, TASKS

ROOT = Path(__file__).parents[2]


def cells(table: str) -> list[list[str]]:
    """The rows of a table in Markdown, without those of the rule; how one refused is left out."""
    rows = [line for line in table.splitlines() if line.startswith("| ")]
    found = [[cell.strip() for cell in row.strip("|").split("|")][:5] for row in rows]
    return [[re.sub(r" \(.*\)$", "", cell) for cell in row] for row in found if row[0][:3] != "---"]


def test_the_readmes_first_table_is_the_committed_demo() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    frame = frames.read(str(ROOT / "results/demo.csv"))
    shown = readme[readme.index("| family ") : readme.index("`floor`: no policy was given.")]
    assert cells(shown) == cells(text(frame, by=["family"]))
    assert set(frame["task"]) == set(TASKS)
    assert set(frame["condition"]) == set(CONDITIONS.split(","))
    assert set(frame["scaffold"]) == {SCAFFOLD}
    assert set(frame.loc[frame["condition"] == "control", "context_tokens"]) == {CONTEXT_TOKENS}


def test_its_minutes_are_those_of_its_episodes() -> None:
    """From the first start to the last, and as long as the last took; weights and reports beside."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (minutes,) = re.findall(r"it took (\d+) minutes", readme)
    spent = frames.read(str(ROOT / "results/demo.csv"))["seconds"].sum() / 60
    assert spent <= int(minutes) <= spent + 2
