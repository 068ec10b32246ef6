"""``constraintrot demo``: two tasks on a small local model, then the table."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from constraintrot.errors import ConstraintRotError
from constraintrot.extras import require

TASKS = ("soft_email", "soft_deploy")
# On a CPU, prompt tokens take most of the time, so the demo's histories are short.
CONTEXT_TOKENS = 300


def run(model: str, variants: int, log_dir: str) -> None:
    """Run the demo, and print its table and where the logs are.

    Args:
        model: an Inspect model name.
        variants: variants of each task.
        log_dir: folder for Inspect's logs.

    Raises:
        ConstraintRotError: a run did not finish; the message has the command to resume it.
        MissingExtraError: the model needs llama.cpp, which is not installed.
    """
    if model.startswith("local/"):
        require(f"the model {model}", "local")
        _weights(model.removeprefix("local/"))
    from inspect_ai import eval as inspect_eval  # pyright: ignore[reportUnknownVariableType]

    click.echo(f"\n{' and '.join(TASKS)} on {model}: floor, control, compaction\n")
    logs = inspect_eval(
        [f"constraintrot/{task}" for task in TASKS],
        model=model,
        task_args={"variants": variants, "context_tokens": CONTEXT_TOKENS},
        log_dir=log_dir,
        display="rich" if sys.stdout.isatty() else "plain",
        score_display=True,
        log_buffer=1,
    )
    unfinished = [log.location for log in logs if log.status != "success"]
    if unfinished:
        raise ConstraintRotError(
            "the run did not finish; go on where it stopped, nothing is lost, with\n"
            + "\n".join(f"  inspect eval-retry {location}" for location in unfinished)
        )
    _show([log.location for log in logs], log_dir)


def _weights(name: str) -> None:
    from constraintrot.models.in_process import weights

    if weights.path(name) is None:
        click.echo(f"Fetching the weights of {name} (once).")
    weights.pull(name, progress=weights.to_stderr())


def _show(locations: list[str], log_dir: str) -> None:
    from constraintrot.report.frame import planned_episodes
    from constraintrot.report.table import text

    click.echo("\n" + text(planned_episodes(locations), by=["family"]))
    click.echo("\nfloor: no policy was given. control: the policy is in the context.")
    click.echo("compaction: the same, after the history was summarised.")
    click.echo(f"\nLogs: {log_dir}. Open them, with the history before and after compaction:")
    # The script next to this command, whose folder need not be on the path.
    beside = Path(sys.argv[0]).with_name("inspect")
    click.echo(f"  {beside if beside.exists() else 'inspect'} view --log-dir {log_dir}")
