"""``constraintrot wiki``: a vault of plain Markdown as an agent's memory."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click

from constraintrot.command_line import named_model, needs
from constraintrot.documents import read_text

if TYPE_CHECKING:
    from constraintrot.memory.wiki import Ingested, Plan, Source, Wiki
    from constraintrot.memory.wiki.graph import Finding
    from constraintrot.memory.wiki.query import HotCache
    from constraintrot.memory.wiki.schema import Wording

_LARGEST_SOURCE = 64_000_000
_vault = click.argument("vault", type=click.Path(path_type=Path, file_okay=False))
_json = click.option("--json", "as_json", is_flag=True, help="Machine-readable.")


@click.group()
def wiki() -> None:
    """A living wiki: sources that never change, pages that each ingest brings up to date.

    The vault is a folder of Markdown, which Obsidian opens.
    """


@wiki.command("init")
@_vault
@click.option(
    "--rules",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="A file of policies for the schema, one a line.",
)
@click.option(
    "--wording",
    type=click.Choice(["consequence", "reminder", "plain"]),
    default="consequence",
    show_default=True,
    help="How the schema words the six writes.",
)
def init_command(vault: Path, rules: Path | None, wording: Wording) -> None:
    """Make an empty VAULT, with a schema (CLAUDE.md) that is yours to change."""
    from constraintrot.memory.wiki import Wiki, WikiError

    lines = read_text(rules, error=WikiError).splitlines() if rules else []
    said = [line.strip().removeprefix("- ") for line in lines if line.strip()]
    Wiki.create(vault, said, wording)
    click.echo(f"{vault}: a vault with {len(said)} rules; open it in Obsidian, or ingest into it")


@wiki.command("ingest")
@_vault
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path, exists=True))
@click.option(
    "--plan",
    type=click.File("rb"),
    help="JSON plan of what to write about one FILE; - reads standard input.",
)
@click.option("--model", help="Any Inspect model, to plan what to write about each FILE.")
@click.option("--title", help="Title of one FILE; by default its name.")
@click.option("--date", default="", help="YYYY-MM-DD; by default today.")
@click.option("--kind", default="note", show_default=True, help="Such as mail or transcript.")
@_json
def ingest_command(
    vault: Path, files: tuple[Path, ...], plan: IO[bytes] | None, model: str | None,
    title: str | None, date: str, kind: str, as_json: bool,
) -> None:  # fmt: skip
    """Ingest FILES into VAULT as sources, and update its pages.

    Without --plan and --model, code makes a page of each file, with its first sentences. Sources
    that are there already are not written again, so the same command continues a stopped run.
    """
    from constraintrot.errors import ParameterError
    from constraintrot.memory.wiki import Wiki

    if plan is not None and model:
        raise ParameterError("give --plan or --model, not both")
    if (plan is not None or title) and len(files) > 1:
        raise ParameterError("--plan and --title are of one FILE")
    opened = Wiki(vault)
    for file in files:
        source = _source(file, title, date, kind)
        done = _ingested(opened, source, plan, model)
        if as_json:
            click.echo(json.dumps(vars(done), ensure_ascii=False))
        else:
            _print_ingested(done, plan is not None)


def _source(file: Path, title: str | None, date: str, kind: str) -> Source:
    from constraintrot.memory.wiki import Source, WikiError

    if file.is_dir():
        raise WikiError(f"{file} is a folder; name its files, as {file / '*.md'}")
    text = read_text(file, _LARGEST_SOURCE, WikiError)
    return Source(title or file.stem, text, kind, date)


def _ingested(vault: Wiki, source: Source, plan: IO[bytes] | None, model: str | None) -> Ingested:
    if model:
        return _by_model(vault, source, model)
    return vault.ingest(source, None if plan is None else _plan(plan.read()))


def _plan(data: bytes) -> Plan:
    from constraintrot.memory.wiki import WikiError, read_plan

    try:
        plan = read_plan(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise WikiError(f"--plan is not UTF-8: {error}; save it as UTF-8") from error
    if plan.unreadable and not plan.edits and plan.analysis is None:
        form = "https://github.com/constraintrot/constraintrot/blob/main/docs/wiki.md"
        raise WikiError(f"--plan: {plan.unreadable[0]}; its form is in {form}")
    return plan


@needs("eval")
def _by_model(vault: Wiki, source: Source, model: str) -> Ingested:
    import asyncio

    from constraintrot.memory.wiki.roles import ingest

    return asyncio.run(ingest(named_model("--model", model), vault, source))


def _print_ingested(done: Ingested, planned: bool) -> None:
    there = "is there already"
    if planned:
        there += "; nothing of --plan was written (another --title makes a further source)"
    said = there if done.already else ", ".join(done.pages) or "no page"
    click.echo(f"{done.source}: {said}")
    for why in done.told:
        click.echo(f"! {why}")


@wiki.command("query")
@_vault
@click.argument("question")
@click.option(
    "-k",
    type=click.IntRange(1),
    default=5,
    show_default=True,
    help="Pages at most, and as many sources.",
)
@click.option(
    "--budget",
    type=click.IntRange(1),
    default=4000,
    show_default=True,
    help="Tokens at most, estimated.",
)
@click.option(
    "--hot-cache",
    "hot",
    type=click.Choice(["guide", "gate", "off"]),
    default="guide",
    show_default=True,
    help="gate lets the hot cache end the search, to see what that hides.",
)
@click.option("--log", "record", is_flag=True, help="Add the question to log.md.")
@click.option("--path", "only_path", is_flag=True, help="Only the files that were read, and why.")
@_json
def query_command(
    vault: Path, question: str, k: int, budget: int, hot: HotCache, record: bool,
    only_path: bool, as_json: bool,
) -> None:  # fmt: skip
    """Print what VAULT holds on QUESTION, in the form that an agent is shown."""
    from constraintrot.memory.wiki import Wiki

    answer = Wiki(vault).query(question, k=k, budget=budget, hot=hot, record=record)
    if as_json:
        told: dict[str, Any] = {"question": question, "reads": [vars(one) for one in answer.reads]}
        click.echo(json.dumps(told, ensure_ascii=False, indent=2))
    else:
        click.echo("\n".join(answer.path) if only_path else answer.render())


@wiki.command("lint")
@_vault
@click.option(
    "--fix", is_flag=True, help="Repair what code can, such as an ingest that was killed."
)
@_json
def lint_command(vault: Path, fix: bool, as_json: bool) -> None:
    """Check every promise of VAULT; exit with status 1 if one does not hold."""
    from constraintrot.memory.wiki import Wiki

    opened = Wiki(vault)
    fixed = opened.repair() if fix else []
    left = opened.lint()
    if as_json:
        told = {"fixed": [_plain(one) for one in fixed], "left": [_plain(one) for one in left]}
        click.echo(json.dumps(told, ensure_ascii=False, indent=2))
    else:
        for one in fixed:
            click.echo(f"fixed  {one.path}: {one.text} ({one.code})")
        for one in left:
            click.echo(f"{one.path}: {one.text} ({one.code})\n    {one.fix}")
        click.echo(_counted(left))
    if left:
        sys.exit(1)


def _plain(one: Finding) -> dict[str, Any]:
    return {**vars(one), "fix": one.fix, "by_code": one.repaired}


def _counted(left: list[Finding]) -> str:
    if not left:
        return "every promise holds"
    from constraintrot.memory.wiki.lint import blocking

    by_code = sum(one.repaired for one in left)
    first = ", ".join(blocking(left))
    told = f", once {first} can be read" if first and by_code else ""
    return f"{len(left)} findings; --fix puts {by_code} of them right{told}"


@wiki.command("graph")
@_vault
@_json
def graph_command(vault: Path, as_json: bool) -> None:
    """Print pages, links, clustering and hubs of VAULT."""
    from constraintrot.memory.wiki import Wiki

    found = Wiki(vault).graph().plain()
    if as_json:
        click.echo(json.dumps(found, ensure_ascii=False, indent=2))
        return
    for name, value in found.items():
        shown = ", ".join(f"{page} {links}" for page, links in value) if name == "hubs" else value
        click.echo(f"{name.replace('_', ' '):18} {shown}")
