"""``constraintrot demo``: a small local model obeys, forgets, violates, and obeys under the pin.

It first plays and describes one request, condition by condition, then prints a table of all.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import click

from constraintrot.command_line import named_model
from constraintrot.errors import ConstraintRotError
from constraintrot.extras import require

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog

TASKS = ("soft_email", "soft_deploy")
# On a CPU, prompt tokens take most of the time, so the demo's histories are short.
CONTEXT_TOKENS = 300
CONDITIONS = "floor,control,compaction,defense_pin"
# Without a review, a model of this size often ignores a rule that it sees.
SCAFFOLD = "review"
SCRIPTED = "scripted/obedient"
# From a committed run on two cores with local weights (results/demo.csv): 838 s, 16 episodes.
_SECONDS_AN_EPISODE = 52
_UNFINISHED = (
    "the run did not finish; nothing is lost, and the same command goes on where it stopped"
)


def run(model: str, variants: int, log_dir: str, *, quick: bool = False) -> None:
    """Tell one request step by step; unless ``quick``, then print a table and the logs' folder."""
    name = model.removeprefix("local/") if model.startswith("local/") else None
    if name is not None:
        require(f"the model {model}", "local")
    named_model("--model", model, memoize=True)
    click.echo(_plan(model, 3 if quick else 4 * variants * len(TASKS)))
    click.echo(_estimate(model, variants, quick=quick))
    if name is not None:
        _weights(name)
    logs = [log.location for log in _story(model, log_dir)]
    if quick:
        return
    click.echo(f"\nNow the table: {CONDITIONS.replace(',', ', ')} on {' and '.join(TASKS)}.\n")
    finished, rest = _play(model, log_dir, _rest(variants))
    _table([*logs, *(log.location for log in rest)], log_dir)
    if not finished:
        raise ConstraintRotError(_UNFINISHED)


def _plan(model: str, episodes: int) -> str:
    line = f"\n{episodes} episodes on {model}"
    if not model.startswith("local/"):
        return f"{line}."
    first = f", and {_minutes(3)} until the first request is told" * (episodes > 3)
    return f"{line}: about {_minutes(episodes)} on two processor cores{first}."


def _estimate(model: str, variants: int, *, quick: bool) -> str:
    from constraintrot.runs import estimate, plan, prices, story

    given = {"variants": 1, "context_tokens": CONTEXT_TOKENS, "scaffold": SCAFFOLD}
    given |= {"conditions": ",".join(story.TOLD) if quick else CONDITIONS}
    size = plan.counted(f"constraintrot/{TASKS[0]}", given)
    size = size if quick else size.times(variants * len(TASKS))
    # Its minutes are those of the same episodes.
    return estimate.line(model, size, prices.cost(model, size, {}), None)


def _minutes(episodes: int) -> str:
    return f"{max(1, round(episodes * _SECONDS_AN_EPISODE / 60))} minutes"


def _weights(name: str) -> None:
    """Fetch the weights if they are missing, after telling the story with a scripted model."""
    from constraintrot.models.in_process import catalogue, weights

    if weights.path(name) is None:
        size = catalogue.get(name).size / 1e9
        click.echo(
            f"The weights of {name} have to be fetched once, {size:.1f} GB."
            " Until they are there, this is the same story with a scripted model:\n"
        )
        with TemporaryDirectory() as folder:
            _story(SCRIPTED, folder)
        click.echo(f"\nFetching the weights of {name}:")
    weights.pull(name, progress=weights.to_stderr())


def _story(model: str, log_dir: str) -> list[EvalLog]:
    """Play and tell one request under three conditions; return the headers of the logs."""
    from inspect_ai.log import EvalSample, read_eval_log

    from constraintrot.runs import story

    logs: list[EvalLog] = []
    samples: dict[str, EvalSample] = {}
    for number, condition in enumerate(story.TOLD, start=1):
        click.echo(f"Playing {TASKS[0]}, {condition} ...", err=True)
        finished, played = _play(
            model, log_dir, [_task(TASKS[0], 1, 0, condition)], display="none", score_display=False
        )
        told = read_eval_log(played[0].location).samples if finished else None
        if not told:
            raise ConstraintRotError(_UNFINISHED)
        logs.append(played[0])
        samples[condition] = told[0]
        if number == 1:
            click.echo(f"\n{story.opening(told[0])}")
        click.echo(f"\n{story.step(number, told[0])}")
    click.echo("\n" + click.style(story.ending(samples), bold=True) + f" (model: {model})")
    return logs


def _task(name: str, variants: int, seed: int, conditions: str) -> Any:
    from constraintrot.tasks import catalogue

    return getattr(catalogue, name)(
        variants=variants,
        seed=seed,
        context_tokens=CONTEXT_TOKENS,
        conditions=conditions,
        scaffold=SCAFFOLD,
    )


def _rest(variants: int) -> list[Any]:
    """Return the tasks that the table needs beside the request that was told."""
    first = [_task(TASKS[0], 1, 0, "floor")]
    more = [_task(TASKS[0], variants - 1, 1, CONDITIONS)] if variants > 1 else []
    return [*first, *more, *(_task(name, variants, 0, CONDITIONS) for name in TASKS[1:])]


def _play(
    model: str, log_dir: str, tasks: Sequence[Any], **options: Any
) -> tuple[bool, list[EvalLog]]:
    from constraintrot.runs.play import continued, display

    return continued(
        tasks,
        log_dir,
        model=model,
        log_dir_allow_dirty=True,
        max_tasks=1,
        max_samples=1,
        log_buffer=1,
        **({"display": display(), "score_display": True} | options),
    )


def _table(locations: Sequence[str], log_dir: str) -> None:
    from constraintrot.report.frame import planned_episodes
    from constraintrot.report.table import text
    from constraintrot.runs.play import page

    click.echo("\n" + text(planned_episodes(locations), by=["family"]))
    click.echo("\nfloor: no policy was given. control: the policy is in the context.")
    click.echo("compaction: the same, after the history was summarised.")
    click.echo("defense_pin: compacted too, with the policy in a pinned block.")
    click.echo("\n" + page(locations, Path(log_dir) / "report"))
    click.echo(f"\nLogs: {log_dir}. Open them, with the history before and after compaction:")
    # The script next to this command: its folder may not be on the path.
    beside = Path(sys.argv[0]).with_name("inspect")
    click.echo(f"  {beside if beside.exists() else 'inspect'} view --log-dir {log_dir}")
