"""``python -m results.tools.scaling WHAT``: how a sweep scales.

- ``measure --json results/scaling-costs.json``: on a Ray cluster of this machine, minutes; on
  quiet processors.
- ``simulate --costs results/scaling-costs.json --csv results/scaling.csv --markdown
  results/scaling.md``: up to 1,000 workers, from those costs.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

os.environ.setdefault("INSPECT_DISPLAY", "none")

import click

from constraintrot.command_line import clear_errors
from constraintrot.report.tables import Table

_path = click.Path(path_type=Path)


@click.group()
def main() -> None:
    """Measure what a sweep's parts cost, and simulate more of them."""


@main.command()
@click.option("--json", "path", type=_path, required=True)
@click.option("--workers", default="1,2,4", show_default=True)
@click.option("--variants", default=4, show_default=True, help="Of each family, in a cell.")
def measure(path: Path, workers: str, variants: int) -> None:
    """Measure; writes the inputs of the simulation."""
    from results.tools.scaling import measure as measuring

    with clear_errors():
        found = {
            "machine": measuring.machine(),
            "costs": {name: round(one, 4) for name, one in measuring.costs().items()},
            "runs": measuring.plain(
                [measuring.at_work(int(one), variants) for one in workers.split(",")]
            ),
        }
    path.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


@main.command()
@click.option("--costs", type=_path, required=True)
@click.option("--csv", "table", type=_path, required=True)
@click.option("--markdown", type=_path, required=True)
def simulate(costs: Path, table: Path, markdown: Path) -> None:
    """Simulate; writes the table and the page."""
    from results.tools.scaling import scenarios

    measured = json.loads(costs.read_text(encoding="utf-8"))
    lines = scenarios.lines(measured)
    table.write_text(Table.of(lines).csv(), encoding="utf-8", newline="\n")
    markdown.write_text(scenarios.page(measured, lines), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
