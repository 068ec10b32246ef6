"""``constraintrot harnesses``: the soft tasks through every framework, with pins and without."""

import sys
from pathlib import Path
from typing import Any

import click

from constraintrot.command_line import named_model, needs, unasked, write


@click.command()
@click.option("--model", default="scripted/obedient", show_default=True, help="Inspect model.")
@click.option(
    "--variants",
    type=click.IntRange(1),
    default=2,
    show_default=True,
    help="Variants of each of the five tasks.",
)
@click.option("--only", multiple=True, metavar="NAME[:MODE]", help="These harnesses; repeat it.")
@click.option("--log-dir", default="logs/harnesses", show_default=True)
@click.option("--context-tokens", type=click.IntRange(100), default=800, show_default=True,
              help="History to compact.")  # fmt: skip
@click.option(
    "--channel",
    default="user",
    show_default=True,
    help="user, tool, memory, system or another policy channel.",
)
@click.option("--csv", type=click.Path(path_type=Path), help="Write the episodes here.")
@unasked
@needs("eval")
def harnesses(only: tuple[str, ...], csv: Path | None, yes: bool, **settings: Any) -> None:
    """Play the soft tasks in each agent framework: does it keep a policy, alone and with pins?

    The five soft tasks run through every harness and each of its compaction modes, without
    a defense and with pins. Finished cells are not run again, so an interrupted run goes on
    where it stopped.

    Exit status 1, naming the cell: a harness did not run, a compaction that was
    due did not happen, or a pin is missing from a last model input.
    """
    model = settings["model"]
    named_model("--model", model, memoize=True)
    click.echo("Loading the frameworks.", err=True)
    from constraintrot.report.frame import planned_episodes
    from constraintrot.report.page.frames import csv_text
    from constraintrot.runs import estimate
    from constraintrot.runs.comparison import Run, play, size, table

    run = Run(**settings)
    estimate.before({model: size(run, only)}, yes=yes)
    cells = play(run, only, lambda line: click.echo(line, err=True))
    logs = [cell.log for cell in cells if cell.log]
    if csv is not None and logs:
        write("--csv", csv, csv_text(planned_episodes(logs)))
    click.echo(
        f"\n{model}, {run.variants} variants of each soft task, {run.context_tokens} tokens,"
        f" policy by {run.channel}\n\n{table(cells)}"
    )
    problems = [f"{cell.harness}: {problem}" for cell in cells for problem in cell.problems]
    if problems:
        click.echo("\n" + "\n".join(f"constraintrot: {problem}" for problem in problems), err=True)
        sys.exit(1)
