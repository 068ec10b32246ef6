"""The ``constraintrot`` command. Nothing heavy is imported before it is needed."""

from __future__ import annotations

import json
import sys
import warnings
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click

from constraintrot.cli.agents import agents
from constraintrot.cli.attack import attack
from constraintrot.cli.compare import compare
from constraintrot.cli.doctor import doctor
from constraintrot.cli.harnesses import harnesses
from constraintrot.cli.operator import operator
from constraintrot.cli.pin import pin
from constraintrot.cli.qualify import qualify
from constraintrot.cli.report import report
from constraintrot.cli.reproduce import reproduce
from constraintrot.cli.results import results
from constraintrot.cli.scenario import scenario
from constraintrot.cli.store import store
from constraintrot.cli.sweep import sweep
from constraintrot.command_line import ClearGroup, name_unread, needs, options, say, write
from constraintrot.components import PluginWarning
from constraintrot.errors import ConstraintRotError, ScenarioError
from constraintrot.scenario.splits import DEFAULT_SPLIT, SPLITS, Split

if TYPE_CHECKING:
    from constraintrot.scenario.schema import Variant


class CommandGroup(ClearGroup):
    """The commands of this folder, and those of the entry point group ``constraintrot.commands``.

    The command of an entry point is loaded when it runs or when its help is printed. One that
    cannot be loaded is named in a warning and left out.
    """

    @cached_property
    def _points(self) -> dict[str, EntryPoint]:
        return {point.name: point for point in entry_points(group="constraintrot.commands")}

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted({*super().list_commands(ctx), *self._points})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        found = super().get_command(ctx, cmd_name)
        if found is not None or cmd_name not in self._points:
            return found
        point = self._points[cmd_name]
        try:
            command: click.Command = point.load()
        except Exception as error:  # Code of another package may raise anything.
            told = point.dist.name if point.dist else point.value
            warnings.warn(
                f"the command {cmd_name!r} of the installed package {told} cannot be used, and is"
                f" left out: {type(error).__name__}: {error}",
                PluginWarning,
                stacklevel=2,
            )
            return None
        return command


@click.group(cls=CommandGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="constraintrot")
def main() -> None:
    """Does an agent still obey its rules after its context was compacted?

    The evaluations run in Inspect:

        inspect eval constraintrot/soft_email --model local/qwen2.5-coder-1.5b
    """


_COMMANDS = (
    agents, attack, compare, doctor, harnesses, operator, pin, qualify, report, reproduce, results,
    scenario, sweep, store,
)  # fmt: skip
for _command in _COMMANDS:
    main.add_command(_command)


_VARIANT = options(
    click.argument("task"),
    click.option("--seed", type=click.IntRange(0), default=0, show_default=True,
                 help="Which variant."),
    click.option("--locale", default="en", show_default=True, help="en, zh, es or de."),
    click.option("--split", type=click.Choice(SPLITS), default=DEFAULT_SPLIT, show_default=True),
)  # fmt: skip


@main.command()
@_VARIANT
@click.option("--json", "as_json", is_flag=True, help="Machine-readable.")
@needs("eval")
def show(task: str, seed: int, locale: str, split: Split, as_json: bool) -> None:
    """Print a variant of TASK, or of a scenario file: policy, values, trigger, tools, ground truth."""
    variant = describe(task, seed, locale, split)
    if as_json:
        click.echo(json.dumps(variant, ensure_ascii=False, indent=2))
        return
    click.echo(f"{task}, locale {locale}, seed {seed}, split {split}\n")
    for wording, text in variant["policy"].items():
        click.echo(f"policy ({wording}):\n  {text}\n")
    click.echo("values:\n  " + json.dumps(variant["values"], ensure_ascii=False) + "\n")
    click.echo("trigger:\n  " + variant["trigger"].replace("\n", "\n  ") + "\n")
    click.echo("tools:")
    for tool in variant["tools"]:
        click.echo(f"  {tool['name']}({', '.join(tool['parameters'].get('properties', {}))})")
    click.echo()
    truth = variant["ground_truth"]
    for kind, call in truth.items():
        if kind == "complies" and call == truth["violates"]:
            click.echo("complies: the same call, after the call that the policy asks for first")
            return
        arguments = json.dumps(call["arguments"], ensure_ascii=False)
        click.echo(f"{kind}: {call['function']}({arguments})")


def describe(task: str, seed: int, locale: str, split: Split = DEFAULT_SPLIT) -> dict[str, Any]:
    from constraintrot.scenario.schema import WORDINGS

    variant = variant_of(task, seed, locale, split)
    return {
        "task": task,
        "seed": seed,
        "locale": locale,
        "split": split,
        "phrasing": variant.phrasing,
        "policy": {wording: variant.policy(wording) for wording in WORDINGS},
        "values": variant.values,
        "trigger": variant.trigger,
        "allowed_trigger": variant.allowed_trigger,
        "tools": [tool.model_dump() for tool in variant.tools],
        "ground_truth": {
            "violates": variant.violating_call.model_dump(),
            "complies": variant.complying_call.model_dump(),
        },
    }


