"""``python -m results.tools.playbook WHAT``: makes the committed tables about playbooks.

- ``collapse --csv results/playbook-collapse.csv``: size and rules of each memory, step by
  step, with scripted rewriters.
- ``collapse --model local/qwen2.5-coder-1.5b --steps 60 --facts 1 --words 200 --csv FILE``: the same
  with a real model in all roles. What was measured is kept at every step: the same command
  goes on.
- ``adaptation --csv results/playbook-adaptation.csv [--model ...]``: the desk task.
- ``starvation --csv results/playbook-starvation.csv``: rules pruned by counters.
- ``contradictions --csv results/playbook-contradictions.csv``: what each measure merges.
- ``figures``: those of docs/playbook.md, from the committed tables.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

os.environ.setdefault("INSPECT_DISPLAY", "none")

import click

from constraintrot.command_line import clear_errors
from results.tools import docs_figures
from results.tools.playbook import adaptation as desk_task
from results.tools.playbook import collapse as steps_of
from results.tools.playbook import contradictions as pairs
from results.tools.playbook import figures as drawing
from results.tools.playbook import starvation as starving
from results.tools.their_claims import write

# Each memory with the script that shows it: one that collapses, and one that loses nothing.
SCRIPTED = {
    "rewrite": "scripted/summarizer-collapse",
    "rewrite, budget": "scripted/summarizer-hoard",
    "append only": "scripted/summarizer-hoard",
    "proactive": "scripted/summarizer-hoard",
    "lazy": "scripted/summarizer-hoard",
    "counters, no kinds": "scripted/summarizer-hoard",
}
_csv = click.option("--csv", "path", type=click.Path(path_type=Path), required=True)


@click.group()
def main() -> None:
    """Measure playbooks and write the committed tables."""


@main.command()
@_csv
@click.option("--model", help="In all roles; scripted ones if none is given.")
@click.option("--memory", "only", multiple=True, type=click.Choice(list(SCRIPTED)))
@click.option("--steps", default=80, show_default=True)
@click.option("--facts", default=20, show_default=True, help="New facts a step.")
@click.option("--rule-every", default=8, show_default=True, help="Steps from rule to rule.")
@click.option("--words", default=3000, show_default=True, help="Budget of memories that keep one.")
def collapse(
    path: Path, model: str | None, only: tuple[str, ...], steps: int, facts: int, rule_every: int,
    words: int,
) -> None:  # fmt: skip
    """Measure the size and content of each memory, step by step."""
    from inspect_ai.model import get_model

    settings = {"steps": steps, "facts": facts, "rule_every": rule_every}

    async def measured() -> None:
        for name in only or tuple(SCRIPTED):
            chosen = model or SCRIPTED[name]
            make = steps_of.memories(get_model(chosen), words)[name]
            await steps_of.measure(name, chosen, make, path, settings)

    with clear_errors():
        asyncio.run(measured())


@main.command()
@_csv
@click.option("--model", default="scripted/obedient", show_default=True)
@click.option("--epochs", default=2, show_default=True)
@click.option("--words", default=300, show_default=True, help="Budget of each memory.")
@click.option("--most", type=int, help="Requests of each split at most.")
def adaptation(path: Path, model: str, epochs: int, words: int, most: int | None) -> None:
    """Measure each memory on the desk task against none, in pairs."""
    from inspect_ai.model import get_model

    with clear_errors():
        made = desk_task.adaptation(get_model(model), model, epochs=epochs, words=words, most=most)
        _write(path, asyncio.run(made))


@main.command()
@_csv
@click.option("--runs", default=200, show_default=True)
def starvation(path: Path, runs: int) -> None:
    """Count how often counters prune a rule, by how often it is counted."""
    _write(path, starving.starvation(runs))


@main.command()
@_csv
def contradictions(path: Path) -> None:
    """List the contradictory rules that each measure takes for one."""
    with clear_errors():
        _write(path, pairs.contradictions())


@main.command()
def figures() -> None:
    """Draw the figures of docs/playbook.md from the committed tables."""
    docs_figures.write(drawing.texts(Path("results")))


def _write(path: Path, rows: Iterable[Any]) -> None:
    write(path, map(asdict, rows))


if __name__ == "__main__":
    main()
