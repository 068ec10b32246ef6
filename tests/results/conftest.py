"""A small folder of results."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml

from constraintrot.report.page import primary
from results.tools import build
from tests.report.page.helpers import arm

RUN: dict[str, Any] = {
    "name": "first", "title": "First", "date": "2026-01-02", "models": {"a/model": "f" * 64},
    "machine": "a machine", "settings": "greedy", "commands": "$ inspect eval it\n",
    "shows": "Something.", "does_not_show": "The rest.", "tables": [{"by": ["kind"]}],
    "notes": "## More\n\nWords.\n",
}  # fmt: skip
DECAY: dict[str, Any] = {
    "title": "Decay", "claim": "It breaks.", "paper": "30 % (Table 2).",
    "arms": {"seen": {"where": {"condition": "control"}},
             "compacted": {"where": {"condition": "compaction"}}},
    "tests": [{"a": "seen", "b": "compacted", "b_is": "higher"}], "verdict": "same", "words": "It does.",
}  # fmt: skip
HELD: dict[str, Any] = {"allowed": False, "attack": "none", "defense": "none", "budget_words": 60}


def put(folder: Path, name: str, rows: list[dict[str, Any]]) -> None:
    """A frame as ``constraintrot table --csv`` writes it."""
    pd.DataFrame(rows).to_csv(folder / "frames" / f"{name}.csv", index=False)


def describe(folder: Path, runs: list[dict[str, Any]], claims: list[dict[str, Any]]) -> None:
    """What a person writes by hand."""
    # JSON is YAML without aliases, which the reader refuses.
    (folder / "runs.yaml").write_text(json.dumps(runs), encoding="utf-8")
    page = {"margin": 0.1, "held": HELD, "claims": claims}
    (folder / "reproduction.yaml").write_text(json.dumps(page), encoding="utf-8")
    declared = primary.read().model_dump(mode="json") | {"also": "reproduction.yaml"}
    (folder / "primary.yaml").write_text(yaml.safe_dump(declared), encoding="utf-8")


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """One run of a control and a compaction, and one claim about them."""
    folder = tmp_path / "results"
    (folder / "frames").mkdir(parents=True)
    put(folder, "first", [*arm("control", 8, 0), *arm("compaction", 8, 8)])
    describe(folder, [RUN], [DECAY])
    (folder / "README.md").write_text(f"Before.\n\n{build.BEGIN}\n{build.END}\n\nAfter.\n")
    return folder
