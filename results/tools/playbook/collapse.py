"""The context-collapse probe over memories, each step in a CSV as soon as it is measured."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, Final

from inspect_ai.model import Model

from constraintrot.compactors import budget_tokens
from constraintrot.playbook import APPEND_ONLY, COUNTERS_ONLY, LAZY, PROACTIVE, Playbook
from constraintrot.playbook.collapse import Measured, probe
from constraintrot.playbook.memory import Memory, PlaybookMemory, RewrittenMemory

COLUMNS: Final = ("model", "memory", *(one.name for one in fields(Measured)))


def memories(model: Model, words: int) -> Mapping[str, Callable[[], Memory]]:
    """The memories by name, of one model in all roles, as the paper has it.

    Args:
        model: reflects, curates and rewrites.
        words: word budget of the memories that keep one.
    """

    def playbook(**settings: Any) -> Callable[[], Memory]:
        return lambda: PlaybookMemory(Playbook(**settings), model, model)

    budget = budget_tokens(words)
    return {
        "rewrite": lambda: RewrittenMemory(model),
        "rewrite, budget": lambda: RewrittenMemory(model, words),
        "append only": playbook(refinement=APPEND_ONLY),
        "proactive": playbook(budget=budget, refinement=PROACTIVE),
        "lazy": playbook(budget=budget, refinement=LAZY),
        "counters, no kinds": playbook(budget=budget, refinement=COUNTERS_ONLY),
    }


async def measure(
    name: str, label: str, make: Callable[[], Memory], path: Path, settings: Mapping[str, int]
) -> None:
    """Measure one memory and append its steps; go on behind the last step that is there.

    Args:
        name: of the memory.
        label: how its model is called in the file.
        make: makes the memory.
        path: the CSV.
        settings: ``steps``, ``facts`` and ``rule_every`` of the probe.
    """
    memory, first = make(), 1
    left = path.with_name(f"{path.stem}.{label}.{name}.state.json".replace("/", "-"))
    if left.is_file():
        state = json.loads(left.read_text(encoding="utf-8"))
        first = state["step"] + 1
        if isinstance(memory, PlaybookMemory):
            memory.playbook.fill(state["memory"])
        elif isinstance(memory, RewrittenMemory):
            memory.notes = state["memory"]
    _forget(path, label, name, first)
    async for row in probe(memory, first=first, **settings):
        _append(path, {"model": label, "memory": name, **asdict(row)})
        fresh = left.with_suffix(".new")
        fresh.write_text(json.dumps({"step": row.step, "memory": _state(memory)}), encoding="utf-8")
        fresh.replace(left)
    _done(left)


def _done(left: Path) -> None:
    left.unlink(missing_ok=True)


def _forget(path: Path, label: str, name: str, first: int) -> None:
    """Drop rows of steps that are measured anew: of a run that was killed before its state."""
    if not path.is_file():
        return
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    kept = [
        row
        for row in rows
        if (row["model"], row["memory"]) != (label, name) or int(row["step"]) < first
    ]
    if len(kept) < len(rows):
        path.unlink()
        for row in kept:
            _append(path, row)


def _state(memory: Memory) -> Any:
    if isinstance(memory, PlaybookMemory):
        return memory.playbook.plain()
    return memory.render()


def _append(path: Path, row: Mapping[str, object]) -> None:
    new = not path.is_file()
    with path.open("a", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        if new:
            writer.writeheader()
        writer.writerow(row)
