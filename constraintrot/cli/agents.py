"""``constraintrot agents``: the coding agents that the harnesses ``coding/...`` play episodes in."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from constraintrot.command_line import needs, write
from constraintrot.errors import ParameterError

if TYPE_CHECKING:
    from constraintrot.coding_agents.catalogue import Package
    from constraintrot.evaluation.play_settings import Network

_NAMES = click.argument("names", nargs=-1)
_EARLIER = click.option(
    "--from",
    "earlier",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="An earlier survey's --csv; its cells come first and are not run again.",
)
_NETWORK = click.option(
    "--network",
    type=click.Choice(["none", "host"]),
    default="none",
    show_default=True,
    help="The agents' access to the network; they execute what their model writes.",
)


@click.group()
def agents() -> None:
    """Install and try coding agents, and survey what survives their compaction."""


def _packages(names: tuple[str, ...]) -> list[Package]:
    from constraintrot.coding_agents.catalogue import PACKAGES, package

    return [package(name) for name in names] or list(PACKAGES)


def _missing(package: Package) -> str:
    return f"{package.title}: not here; constraintrot agents install {package.agent}"


@agents.command("list")
@needs("eval")
def agents_list() -> None:
    """List the agents: version, size, licence, and where they are if they are installed."""
    from constraintrot.coding_agents.install import kept, of_user

    for package in _packages(()):
        found = {"installed": kept(package), "your own": of_user(package)}
        places = [f"{who} {one.version}: {one.program}" for who, one in found.items() if one]
        state = "\n  ".join(places) or f"not here; constraintrot agents install {package.agent}"
        click.echo(
            f"coding/{package.agent:<9} {package.title:<12} {package.version:<9}"
            f" {package.megabytes:>4} MB  {package.licence}\n  {state}"
        )


@agents.command("install")
@_NAMES
@click.option("--yes", is_flag=True, help="Accept the licences without being asked.")
@needs("eval")
def agents_install(names: tuple[str, ...], yes: bool) -> None:
    """Install agents (NAMES, or all) into the cache, in the versions that were tried.

    Only measurements need this: without it, your own agents are played. They come from npm, and
    OpenHands from PyPI by uv, each as its client is configured. No agent is part of this package;
    each has its own licence, and you are asked to accept it.
    """
    from constraintrot.coding_agents.install import install, kept

    for package in _packages(names):
        if (installed := kept(package)) is None:
            click.echo(
                f"{package.title} {package.version}, about {package.megabytes} MB, from"
                f" {package.registry} ({', '.join(package.wanted)}); licence: {package.licence}"
            )
            if not yes and not click.confirm("Install it under that licence?"):
                click.echo(f"{package.title} is not installed.", err=True)
                sys.exit(1)
            installed = install(package)
        click.echo(f"{package.title} {installed.version}  {installed.program}")


@agents.command("check")
@_NAMES
@click.option(
    "--latest",
    is_flag=True,
    help="Install the newest version beside the one that was tried, play the survey's rows and a"
    " pin in both, and say what differs.",
)
@_EARLIER
@_NETWORK
@needs("eval")
def agents_check(
    names: tuple[str, ...], latest: bool, earlier: Path | None, network: Network
) -> None:
    """Start each installed agent (NAMES, or all) in a box, and hold one conversation with it.

    The model is a script; nothing leaves this machine. Exit status 1 if one does not run; with
    --latest, if the newest version loses something that the tried one holds.
    """
    if latest:
        sys.exit(_check_latest(names, network, earlier))
    from constraintrot.coding_agents.install import find
    from constraintrot.runs.survey import check

    failed = False
    for package in _packages(names):
        if (installed := find(package)) is None:
            click.echo(_missing(package))
            failed |= bool(names)
            continue
        problem = check(package, network)
        failed |= problem is not None
        tried = "" if installed.tried else f" (tried: {package.version})"
        told = problem or "runs, and is as tried"
        click.echo(f"{package.title} {installed.version}{tried}: {told}")
    sys.exit(1 if failed else 0)


def _check_latest(names: tuple[str, ...], network: Network, earlier: Path | None) -> int:
    from constraintrot.coding_agents.install import install, kept, newest
    from constraintrot.runs import survey, survey_matrix

    failed = False
    known = survey_matrix.read_rows(earlier) if earlier else ()
    for package in _packages(names):
        if kept(package) is None:
            # Only `agents install` asks for the licence.
            click.echo(_missing(package))
            failed |= bool(names)
            continue
        newer = newest(package)
        if newer.version == package.version:
            click.echo(f"{package.title} {package.version}, which was tried, is the newest")
            continue
        click.echo(f"{package.title} {newer.version}  {install(newer).program}")
        tell = partial(click.echo, err=True)
        changed = survey.compare(package, newer, tell, network=network, known=known)
        for change in changed:
            click.echo(f"  {change.line}")
            failed |= change.lost
    return int(failed)


@agents.command("survey")
@_NAMES
@click.option(
    "--mode", default="auto", show_default=True, help="Kind of compaction: auto or manual."
)
@click.option(
    "--channel", "channels", multiple=True, help="Channel that gives the policy; all by default."
)
@click.option(
    "--rounds",
    "rounds",
    type=click.IntRange(1),
    multiple=True,
    default=[1],
    show_default=True,
    help="Compactions in an episode; may be given several times.",
)
@click.option(
    "--context-tokens",
    "tokens",
    type=click.IntRange(1),
    default=800,
    show_default=True,
    help="Length of the history before each compaction.",
)
@click.option(
    "--session",
    "sessions",
    type=click.Choice(["short", "sub-agent", "long"]),
    multiple=True,
    default=["short"],
    show_default=True,
    help="short: an episode. sub-agent, long: a conversation that shows what a sub-agent is told"
    " or what a long session keeps; the options of episodes do not apply. May be given several"
    " times.",
)
@_EARLIER
@click.option("--log-dir", default="logs/agents", show_default=True)
@click.option("--html", type=click.Path(path_type=Path), help="Write the matrix here as a page.")
@click.option("--markdown", type=click.Path(path_type=Path), help="Write the matrix here.")
@click.option("--csv", type=click.Path(path_type=Path), help="Write one row per cell here.")
@_NETWORK
@needs("eval")
def agents_survey(
    names: tuple[str, ...],
    mode: str,
    channels: tuple[str, ...],
    rounds: tuple[int, ...],
    tokens: int,
    sessions: tuple[str, ...],
    earlier: Path | None,
    log_dir: str,
    html: Path | None,
    markdown: Path | None,
    csv: Path | None,
    network: Network,
) -> None:
    """Survey what survives each agent's compaction of a policy, by who gave the policy.

    Plays one episode for each of NAMES (by default all that are installed) and each channel,
    with a scripted model; for the sessions sub-agent and long, one conversation for each of
    NAMES. Finished cells are not run again. Exit status 1 if a cell has no result.
    """
    import pandas as pd

    from constraintrot.coding_agents.install import find
    from constraintrot.report.page.html import PlainTable, plain_page
    from constraintrot.runs import survey, survey_matrix

    packages = [package for package in _packages(names) if names or find(package)]
    if not packages:
        raise ParameterError("no coding agent is installed: constraintrot agents install codex")
    unknown = [name for name in channels if name not in survey_matrix.CHANNELS]
    if unknown:
        raise ParameterError(f"--channel {unknown[0]}: known: {', '.join(survey_matrix.CHANNELS)}")
    chosen = [name for name in survey_matrix.CHANNELS if name in channels or not channels]
    cells = survey_matrix.read_rows(earlier) if earlier else []
    tell = partial(click.echo, err=True)
    for times in rounds if "short" in sessions else ():
        cells += survey.survey(
            [package for package in packages if names or mode in package.modes],
            log_dir,
            tell,
            mode=mode,
            channels=chosen,
            network=network,
            rounds=times,
            tokens=tokens,
            known=cells,
        )
    for session in survey.SESSIONS:
        if session in sessions:
            cells += survey.survey_session(
                [package for package in packages if names or "auto" in package.modes],
                log_dir,
                tell,
                session=session,
                network=network,
                known=cells,
            )
    text = survey_matrix.markdown(cells)
    click.echo(text)
    if markdown is not None:
        write("--markdown", markdown, text)
    if html is not None:
        table = PlainTable(survey_matrix.heading(cells), *survey_matrix.matrix(cells))
        requests = (survey_matrix.SHOWN_BY, survey_matrix.evidence(cells))
        title = "What survives the compaction of coding agents"
        write("--html", html, plain_page(title, [table], [requests]))
    if csv is not None:
        frame = pd.DataFrame([cell.row for cell in cells])
        write("--csv", csv, frame.to_csv(index=False, lineterminator="\n"))
    sys.exit(1 if any(cell.fate == "error" for cell in cells) else 0)