def variant_of(task: str, seed: int, locale: str, split: Split) -> Variant:
    from constraintrot.scenario.files import give, load

    mine = Path(task).is_file() or task.endswith((".yaml", ".yml"))
    found = give(Path(task))[0] if mine else load(task, locale)
    last = len(found.seeds(split)) - 1
    if seed > last:
        raise ScenarioError(f"{task} has {last + 1} variants, seeds 0 to {last}; not {seed}")
    return found.variant(seed, split)


@main.command()
@_VARIANT
@click.option(
    "--call",
    "source",
    type=click.File("r", encoding="utf-8"),
    required=True,
    help="JSON file of one call or a list of calls; - reads standard input.",
)
@needs("eval")
def grade(task: str, seed: int, locale: str, split: Split, source: IO[str]) -> None:
    """Grade tool calls against a variant of TASK, or of a scenario file.

    A call is {"function": ..., "arguments": {...}}. Prints {"outcome", "reason"}.
    """
    from constraintrot.grading import verdict

    variant = variant_of(task, seed, locale, split)
    try:
        calls = verdict.read_calls(source.read())
    except ValueError as error:
        raise ConstraintRotError(f"--call: not JSON: {error}") from error
    graded = verdict.grade(variant, calls)
    click.echo(json.dumps({"outcome": graded.outcome, "reason": graded.reason}, ensure_ascii=False))


@main.group()
def models() -> None:
    """The models that run in this process, without a key."""


@models.command("list")
def models_list() -> None:
    """List the models with their size, licence, and file if they are downloaded."""
    from constraintrot.models.in_process import catalogue, weights

    for entry in catalogue.MODELS:
        path = weights.path(entry.name)
        state = str(path) if path else f"not here; constraintrot models pull {entry.name}"
        click.echo(f"local/{entry.name:<20} {entry.size / 1e6:6.0f} MB  {entry.licence}  {state}")


@models.command("pull")
@click.argument("name")
def models_pull(name: str) -> None:
    """Download the weights of NAME, with progress; an interrupted download is resumed."""
    from constraintrot.models.in_process import weights

    click.echo(str(weights.pull(name, progress=weights.to_stderr())))


@models.command("path")
@click.argument("name")
def models_path(name: str) -> None:
    """Print the path of the weights of NAME; exit status 1 if they are not downloaded."""
    from constraintrot.models.in_process import weights

    path = weights.path(name)
    if path is None:
        click.echo(f"not here; constraintrot models pull {name}", err=True)
        sys.exit(1)
    click.echo(str(path))


@main.command()
@click.argument("logs", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--by", multiple=True, help="Also split the cells by this fact, such as family; repeat it."
)
@click.option("--defenses", is_flag=True, help="Compare each defense with none, in pairs.")
@click.option(
    "--matrix",
    nargs=2,
    help="Violation by two facts, such as attack defense, on the same variants.",
)
@click.option(
    "--csv", type=click.Path(path_type=Path), help="Write the episodes, or the pairs' rows, here."
)
@needs("eval")
def table(
    logs: tuple[Path, ...],
    by: tuple[str, ...],
    defenses: bool,
    matrix: tuple[str, str] | None,
    csv: Path | None,
) -> None:
    """Print violation by condition from Inspect LOGS (files or folders).

    Episodes that ended in an error are counted under the table. For the
    counterfactual conditions (summary_removed, sham, summary_restored) it also
    prints how much text was removed, and the contrast of the first two.
    """
    from constraintrot.episode.facts import COLUMNS
    from constraintrot.report import defenses as comparison
    from constraintrot.report.frame import planned_episodes
    from constraintrot.report.page.frames import csv_text
    from constraintrot.report.table import text

    by = tuple(name.strip() for given in by for name in given.split(","))
    unknown = [name for name in by if name not in COLUMNS]
    if unknown:
        raise ConstraintRotError(f"--by {unknown[0]}: unknown; known: {', '.join(COLUMNS)}")
    if matrix is not None and (defenses or by):
        option = "--defenses" if defenses else "--by"
        raise ConstraintRotError(f"--matrix shows two facts and nothing else; leave {option} out")
    name_unread(logs)
    frame = planned_episodes(logs)
    if csv is not None:
        written = comparison.compare_defenses(frame, by) if defenses else frame
        write("--csv", csv, csv_text(written))
    if matrix is not None:
        from constraintrot.report.matrix import text as crossed

        say(crossed(frame, *matrix))
    else:
        say(comparison.text(frame, by) if defenses else text(frame, by))


@main.command()
@click.option("--model", default="local/qwen2.5-coder-1.5b", show_default=True)
@click.option("--variants", type=click.IntRange(1), default=2, show_default=True,
              help="Variants of each task.")  # fmt: skip
@click.option("--log-dir", default="logs/demo", show_default=True)
@click.option("--quick", is_flag=True, help="End after the first request, without the table.")
@needs("eval")
def demo(model: str, variants: int, log_dir: str, quick: bool) -> None:
    """Watch a real model obey a policy, lose it to compaction, and break it.

    The command first plays one request under three conditions and says what happens. The table
    of all variants follows, and a page if constraintrot[report] is installed. The same command
    goes on after an interruption.
    """
    from constraintrot.runs.demo import run

    run(model, variants, log_dir, quick=quick)
