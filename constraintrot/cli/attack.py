"""``constraintrot attack``: search for attacks, and play the results on other models."""

from pathlib import Path
from typing import Any

import click

from constraintrot.command_line import named_model, named_roles, named_values, needs, unasked
from constraintrot.errors import ConstraintRotError

ROLES = click.option(
    "--model-role",
    "roles",
    multiple=True,
    help="ROLE=MODEL, such as summarizer=... or attacker=...",
)
LOG_DIR = click.option(
    "--log-dir", default="logs/attack", show_default=True, help="Inspect's logs."
)
DEFENSE = click.option("--defense", help="Attack this defense.")
FILES = click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))


@click.group()
def attack() -> None:
    """Search for prompts that make a summary lose a policy; simulation only."""


@attack.command()
@click.argument("tasks")
@click.option(
    "--model", required=True, help="The agent; it also summarises, unless a role names another."
)
@ROLES
@click.option("--strategy", type=click.Choice(["pool", "genetic", "model"]), default="pool")
@click.option(
    "--queries", type=click.IntRange(1), default=30, show_default=True, help="Prompts to try."
)
@click.option("--random-seed", default=0, show_default=True, help="Seed of the strategy.")
@click.option(
    "--seed",
    type=click.IntRange(0),
    default=20,
    show_default=True,
    help="First variant of the search.",
)
@click.option("--variants", type=click.IntRange(1), default=4, show_default=True)
@click.option(
    "--eval-seed",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="First held-out variant.",
)
@click.option("--eval-variants", type=click.IntRange(1), default=10, show_default=True)
@click.option("--channel", default="tool_output", show_default=True, help="Where prompts come in.")
@click.option("--position", default="early", show_default=True, help="early, middle or recent.")
@click.option("--locale", default="en", show_default=True, help="en, zh, es or de.")
@DEFENSE
@click.option("-T", "given", multiple=True, help="Task parameter, as NAME=VALUE.")
@click.option("--exhaust", is_flag=True, help="Spend all queries, even after a success.")
@click.option("--out", type=click.Path(path_type=Path), required=True, help="The search's file.")
@LOG_DIR
@unasked
@needs("eval")
def search(
    tasks: str,
    roles: tuple[str, ...],
    given: tuple[str, ...],
    locale: str,
    defense: str | None,
    queries: int,
    out: Path,
    log_dir: str,
    yes: bool,
    **settings: Any,
) -> None:
    """Search on TASKS (families, comma-separated); the same command resumes after a kill.

    Every prompt and every episode is a line of FILE, which -T attack=file:FILE
    plays on variants that were not searched.
    """
    parameters = {"locale": locale, **named_values("-T", given)}
    if defense is not None:
        parameters["defense"] = defense
    named_model("--model", settings["model"], memoize=True)
    from constraintrot.runs import estimate
    from constraintrot.runs.attack_search.report import text
    from constraintrot.runs.attack_search.run import search as run
    from constraintrot.runs.attack_search.run import size

    wanted = _settings(
        families=tuple(dict.fromkeys(name.strip() for name in tasks.split(","))),
        agent=settings.pop("model"),
        roles=named_roles(roles),
        parameters=parameters,
        **settings,
    )
    estimate.before({wanted.agent: size(wanted, queries)}, yes=yes)
    journal = run(wanted, out, queries=queries, log_dir=log_dir, say=_say)
    click.echo(text(journal))
    click.echo(f"\nEvery prompt and episode: {out}")


@attack.command()
@FILES
@needs("eval")
def report(files: tuple[Path, ...]) -> None:
    """Print the results of the searches in FILES; for several, the best of each model."""
    from constraintrot.attacks.search_results import journal
    from constraintrot.runs.attack_search.report import overview, text

    searches = [journal.read(path) for path in files]
    click.echo(text(searches[0]) if len(searches) == 1 else overview(searches))


@attack.command()
@FILES
@click.option("--models", multiple=True, required=True, help="AGENT or AGENT+SUMMARIZER.")
@ROLES
@DEFENSE
@click.option("--out", type=click.Path(path_type=Path), required=True, help="The transfer's file.")
@LOG_DIR
@unasked
@needs("eval")
def transfer(
    files: tuple[Path, ...],
    models: tuple[str, ...],
    roles: tuple[str, ...],
    defense: str | None,
    out: Path,
    log_dir: str,
    yes: bool,
) -> None:
    """Play the best prompt of each of FILES on other models, on held-out variants."""
    from constraintrot.attacks.search_results import journal
    from constraintrot.runs import estimate
    from constraintrot.runs.attack_search import transfer as matrix

    shared = named_roles(roles)
    named = [part for given in models for part in given.split(",")]
    targets = [matrix.target(name, shared) for name in named]
    for one in targets:
        named_model("--models", one.agent, memoize=True)
        for role in one.roles.keys() - shared.keys():
            named_model("--models", one.roles[role], memoize=True)
    searches = [journal.read(path) for path in files]
    estimate.before(matrix.sizes(searches, targets), yes=yes)
    result = matrix.transfer(searches, targets, out, defense=defense, log_dir=log_dir, say=_say)
    click.echo(matrix.text(result))
    click.echo(f"\nEvery episode: {out}")


def _say(line: str) -> None:
    click.echo(line, err=True)


def _settings(**given: Any) -> Any:
    from pydantic import ValidationError

    from constraintrot.attacks.search_results.trial import SearchSettings

    try:
        return SearchSettings(**given)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise ConstraintRotError(f"--{where.replace('_', '-')}: {first['msg']}") from error
