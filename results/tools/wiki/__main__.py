"""``python -m results.tools.wiki WHAT``: makes the committed tables about the living wiki.

- ``wording --csv results/wiki-wording.csv``: which writes scripted maintainers leave, by the
  schema's wording. ``--model NAME`` asks a real one; the same command goes on where it stopped.
- ``reach --csv results/wiki-reach.csv``: whether a query reaches a policy.
- ``attacks --csv results/wiki-attacks.csv``: episodes under each attack on a vault.
- ``growth --csv results/wiki-growth.csv``: the graph as it grows.
- ``figures``: those of docs/wiki.md, from these tables; ``make report`` writes results/wiki.md.
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
from results.tools.their_claims import read, write
from results.tools.wiki import attacked as attacking
from results.tools.wiki import figures
from results.tools.wiki import growth as growing
from results.tools.wiki import reach as reaching
from results.tools.wiki import wording as worded

RESULTS = Path("results")
_csv = click.option("--csv", "path", type=click.Path(path_type=Path), required=True)


@click.group()
def main() -> None:
    """Measure the living wiki and write the committed tables."""


@main.command()
@_csv
@click.option("--model", "models", multiple=True, help="Scripted maintainers if none is given.")
@click.option("-n", "number", default=200, show_default=True, help="Sources under each wording.")
def wording(path: Path, models: tuple[str, ...], number: int) -> None:
    """Compare consequence and reminder wording by the deferral of each write."""

    async def measured() -> None:
        for model in models or worded.SCRIPTED:
            await worded.measure(model, number, path)

    with clear_errors():
        asyncio.run(measured())


@main.command()
@_csv
@click.option("--variants", default=3, show_default=True, help="Of each family.")
def reach(path: Path, variants: int) -> None:
    """Measure whether a query reaches a policy, by place, skipped writes and attacks.

    The same command continues a stopped run.
    """
    with clear_errors():
        known = reaching.read(read(path))
        _write(path, reaching.rows(variants, known))


@main.command()
@_csv
@click.option("--model", default="scripted/obedient", show_default=True)
@click.option("--variants", default=2, show_default=True, help="Of each family.")
def attacks(path: Path, model: str, variants: int) -> None:
    """Play episodes under each attack on a vault; the same command continues a stopped run."""
    with clear_errors():
        known = read(path)
        _write(path, attacking.rows(model, variants, known))


@main.command()
@_csv
def growth(path: Path) -> None:
    """Measure pages, links, clustering and removed dangling links as a vault grows."""
    with clear_errors():
        _write(path, growing.snapshots())


@main.command("figures")
def figures_command() -> None:
    """Draw the figures of docs/wiki.md from the committed tables."""
    docs_figures.write(figures.texts(RESULTS))


def _write(path: Path, rows: Iterable[Any]) -> None:
    write(path, map(asdict, rows))


if __name__ == "__main__":
    main()
