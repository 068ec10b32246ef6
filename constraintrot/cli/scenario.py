"""``constraintrot scenario``: draft a policy of your own, and check it before it is measured."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from constraintrot.command_line import clear_errors, named_model, needs, write
from constraintrot.errors import ParameterError, ScenarioError

if TYPE_CHECKING:
    from constraintrot.authoring.draft import Draft


@click.group()
def scenario() -> None:
    """Bring a policy of your own: from one sentence to a scenario that can be measured."""


@scenario.command()
@click.argument("policy")
@click.option("-o", "--out", type=click.Path(path_type=Path), help="File to write; else stdout.")
@click.option(
    "--tools",
    "definitions",
    type=click.Path(path_type=Path),
    help="Your tools: OpenAPI, an MCP server's tools/list, or JSON schemas. Nothing is called.",
)
@click.option("--family", help="The scenario's name in logs; made of the sentence without.")
@click.option(
    "--model", help="Let this model word the draft; what fails the checks is kept as it was."
)
@click.option("--force", is_flag=True, help="Overwrite the file.")
@needs("eval")
def new(
    policy: str,
    out: Path | None,
    definitions: Path | None,
    family: str | None,
    model: str | None,
    force: bool,
) -> None:
    """Draft a scenario for POLICY, one sentence such as "Never delete mail younger than 30 days."

    What the sentence does not say is marked TODO in the file; `constraintrot scenario
    check` names each line, and what is wrong besides.
    """
    from constraintrot.authoring.draft import draft
    from constraintrot.authoring.write import text
    from constraintrot.scenario import tool_files

    with clear_errors():
        if out is not None and out.exists() and not force:
            raise ParameterError(f"--out {out}: it is there already; --force overwrites it")
        tools = tool_files.read(definitions) if definitions else ()
        made = draft(policy, tools, family)
        if model is not None:
            made = _worded(made, policy, model)
        written = text(made)
        if out is None:
            click.echo(written, nl=False)
            return
        write("--out", out, written)
    todo = written.count("TODO")
    about = f", about {made.kind}" if made.kind != "TODO" else ""
    click.echo(
        f"{out}: a draft{about}; {f'{todo} TODO to fill in' if todo else 'nothing to fill in'}"
    )
    click.echo(f"next: constraintrot scenario check {out}")


@scenario.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--strict", is_flag=True, help="Fail on what makes the number weak, too.")
@click.option(
    "--seeds",
    default=12,
    show_default=True,
    type=click.IntRange(1, 500),
    help="Variants to look at.",
)
@needs("eval")
def check(paths: tuple[Path, ...], strict: bool, seeds: int) -> None:
    """Check scenario files, or folders of them, as the built-in ones are checked.

    Each finding has its file and line, and what to do. (weak) marks what leaves the
    number right, but worth less. Exit status 0: nothing; 1: findings; 2: a file that
    cannot be read.
    """
    from constraintrot.authoring.checks import of_file

    status = 0
    with clear_errors():
        for path in [file for given in paths for file in _files(given)]:
            try:
                found, faults = of_file(path, range(seeds))
            except ScenarioError as error:
                click.echo(str(error))
                status = 2
                continue
            for fault in faults:
                click.echo(fault.shown(path))
            severe = sum(fault.severe for fault in faults)
            if found is not None and not severe:
                click.echo(
                    f"{path}: can be measured; {found.variants} variants,"
                    f" {len(found.trigger)} phrasings, {len(faults) - severe} weak points"
                )
            if status != 2 and (severe or (strict and faults)):
                status = 1
    sys.exit(status)


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    found = sorted([*path.glob("*.yaml"), *path.glob("*.yml")])
    if not found:
        raise ScenarioError(f"{path}: no .yaml file in this folder")
    return found


def _worded(made: Draft, policy: str, model: str) -> Draft:
    import anyio

    from constraintrot.authoring.author_model import worded
    from constraintrot.authoring.write import text

    if "TODO" in text(made):
        click.echo("! the draft has TODO, so no model was asked; fill them in first", err=True)
        return made
    found, kept = anyio.run(worded, made, policy, named_model("--model", model))
    for one in kept:
        click.echo(f"! the model's words were not used for {one}", err=True)
    return found
