"""``constraintrot reproduce``: which of the paper's claims hold for a model?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from constraintrot.cli.qualify import slug
from constraintrot.command_line import (
    ClearGroup,
    named_roles,
    named_values,
    needs,
    options,
    unasked,
)
from constraintrot.errors import ParameterError
from constraintrot.extras import require

if TYPE_CHECKING:
    from constraintrot.runs.reproduce.registration import Registration

_FOLDER = click.argument("folder", type=click.Path(path_type=Path, file_okay=False, exists=True))
_HOURS = click.option(
    "--hours", type=click.FloatRange(min=0, min_open=True), help="Most hours of this call."
)

_LOST = click.option(
    "--accept-lost",
    is_flag=True,
    help="Count episodes that ended in an error as unknown, also if they are more than a tenth.",
)


_OPTIONS = options(
    click.option("--model", help="The agent's model, as Inspect names it."),
    click.option("--preset", default="paper", show_default=True, help="smoke, paper or long."),
    click.option("--claims", multiple=True, help="Part of a claim's title; repeat it. All by default."),
    click.option("--families", multiple=True, help="A family of policies; repeat it. All nine by default."),
    click.option("--other", help="A second model, which one of the claims needs."),
    click.option("--dollars", type=click.FloatRange(min=0, min_open=True), help="Most dollars."),
    click.option("--prices", type=click.Path(path_type=Path, exists=True),
                 help="YAML of prices, as --model-cost-config; else LiteLLM's table."),
    click.option("--pairs", type=click.IntRange(min=1),
                 help="Different requests in each arm of every claim, instead of the number planned."),
    click.option("--seed", type=click.IntRange(0, 59), default=0, show_default=True,
                 help="First variant of each family; take one that no earlier registration played."),
    click.option("--pilot", type=click.Path(path_type=Path, exists=True),
                 help="Logs whose rates the plan assumes, instead of the paper's."),
    click.option("-M", "model_args", multiple=True, metavar="NAME=VALUE", help="A model argument."),
    click.option("-T", "task_args", multiple=True, metavar="NAME=VALUE",
                 help="A task parameter for all arms, such as context_tokens=150000."),
    click.option("--model-role", "roles", multiple=True, metavar="ROLE=MODEL", help="Such as judge=..."),
    click.option("-o", "--out", "folder", type=click.Path(path_type=Path, file_okay=False),
                 help="Folder of the reproduction.  [default: logs/reproduce/MODEL-PRESET]"),
)  # fmt: skip


@click.group(cls=ClearGroup, invoke_without_command=True)
@_OPTIONS
@_HOURS
@_LOST
@unasked
@click.pass_context
def reproduce(
    ctx: click.Context, /, hours: float | None, accept_lost: bool, yes: bool, **given: Any
) -> None:
    """Say which of the paper's claims hold for a model: plan, qualify, play and page in one.

    The plan is written down before anything is played. The same command goes on where it was
    stopped. Each step is also a command of its own.
    """
    if ctx.invoked_subcommand is not None:
        return
    require("constraintrot reproduce", "eval", "report")
    folder: Path = ctx.invoke(plan, **given)
    _ask(folder, yes)
    ctx.invoke(qualify, folder=folder, accept_lost=accept_lost)
    ctx.invoke(play, folder=folder, hours=hours, accept_lost=accept_lost)
    ctx.invoke(page, folders=(folder,))


@reproduce.command()
@_OPTIONS
@needs("eval", "report")
def plan(
    *, model: str | None, preset: str, claims: tuple[str, ...],
    families: tuple[str, ...], other: str | None, dollars: float | None, prices: Path | None,
    pairs: int | None, seed: int, pilot: Path | None, model_args: tuple[str, ...], task_args: tuple[str, ...], roles: tuple[str, ...], folder: Path | None,
) -> Path:  # fmt: skip
    """Plan and register: the pairs of each claim, their cost, and why some cannot be decided."""
    if model is None:
        raise ParameterError("give --model, as `--model openai/gpt-5.4-mini`")
    from constraintrot.runs.reproduce import registration

    known = registration.presets()
    if preset not in known:
        raise ParameterError(f"--preset {preset}: there are {', '.join(known)}")
    # After the checks above: these steps import Inspect and take seconds.
    from constraintrot.report.page.design import prepared
    from constraintrot.runs.reproduce import planning
    from constraintrot.runs.reproduce.kept import logged

    where = folder or Path("logs/reproduce") / slug(f"{model} {preset}")
    settled = known[preset].model_copy(update={} if pairs is None else {"pairs": pairs})
    draft = planning.draft(
        model, settled, preset, claims, families=families, other=other, dollars=dollars, prices=prices,
        settings=named_values("-T", task_args), model_args=named_values("-M", model_args),
        roles=named_roles(roles), seed=seed,
    )  # fmt: skip
    lines = planning.plan(draft, settled, None if pilot is None else prepared(logged(pilot)))
    made: Registration = draft.model_copy(update={"planned": tuple(line.planned for line in lines)})
    click.echo(planning.text(made, lines, settled))
    registration.write(where / registration.FILE, made)
    click.echo(
        f"registered: {where / registration.FILE}, digest {made.sealed.digest[:16]}; publish or commit"
        " it before it is played, so that others can see the order"
    )
    return where


@reproduce.command()
@_FOLDER
@_LOST
@needs("eval", "report")
def qualify(folder: Path, accept_lost: bool) -> None:
    """Play the qualification of FOLDER's subject."""
    from constraintrot.report.qualification import table
    from constraintrot.runs.reproduce import play as playing

    made = _registered(folder)
    click.echo(table(playing.qualify(made, folder, accept_lost=accept_lost)))
    families = playing.qualified(made, folder)
    click.echo(f"Claims are of {', '.join(families) or 'no family: nothing can be decided'}.")


@reproduce.command()
@_FOLDER
@_HOURS
@_LOST
@needs("eval", "report")
def play(folder: Path, hours: float | None, accept_lost: bool) -> None:
    """Play the rest of FOLDER's plan, one look at the claims after the other."""
    from constraintrot.runs.reproduce import play as playing

    state = playing.play(
        _registered(folder), folder, click.echo, hours=hours, accept_lost=accept_lost
    )
    if state.stopped:
        click.echo(f"stopped: {state.stopped}; the same command goes on")


@reproduce.command()
@click.argument("folders", nargs=-1, required=True, type=click.Path(path_type=Path, exists=True))
@needs("eval", "report")
def page(folders: tuple[Path, ...]) -> None:
    """Write the page of each of FOLDERS; for several, also their verdicts side by side."""
    from constraintrot.runs.reproduce import beside
    from constraintrot.runs.reproduce import page as pages

    for folder in folders:
        click.echo(pages.write(folder, _registered(folder)))
    if len(folders) > 1:
        click.echo(beside.side_by_side(folders))


def _ask(folder: Path, yes: bool) -> None:
    from constraintrot.runs import estimate
    from constraintrot.runs.reproduce.planning import whole

    made = _registered(folder)
    estimate.before({made.model: whole(made)}, yes=yes, prices=made.prices)


def _registered(folder: Path) -> Registration:
    from constraintrot.runs.reproduce import registration

    return registration.read(folder / registration.FILE)
