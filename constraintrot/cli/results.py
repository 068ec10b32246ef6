"""``constraintrot results``: hand in a result, and check a result that was handed in."""

import sys
from pathlib import Path
from typing import Any

import click

from constraintrot.command_line import name_unread, needs, say


@click.group()
def results() -> None:
    """Contribute a result: a folder that anyone can grade anew."""


@results.command()
@click.argument("logs", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "-o", "--out", "folder", type=click.Path(path_type=Path, file_okay=False), required=True,
    help="Folder to write, such as results/contributed/NAME; its name is the result's.",
)  # fmt: skip
@click.option("--title", default="", help="What was asked, in a few words.")
@click.option("--machine", default="", help="What it ran on, in words.")
@click.option("--by", default="", help="Who contributes it.")
@click.option("--notes", default="", help="What else a reader has to know.")
@click.option(
    "--qualification",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="The qualification.json of `constraintrot qualify`, for the same model and scaffold.",
)
@click.option("--force", is_flag=True, help="Overwrite a result that is in the folder.")
@needs("eval")
def export(
    logs: tuple[Path, ...],
    folder: Path,
    title: str,
    **given: Any,
) -> None:
    """Write a folder from Inspect LOGS: run.yaml, episodes.csv and calls.jsonl, then check it.

    The calls are kept, and an agent's words only if no call acts. Look at run.yaml
    before you publish it: commands may hold paths of your machine.
    """
    from constraintrot.report.contributed.export import export as write
    from constraintrot.tasks.rebuildable import TASKS

    name_unread(logs)
    run = write(logs, folder, TASKS, title=title or folder.resolve().name, **given)
    say(f"{folder}: {run.model}, {len(run.logs)} logs")
    sys.exit(_checked([folder]))


@results.command()
@click.argument(
    "folders", nargs=-1, required=True, type=click.Path(path_type=Path, file_okay=False)
)
@needs("eval")
def check(folders: tuple[Path, ...]) -> None:
    """Check that contributed FOLDERS are complete, of one subject, and graded as their calls are.

    Exit status 0: consistent; 1: something does not fit; 2: a folder cannot be read.
    """
    sys.exit(_checked(folders))


def _checked(folders: tuple[Path, ...] | list[Path]) -> int:
    from constraintrot.report.contributed.check import check as consistent
    from constraintrot.report.episode_counts import is_played
    from constraintrot.tasks.rebuildable import TASKS

    wrong = False
    for folder in folders:
        found = consistent(folder, TASKS)
        for finding in found.findings:
            say(f"{folder}: {finding}")
        played = int(is_played(found.frame).sum())
        said = f"{len(found.findings)} do not fit" if found.findings else "graded anew, all fit"
        click.echo(f"{folder}: {played} of {len(found.frame)} planned episodes played; {said}")
        wrong = wrong or bool(found.findings)
    return int(wrong)
