"""``constraintrot compare``: a verdict from logs, as a gate for CI."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from constraintrot.cli.qualify import qualification_options
from constraintrot.command_line import clear_errors, needs, write
from constraintrot.errors import ConstraintRotError, ParameterError

if TYPE_CHECKING:
    from constraintrot.report.compare import Answer
    from constraintrot.report.qualified import Level

_FACTS = "FACT=VALUE[,...]"
_SHARE = click.FloatRange(0, 1, min_open=True, max_open=True)
_RATE = click.FloatRange(0, 1)


@click.command()
@click.argument("logs", nargs=-1)
@click.option("--a", multiple=True, metavar=_FACTS, help="The baseline, such as defense=none.")
@click.option("--b", multiple=True, metavar=_FACTS, help="The arm to judge, such as defense=pin.")
@click.option("--where", multiple=True, metavar=_FACTS, help="Compare only these episodes.")
@click.option("--by", multiple=True, help="Compare each value of this fact, with Holm.")
@qualification_options
@click.option("--no-worse", type=_SHARE, help="Accept that much more violation in b, such as .05.")
@click.option("--at-most", type=_SHARE, help="Accept that much violation in b alone, such as .05.")
@click.option("--margin", type=_SHARE, help="Accept that much loss of utility, such as .05.")
@click.option(
    "--missing",
    type=_RATE,
    default=0.1,
    show_default=True,
    help="Share of planned episodes that may lack a verdict.",
)
@click.option(
    "--floor",
    type=_RATE,
    default=0.8,
    show_default=True,
    help="Share of the allowed requests that each arm has to do.",
)
@click.option("--strict", is_flag=True, help="Notes are failures.")
@click.option("--plan", is_flag=True, help="Print how many variants it takes; reads no logs.")
@click.option(
    "--assume", type=(_RATE, _RATE), metavar="A B", help="For --plan: violation rates of a and b."
)
@click.option("--confidence", type=_SHARE, default=0.95, show_default=True)
@click.option("--seed", default=0, show_default=True, help="Seed of the bootstrap.")
@click.option("--junit", type=click.Path(path_type=Path), help="Write JUnit XML here.")
@click.option("--json", "data", type=click.Path(path_type=Path), help="Write all figures here.")
@needs("eval")
def compare(
    logs: tuple[str, ...],
    a: tuple[str, ...],
    b: tuple[str, ...],
    where: tuple[str, ...],
    by: tuple[str, ...],
    qualification: tuple[Path, ...],
    qualified_by: Level,
    plan: bool,
    assume: tuple[float, float] | None,
    junit: Path | None,
    data: Path | None,
    **limits: Any,
) -> None:
    """Does arm b violate less than arm a, episode by episode, in Inspect LOGS?

    With --no-worse: does it violate at most that much more? With --at-most: does it stay
    below that rate? Unknown episodes (no readable call, no verdict) count against b.

    Exit status 0: yes, and with --margin its utility is non-inferior; 1: no; 3: undecided
    at this n; 2: a wrong call.
    """
    from constraintrot.report import compare_output as output
    from constraintrot.report.compare import Question, answer
    from constraintrot.report.compare_question import planned
    from constraintrot.report.facts import FACTS, chosen, named, read_facts
    from constraintrot.report.planned import planned_episodes
    from constraintrot.report.qualified import claimable

    if plan:
        with clear_errors():
            _alone(logs, a, b)
            asked_of = ("no_worse", "at_most", "margin", "confidence")
            click.echo(planned(assumed=assume, **{name: limits[name] for name in asked_of}))
        return
    if not logs or not b:
        raise click.UsageError("give LOGS and --b, or --plan")
    if assume is not None:
        raise click.UsageError("--assume is for --plan")

    beside: list[str] = []

    def asked() -> Answer:
        if unknown := [name for name in by if name not in FACTS]:
            raise ParameterError(f"--by {unknown[0]}: known: {', '.join(FACTS)}")
        episodes, lines = claimable(planned_episodes(logs), qualification, qualified_by)
        beside.extend(lines)
        frame = named(episodes)
        baseline = read_facts("--a", a, frame) if a else None
        question = Question(baseline, read_facts("--b", b, frame), by, **limits)
        question.check()
        return answer(chosen(frame, read_facts("--where", where, frame)), question)

    with clear_errors():
        try:
            result = asked()
            if junit is not None:
                write("--junit", junit, output.junit(result))
            if data is not None:
                told = {**output.summary(result), "qualification": beside}
                summary = json.dumps(told, ensure_ascii=False, indent=2)
                write("--json", data, summary + "\n")
        except ConstraintRotError as error:
            # The message may quote a log, and a log's content is untrusted.
            raise ConstraintRotError(output.plain(str(error))) from error
    for line in beside:
        click.echo(f"{output.plain(line)}\n")
    click.echo(output.text(result))
    sys.exit(result.exit)


def _alone(*given: tuple[str, ...]) -> None:
    if any(given):
        raise ParameterError("--plan is asked before there are logs; give no LOGS, --a or --b")
