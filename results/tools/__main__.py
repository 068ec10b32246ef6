"""``python -m results.tools FOLDER [--check]``."""

from __future__ import annotations

from pathlib import Path

import click

from constraintrot.command_line import clear_errors
from results.tools import build


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False, exists=True))
@click.option("--check", is_flag=True, help="Write nothing; exit 1 if anything would change.")
def main(folder: Path, check: bool) -> None:
    """Generate the files of FOLDER that depend on its runs.yaml, reproduction.yaml and frames."""
    with clear_errors():
        changes = build.differences(folder) if check else build.write(folder)
    for line in changes:
        click.echo(line)
    if check and changes:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
