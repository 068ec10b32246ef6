"""``python -m results.tools.pipeline WHAT``: makes the committed tables about the context pipeline.

- ``which-layer --csv results/which-layer.csv``: which layer loses the rule, in both profiles,
  without pins and with them, by scripts. Episodes are kept in ``--out``: the same command goes on.
- ``latency --csv results/pipeline-latency.csv``: how long a new pin takes to be in force.
- ``starvation --csv results/pipeline-starvation.csv``: learned budgets and a rule that refuses.
- ``layers --csv results/pipeline-layers.csv``: milliseconds and tokens of each layer.
- ``figures``: those of docs/pipeline.md, from the committed tables.
"""

from __future__ import annotations

import os
from pathlib import Path

os.environ.setdefault("INSPECT_DISPLAY", "none")

import click

from constraintrot.command_line import clear_errors
from results.tools import docs_figures
from results.tools.pipeline import figures as drawing
from results.tools.pipeline import layers as timing
from results.tools.pipeline import measures
from results.tools.their_claims import write

_csv = click.option("--csv", "path", type=click.Path(path_type=Path), required=True)
FAMILIES = ("soft_email", "soft_deploy")


@click.group()
def main() -> None:
    """Measure the context pipeline and write the committed tables."""


@main.command("which-layer")
@_csv
@click.option("--out", type=click.Path(path_type=Path), default=Path("logs/which-layer"))
@click.option("--model", default="scripted/obedient", show_default=True)
@click.option("--variants", default=6, show_default=True, help="Of each family.")
def which_layer(path: Path, out: Path, model: str, variants: int) -> None:
    """Find the layer that loses the rule: both profiles, without pins and with them."""
    from constraintrot.memory.which_layer import Question, play
    from constraintrot.memory.which_layer_table import csv_text, lines

    text = ""
    with clear_errors():
        for profile in ("kept", "literal"):
            for defense in ("none", "pin"):
                given = {"rounds": 3, "context_tokens": 1200, "defense": defense}
                question = Question(FAMILIES, variants, model, {}, profile, given)  # type: ignore[arg-type]
                told = lines(play(question, out), question.names)
                made = csv_text(told, model=model, profile=profile, defense=defense)
                text += made if not text else made.partition("\n")[2]
    path.write_text(text, encoding="utf-8", newline="\n")


@main.command()
@_csv
def latency(path: Path) -> None:
    """Count the requests until a new pin takes effect, by cache and workspace."""
    write(path, measures.latency())


@main.command()
@_csv
def starvation(path: Path) -> None:
    """Measure whether a learned budget keeps a rule, by its rate of refusals."""
    write(path, measures.starvation())


@main.command()
@_csv
@click.option("--requests", default=300, show_default=True)
def layers(path: Path, requests: int) -> None:
    """Measure the cost of each layer without calls of models; the extra ``embed`` is needed."""
    with clear_errors():
        write(path, [*timing.measured(requests), timing.embedded(requests)])


@main.command()
def figures() -> None:
    """Draw the figures of docs/pipeline.md from the committed tables."""
    docs_figures.write(drawing.texts(Path("results")))


if __name__ == "__main__":
    main()
