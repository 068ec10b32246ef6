"""``constraintrot sweep``: many evaluations as one, planned, played and resumed."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click
import yaml

from constraintrot.command_line import named_values, needs, unasked, write
from constraintrot.errors import ConstraintRotError
from constraintrot.extras import require

if TYPE_CHECKING:
    from constraintrot.runs.sweep.driver import State
    from constraintrot.runs.sweep.folder import SweepFolder
    from constraintrot.runs.sweep.loading import Sweep

_ARG = click.option(
    "-A",
    "--arg",
    "args",
    multiple=True,
    metavar="NAME=VALUE",
    help="Argument of the spec; repeat it.",
)
_DIR = click.option("--dir", "folder", help="Folder or fsspec URL; logs/sweep/SPEC by default.")


@click.group()
def sweep() -> None:
    """Play models x families x compactors x defenses x attacks as one Inspect Flow spec.

    SPEC is a name (`constraintrot sweep list`) or a file of your own.
    """


@sweep.command("list")
@needs("eval", "scale")
def list_specs() -> None:
    """List the sweeps that come with the package, and what each is for."""
    from constraintrot.runs.sweep.loading import names, spec_file

    for name in names():
        first = spec_file(name).read_text(encoding="utf-8").split("\n", 1)[0]
        said = first.strip('"').partition(": ")[2]
        click.echo(f"{name:<15} {said}")


@sweep.command()
@click.argument("spec")
@_ARG
@_DIR
@click.option("--prices", type=click.Path(path_type=Path), help="YAML: dollars a million tokens.")
@click.option(
    "--workers", type=click.IntRange(1), default=1, show_default=True,
    help="Workers at once, for the hours.",
)  # fmt: skip
@needs("eval", "scale")
def plan(
    spec: str, args: tuple[str, ...], folder: str | None, prices: Path | None, workers: int
) -> None:
    """Print the size of SPEC: cells, episodes, tokens, hours and cost. Nothing is played."""
    from constraintrot.runs.prices import read_prices
    from constraintrot.runs.sweep import planning

    loaded, place = _loaded(spec, args, folder)
    finished, known = place.finished(), place.counts()
    lines = planning.plan(loaded, finished, read_prices(prices))
    seconds = [one["seconds"] / one["episodes"] for one in known.values() if one.get("seconds")]
    mean = sum(seconds) / len(seconds) if seconds else None
    click.echo(planning.text(loaded, lines, mean, workers))


@sweep.command()
@click.argument("spec")
@_ARG
@_DIR
@click.option(
    "--ray", is_flag=False, flag_value="local", metavar="[ADDRESS]",
    help="Spread the cells over a Ray cluster; without an address, one on this machine.",
)  # fmt: skip
@click.option("--workers", type=click.IntRange(1), help="Processors of a cluster on this machine.")
@click.option("--tries", type=click.IntRange(1), default=3, show_default=True,
              help="Errors of a cell before it is set aside.")  # fmt: skip
@click.option("--store", help="Folder or fsspec URL for the frames of finished cells.")
@click.option("--again", is_flag=True, help="Retry the cells that were set aside.")
@unasked
@needs("eval", "scale")
def run(
    spec: str,
    args: tuple[str, ...],
    folder: str | None,
    ray: str | None,
    workers: int | None,
    tries: int,
    store: str | None,
    again: bool,
    yes: bool,
) -> None:
    """Play SPEC; the same command goes on after an interruption, here or on Ray.

    Exit status 1: cells were set aside; their errors are printed.
    """
    from constraintrot.report.store import Store
    from constraintrot.runs import estimate
    from constraintrot.runs.sweep import planning
    from constraintrot.runs.sweep.folder import catch_up

    if workers is not None and ray != "local":
        raise ConstraintRotError("--workers sizes a cluster on this machine; it goes with --ray")
    if store is not None:
        require("--store", "report")
    loaded, place = _loaded(spec, args, folder)
    place.check()
    if store is not None:
        Store(store).check()
    if again:
        place.forgive(place.poisoned())
    lines = planning.plan(loaded, place.finished(), {})
    estimate.before({one.model: one.size for one in lines if one.size.episodes}, yes=yes)
    if ray:
        from constraintrot.runs.sweep.on_ray import run as spread

        state = spread(loaded, place, ray, workers=workers, tries=tries, store=store, tell=_note)
    else:
        state = _here(loaded, place, tries)
    if store is not None:
        catch_up(store, place, state.finished)
    _tell_end(state, place)


@sweep.command()
@click.argument("spec")
@_ARG
@click.option("--package", help="What Hawk installs, as pip names it; this version by default.")
@click.option(
    "--out", type=click.Path(path_type=Path, file_okay=False), required=True,
    help="Folder for the files, one an eval set.",
)  # fmt: skip
@needs("eval", "scale")
def hawk(spec: str, args: tuple[str, ...], package: str | None, out: Path) -> None:
    """Write SPEC as eval sets of METR's Hawk: `hawk eval-set FILE` plays one."""
    from importlib.metadata import version

    from constraintrot.runs.sweep.hawk import eval_sets

    named = package or f"constraintrot[eval]=={version('constraintrot')}"
    for one in eval_sets(_loaded(spec, args, None)[0], named):
        path = out / f"{one['name']}.yaml"
        write("--out", path, yaml.safe_dump(one, sort_keys=False, allow_unicode=True))
        tasks, models = one["tasks"][0]["items"], one["models"][0]["items"]
        click.echo(f"{path}: {len(tasks)} tasks x {len(models)} models")


def _here(loaded: Sweep, place: SweepFolder, tries: int) -> State:
    from constraintrot.runs.sweep import local

    if loaded.settings.get("budgets"):
        _note("budgets hold on Ray; here, set max_connections of the models")
    return local.run(loaded, place, tries)


def _note(text: str) -> None:
    click.echo(f"note: {text}", err=True)


def _tell_end(state: State, place: SweepFolder) -> None:
    finished = sum(cell.id in state.finished for cell in state.cells)
    click.echo(f"{finished} of {len(state.cells)} cells finished: {place.path('logs')}")
    if state.stopped:
        click.echo(state.stopped)
    for one in state.poisoned.values():
        click.echo(f"constraintrot: set aside: {one['label']}: {one['error']}", err=True)
    if state.poisoned or not (state.done or state.stopped):
        sys.exit(1)


def _loaded(spec: str, args: tuple[str, ...], folder: str | None) -> tuple[Sweep, SweepFolder]:
    from constraintrot.runs.sweep.folder import SweepFolder
    from constraintrot.runs.sweep.loading import load

    loaded = load(spec, named_values("--arg", args))
    return loaded, SweepFolder(folder or f"logs/sweep/{Path(spec).stem}")
