"""``constraintrot report``: a report page about some runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from constraintrot.cli.guard import clear_errors, needs
from constraintrot.cli.qualify import qualification_options

if TYPE_CHECKING:
    from constraintrot.report.qualified import Level


@click.command()
@click.argument("logs", nargs=-1, required=True)
@click.option(
    "-o", "--out", "folder", type=click.Path(path_type=Path, file_okay=False), required=True,
    help="Folder for report.html, report.md, summary.json, episodes.csv and .parquet.",
)  # fmt: skip
@click.option(
    "--primary", "declared", type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="YAML file that declares the primary claims; by default: compaction against control,"
    " the pin against compaction, and the same under the injection attack.",
)  # fmt: skip
@click.option(
    "--figures", is_flag=True, help="Also write each figure to figures/, as SVG, PDF and CSV."
)
@click.option(
    "--collapse", type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Table of the context-collapse probe (docs/playbook.md), for a section of its own.",
)  # fmt: skip
@qualification_options
@needs("eval", "report")
def report(
    logs: tuple[str, ...],
    folder: Path,
    declared: Path | None,
    figures: bool,
    collapse: Path | None,
    qualification: tuple[Path, ...],
    qualified_by: Level,
) -> None:
    """Write a page about LOGS: Inspect logs, frames of earlier reports, or folders of them.

    LOGS are paths or fsspec URLs. Needs the extra constraintrot[report].
    """
    with clear_errors():
        from constraintrot.report.page import primary
        from constraintrot.report.page.write import report as write

        written = write(
            logs,
            folder,
            qualification,
            qualified_by,
            declared=primary.read(declared),
            figures=figures,
            collapse=collapse,
        )
    for notice in written.source.notices:
        click.echo(f"! {notice}", err=True)
    for answer in written.answers:
        beside = f" ({written.qualifies[answer.agent]})" if answer.claim else ""
        said = f"{answer.question} {answer.word}. {answer.line}{beside}"
        click.echo(f"{answer.agent}: {said}\n")
    for line in written.pooled:
        click.echo(f"{line}\n")
    click.echo(str(folder / "report.html"))
