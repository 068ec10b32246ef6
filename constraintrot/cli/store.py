"""``constraintrot store``: commit finished runs to a store, and see what it has."""

import click

from constraintrot.command_line import name_unread, needs, say


@click.group()
def store() -> None:
    """Keep the results of many runs in one place: a folder, or a bucket by its URL."""


@store.command()
@click.argument("url")
@click.argument("logs", nargs=-1, required=True)
@click.option("--cell", help="Name of the cell; by default the task's id, which a retry keeps.")
@needs("eval", "report")
def add(url: str, logs: tuple[str, ...], cell: str | None) -> None:
    """Commit each of LOGS, an Inspect log or a folder of them, to the store at URL as a cell.

    URL and LOGS are paths or fsspec URLs. The store is made if it is not there.
    """
    from constraintrot.report.cells import commit, expanded

    name_unread(logs)
    found = expanded(logs)
    if cell is not None and len(found) > 1:
        raise click.UsageError("--cell names one cell; give one log, or leave it out")
    for log in found:
        made = commit(url, log, cell=cell)
        say(f"{made.cell}: {made.finished} of {made.rows} episodes")


@store.command(name="list")
@click.argument("url")
@needs("eval", "report")
def list_(url: str) -> None:
    """Print the cells of the store at URL, the oldest run first, and how many episodes they have."""
    from constraintrot.report.store import Store

    commits = Store(url).commits()
    for one in commits:
        say(f"{one.cell}: {one.finished} of {one.rows} episodes, begun {one.created or '?'}")
    finished, rows = sum(one.finished for one in commits), sum(one.rows for one in commits)
    click.echo(f"{len(commits)} cells, {finished} of {rows} episodes")
