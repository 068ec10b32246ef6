"""``constraintrot compare``: an A/B verdict from logs, as a gate for CI."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from constraintrot.cli.guard import clear_errors, needs
from constraintrot.errors import ConstraintRotError, ParameterError

if TYPE_CHECKING:
    from constraintrot.report.compare import Answer

_FACTS = "FACT=VALUE[,...]"
_SHARE = click.FloatRange(0, 1, min_open=True, max_open=True)


@click.command()
@click.argument("logs", nargs=-1, required=True)
@click.option("--a", multiple=True, required=True, metavar=_FACTS, help="As defense=none.")
@click.option("--b", multiple=True, required=True, metavar=_FACTS, help="As defense=pin.")
@click.option("--where", multiple=True, metavar=_FACTS, help="Of these episodes only.")
@click.option("--by", multiple=True, help="Compare each value of this fact, with Holm.")
@click.option("--margin", type=_SHARE, help="Loss of utility that is accepted, as .05.")
@click.option("--confidence", type=_SHARE, default=0.95, show_default=True)
@click.option("--seed", default=0, show_default=True, help="Of the bootstrap.")
@click.option("--junit", type=click.Path(path_type=Path), help="Write JUnit XML here.")
@click.option("--json", "data", type=click.Path(path_type=Path), help="Write all figures here.")
@needs("eval")
def compare(
    logs: tuple[str, ...],
    a: tuple[str, ...],
    b: tuple[str, ...],
    where: tuple[str, ...],
    by: tuple[str, ...],
    margin: float | None,
    confidence: float,
    seed: int,
    junit: Path | None,
    data: Path | None,
) -> None:
    """Does arm b violate less than arm a, episode by episode, in Inspect LOGS?

    Exit status 0: it does, and with --margin its utility is non-inferior; 1: it
    does not; 3: undecided at this n; 2: a wrong call.
    """
    from constraintrot.report import compare_output as output
    from constraintrot.report.compare import Question, answer
    from constraintrot.report.facts import FACTS, chosen, named, read_facts
    from constraintrot.report.frame import episodes

    def asked() -> Answer:
        if unknown := [name for name in by if name not in FACTS]:
            raise ParameterError(f"--by {unknown[0]}: known: {', '.join(FACTS)}")
        frame = named(episodes(logs))
        first, second = read_facts("--a", a, frame), read_facts("--b", b, frame)
        question = Question(first, second, by, margin, confidence, seed)
        return answer(chosen(frame, read_facts("--where", where, frame)), question)

    with clear_errors():
        try:
            result = asked()
            if junit is not None:
                _write(junit, output.junit(result))
            if data is not None:
                summary = json.dumps(output.summary(result), ensure_ascii=False, indent=2)
                _write(data, summary + "\n")
        except ConstraintRotError as error:
            # The message may quote a log, and a log's content is untrusted.
            raise ConstraintRotError(output.plain(str(error))) from error
    click.echo(output.text(result))
    sys.exit(result.exit)


def _write(path: Path, content: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise ConstraintRotError(f"cannot write {path}: {error}") from error
