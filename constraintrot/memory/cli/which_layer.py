"""``constraintrot which-layer``: the layer of a context pipeline that lost the rule."""

from pathlib import Path
from typing import Any

import click

from constraintrot.command_line import (
    clear_errors,
    named_model,
    named_roles,
    named_values,
    needs,
    write,
)


@click.command("which-layer")
@click.argument("tasks", nargs=-1)
@click.option("--model", default="scripted/obedient", show_default=True, help="The agent's model.")
@click.option(
    "--model-role", "roles", multiple=True, metavar="ROLE=MODEL", help="Such as summarizer=..."
)
@click.option(
    "--variants",
    type=click.IntRange(1),
    default=4,
    show_default=True,
    help="Variants of each task.",
)
@click.option(
    "--profile",
    default="kept",
    show_default=True,
    help="kept, or literal: the specification alone, without added protection.",
)
@click.option("--layer", "names", multiple=True, help="Ask about this layer only; repeat it.")
@click.option("-T", "task_args", multiple=True, metavar="NAME=VALUE", help="A task parameter.")
@click.option(
    "-o",
    "--out",
    "folder",
    default="logs/which-layer",
    show_default=True,
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder for the episodes; finished ones are not played again.",
)
@click.option("--csv", type=click.Path(path_type=Path), help="Write the table here.")
@needs("eval")
def which_layer(
    tasks: tuple[str, ...],
    model: str,
    roles: tuple[str, ...],
    variants: int,
    profile: str,
    names: tuple[str, ...],
    task_args: tuple[str, ...],
    folder: Path,
    csv: Path | None,
) -> None:
    """Find the layer of the context pipeline that loses the rule of TASKS (default: soft_email).

    A task may be a scenario file of yours. The same episodes are played through all layers, through
    none, through all but one, and through one alone. By default there are three compactions; the
    third is a hand-off. The caches have an answer to replay, because every request was answered
    before, in a conversation without the rule. An interrupted run goes on where it stopped.
    """
    from constraintrot.memory.which_layer import Question, play
    from constraintrot.memory.which_layer_table import csv_text, lines, table

    with clear_errors():
        named_model("--model", model, memoize=True)
        writers = named_roles(roles)
        given = named_values("-T", task_args)
        families, usual = _asked(tasks or ("soft_email",), given)
        question = Question(
            families,
            variants,
            model,
            writers,
            profile,  # type: ignore[arg-type]  # checked there
            {"rounds": 3, "context_tokens": 1200, **usual, **given},
            layers=names,
        )
        played = play(question, folder)
        click.echo(
            f"{', '.join(question.families)}, {variants} variants each, {model}, profile"
            f" {profile}\n\n{table(played, question.names)}"
        )
        if csv is not None:
            facts = {"model": model, "profile": profile}
            write("--csv", csv, csv_text(lines(played, question.names), **facts))


def _asked(tasks: tuple[str, ...], given: dict[str, Any]) -> tuple[tuple[str, ...], dict[str, Any]]:
    """Return the tasks' families, and the default parameters of the user's own scenarios."""
    from constraintrot.tasks.mine import chosen, defaults

    if not any(Path(one).suffix in (".yaml", ".yml") or Path(one).is_dir() for one in tasks):
        return tuple(dict.fromkeys(tasks)), {}
    found = chosen(tasks, given.get("locale"))
    usual = {name: value for name, value in defaults(found).items() if name != "variants"}
    return tuple(dict.fromkeys(one.family for one in found)), usual
