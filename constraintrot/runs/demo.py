"""``constraintrot demo``: a small local model obeys, forgets, violates, and obeys under the pin."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from constraintrot.command_line import named_model
from constraintrot.errors import ConstraintRotError
from constraintrot.extras import require

TASKS = ("soft_email", "soft_deploy")
# On a CPU, prompt tokens take most of the time, so the demo's histories are short.
CONTEXT_TOKENS = 300
CONDITIONS = "floor,control,compaction,defense_pin"
# A bare model of this size often does not apply a rule that it sees.
SCAFFOLD = "review"


def run(model: str, variants: int, log_dir: str) -> None:
    """Run the demo, and print its table, one episode told step by step, and where the logs are.

    Args:
        model: an Inspect model name.
        variants: variants of each task.
        log_dir: folder for Inspect's logs.

    Raises:
        ConstraintRotError: a run did not finish; the same call resumes it.
        MissingExtraError: the model needs llama.cpp, which is not installed.
    """
    if model.startswith("local/"):
        require(f"the model {model}", "local")
        _weights(model.removeprefix("local/"))
    from inspect_ai import eval_set  # pyright: ignore[reportUnknownVariableType]

    named_model("--model", model, memoize=True)
    click.echo(f"\n{' and '.join(TASKS)} on {model}: {CONDITIONS.replace(',', ', ')}\n")
    # An eval set goes on with what its folder holds of the same tasks.
    finished, logs = eval_set(
        [f"constraintrot/{task}" for task in TASKS],
        model=model,
        task_args={
            "variants": variants,
            "context_tokens": CONTEXT_TOKENS,
            "conditions": CONDITIONS,
            "scaffold": SCAFFOLD,
        },
        log_dir=log_dir,
        log_dir_allow_dirty=True,
        max_tasks=1,
        max_samples=1,
        retry_attempts=0,
        retry_immediate=False,
        display="rich" if sys.stdout.isatty() else "plain",
        score_display=True,
        log_buffer=1,
    )
    if not finished:
        raise ConstraintRotError(
            "the run did not finish; nothing is lost, and the same command goes on where it stopped"
        )
    in_order = sorted(logs, key=lambda log: TASKS.index(log.eval.task.split("/")[-1]))
    _show([log.location for log in in_order], log_dir)


def _weights(name: str) -> None:
    from constraintrot.models.in_process import weights

    if weights.path(name) is None:
        click.echo(f"Fetching the weights of {name} (once).")
    weights.pull(name, progress=weights.to_stderr())


def _show(locations: list[str], log_dir: str) -> None:
    from inspect_ai.log import read_eval_log

    from constraintrot.report.annotated import annotated
    from constraintrot.report.frame import planned_episodes
    from constraintrot.report.table import text

    click.echo("\n" + text(planned_episodes(locations), by=["family"]))
    click.echo("\nfloor: no policy was given. control: the policy is in the context.")
    click.echo("compaction: the same, after the history was summarised.")
    click.echo("defense_pin: compacted too, with the policy in a pinned block.")
    samples = (one for path in locations for one in read_eval_log(path).samples or ())
    click.echo("\n" + annotated(samples))
    click.echo(f"\nLogs: {log_dir}. Open them, with the history before and after compaction:")
    # The script next to this command, whose folder need not be on the path.
    beside = Path(sys.argv[0]).with_name("inspect")
    click.echo(f"  {beside if beside.exists() else 'inspect'} view --log-dir {log_dir}")
