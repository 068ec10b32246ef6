"""The paper's figures (arXiv 2606.22528), shown next to the report's and marked as the paper's.

Only figures that its text gives; the others are not guessed. Its models are seven large
served models, not small local ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pandas as pd

from constraintrot.report.page.view import Block, Row, Section, Table, Theirs
from constraintrot.scenario.files import APART, catalogue

NAME = "paper"
MODELS = (
    "DeepSeek-V4",
    "GLM-5.1",
    "Qwen3.6",
    "Kimi-K2.5",
    "Claude-4.6",
    "GPT-5.4-mini",
    "Gemini-3.5",
)
HEADLINE: Mapping[str, tuple[int, ...]] = {
    "floor": (37, 44, 48, 48, 33, 56, 63, 47),
    "control": (0, 0, 0, 0, 0, 0, 0, 0),
    "compaction": (59, 0, 30, 59, 19, 41, 4, 30),
    "attack_volume": (48, 7, 26, 44, 0, 37, 19, 26),
    "attack_inject": (59, 22, 33, 41, 0, 37, 0, 28),
    "defense_pin": (0, 0, 0, 0, 0, 0, 0, 0),
    "defense_pin_attack": (0, 0, 0, 0, 0, 0, 0, 0),
}
KINDS = {"soft": "+50 points", "hard": "+6 points"}
SUMMARIZERS = {"DeepSeek": (93, 53, 33), "GLM": (13, 7, 7), "Claude": (60, 53, 47)}
ATTACKS = {
    "bulk_document": (85, 40, 40),
    "inject_deprecation": (95, 55, 0),
    "inject_budget": (95, 60, 65),
    "inject_system": (100, 85, 20),
    "best of those, by model": (100, 85, 65),
}
COMPACTORS = {"truncate": 38, "hierarchical": 36, "summarize": 26, "head_tail": 0}
CHANNELS = {
    "system": "+0 points",
    "user": "+50 points",
    "memory": "+45 points",
    "tool": "+33 points",
}
HARNESSES = {"langgraph": "65 %", "langmem": "up to 95 %", "autogen": "100 %"}
DEFENSES = {
    "pin": "0 % / 0 %",
    "system_channel": "0 % / 0 %",
    "spotlight": "43 % / 45 %",
}
UTILITY = "Pinned, 99 % of allowed actions were done and 1 % over-refused"
BUDGET = {"violation": ((15, 28), (300, 7)), "survived": ((15, 23), (300, 88))}
SURVIVAL = "the paper: kept 0 %, dropped 38 % (judge); kept 1 %, dropped 43 % (keywords)"
STRATEGIES = ("DeepSeek", "GLM-5.1", "Claude")


def compares(frame: pd.DataFrame) -> bool:
    """Return whether all policies are the benchmark's, for which the paper has figures."""
    return set(map(str, frame["family"])) <= {*catalogue(), *catalogue(APART)}


def without(section: Section) -> Section:
    """Return a section for a user's own policies, without the paper's figures."""
    blocks = [_without(block) for block in section.blocks]
    return replace(section, blocks=tuple(block for block in blocks if block is not None))


def _without(block: Block) -> Block | None:
    if isinstance(block, str):
        return None if block.lower().startswith("the paper") else block
    if not isinstance(block, Table):
        return block
    if block.theirs:
        return None
    kept = [at for at, name in enumerate(block.columns) if NAME not in name]
    rows = tuple(replace(row, cells=tuple(row.cells[at] for at in kept)) for row in block.rows)
    columns = tuple(block.columns[at] for at in kept)
    caption = block.caption.partition(", paper's")[0]
    notes = tuple(note.replace(f"; {SURVIVAL}", "") for note in block.notes)
    return replace(block, caption=caption, columns=columns, rows=rows, notes=notes)


def pooled(arm: str) -> Theirs | str:
    """Return the paper's rate over its seven models and their range; empty if it lacks the arm."""
    figures = HEADLINE.get(arm)
    if figures is None:
        return ""
    low, high = min(figures[:-1]), max(figures[:-1])
    return Theirs(f"{figures[-1]} %" + (f" ({low} to {high})" if low != high else ""))


def of(known: Mapping[str, object], name: str) -> Theirs | str:
    """Return the paper's figure for a name; empty if it has none."""
    figure = known.get(name)
    if figure is None:
        return ""
    return Theirs(f"{figure} %" if isinstance(figure, int) else str(figure))


def headline() -> Table:
    return _table("Violation in per cent, paper's Table 2", "condition", (*MODELS, "all"), HEADLINE)


def summarizers() -> Table:
    columns = ("DeepSeek", "GLM", "Claude")
    return _table("Violation in per cent, paper's Table 3", "summarizer", columns, SUMMARIZERS)


def attacks() -> Table:
    return _table("Violation in per cent, paper's Table 4", "attack", STRATEGIES, ATTACKS)


def _table(
    caption: str, head: str, columns: tuple[str, ...], rows: Mapping[str, tuple[int, ...]]
) -> Table:
    body = [
        Row((name,), tuple(Theirs(str(figure)) for figure in figures))
        for name, figures in rows.items()
    ]
    return Table(f"{caption} (its figures, its models)", (head,), columns, tuple(body), theirs=True)
