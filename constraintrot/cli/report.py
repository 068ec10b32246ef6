"""``constraintrot report``: a report page about some runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from constraintrot.cli.qualify import qualification_options
from constraintrot.command_line import name_unread, needs, say
from constraintrot.errors import ParameterError

if TYPE_CHECKING:
    from constraintrot.report.qualified import Level
    from constraintrot.report.stored import Stored

LARGEST_PAGE = 200_000
"""The largest store, in episodes, whose page shows single episodes."""


@click.command()
@click.argument("logs", nargs=-1, required=True)
@click.option(
    "-o", "--out", "folder", type=click.Path(path_type=Path, file_okay=False), required=True,
    help="Folder for report.html, report.md, summary.json, runs.json, episodes.csv, its .parquet"
    " and .texts.json.",
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
    "--overview", is_flag=True,
    help="For a store: every rate and paired difference in tables, without single episodes."
    " A store of more than 200,000 episodes has no other page.",
)  # fmt: skip
@qualification_options
@needs("eval", "report")
def report(
    logs: tuple[str, ...],
    folder: Path,
    overview: bool,
    declared: Path | None,
    figures: bool,
    qualification: tuple[Path, ...],
    qualified_by: Level,
) -> None:
    """Write a page about LOGS: Inspect logs, frames of earlier reports, folders of them, a store.

    LOGS are paths or fsspec URLs. Needs the extra constraintrot[report].
    """
    from constraintrot.report import stored

    stores = stored.stores(logs) if len(logs) == 1 else []
    if overview or sum(one.rows for one in stores) > LARGEST_PAGE:
        only_page = bool(declared or figures or qualification)
        _overview(stores, folder, only_page)
        return
    from constraintrot.report.page import primary
    from constraintrot.report.page.write import report as write

    name_unread(logs)
    written = write(
        logs,
        folder,
        qualification,
        qualified_by,
        declared=primary.read(declared),
        figures=figures,
    )
    for notice in written.source.notices:
        say(f"! {notice}", err=True)
    for answer in written.answers:
        beside = f" ({written.qualifies[answer.agent]})" if answer.claim else ""
        said = f"{answer.question} {answer.word}. {answer.line}{beside}"
        say(f"{answer.agent}: {said}\n")
    for line in written.pooled:
        say(f"{line}\n")
    click.echo(str(folder / "report.html"))


def _overview(stores: list[Stored], folder: Path, only_page: bool) -> None:
    from constraintrot.report.overview.write import overview

    if not stores:
        raise ParameterError("--overview is of one store, as `constraintrot store` makes it, alone")
    if only_page:
        raise ParameterError(
            "an overview takes no --primary, --figures or --qualification;"
            f" a store of at most {LARGEST_PAGE:,} episodes has a page that does"
        )
    for line in overview(stores, folder).lines:
        say(line)
    click.echo(str(folder / "report.html"))
