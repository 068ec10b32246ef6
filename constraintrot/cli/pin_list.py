"""``constraintrot pin export`` and ``pin trust``: signed lists of pins, and whom to take them from."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from constraintrot.command_line import options, say
from constraintrot.errors import ParameterError

if TYPE_CHECKING:
    from constraintrot.coding_agents.pins.compiled import Source
    from constraintrot.defenses.operator import PinList

_REPOSITORY = click.option(
    "--repository", help="The repository's name, if git has no origin of it, or a fork's."
)
POLICIES = options(
    click.option("--rules", type=click.Path(path_type=Path), help="A file with the policies."),
    click.option("--seeds", type=click.Path(path_type=Path), help="A folder of seed files."),
)


@click.command("export")
@click.argument("out", required=False, type=click.Path(path_type=Path))
@click.option("--key", required=True, type=click.Path(path_type=Path), help="Your private key.")
@POLICIES
@click.option("--project", is_flag=True, help="For this repository, in .constraintrot/pins.json.")
@_REPOSITORY
def export_command(
    out: Path | None,
    key: Path,
    rules: Path | None,
    seeds: Path | None,
    project: bool,
    repository: str | None,
) -> None:
    """Write your policies to OUT as a list that you signed, for hooks, frameworks and a proxy.

    By default these are the policies that you have installed. constraintrot operator keygen
    makes a key.
    """
    from constraintrot.coding_agents.pins.installing import export, installed_source
    from constraintrot.coding_agents.pins.owners import IN_REPOSITORY, origin_of
    from constraintrot.coding_agents.pins.record import pins_folder
    from constraintrot.defenses.operator import SigningKey
    from constraintrot.defenses.operator.pin_list import of_repository

    if (out is None) != project or (repository and not project):
        raise ParameterError("give OUT for a list of yours, or --project for the repository's")
    source = source_of(rules, seeds)
    root, here = _root(), Path.cwd()
    if project:
        repository = repository or origin_of(root)
        if repository is None:
            raise ParameterError(f"git has no origin of {root}; name it with --repository")
    file = (out or root / IN_REPOSITORY).absolute()
    source = source or installed_source(here if project else None)
    made, changed = export(source, file, SigningKey.load(key), repository, pins_folder())
    done = "written" if changed else "as it was"
    policies = "1 policy" if len(made.pins) == 1 else f"{len(made.pins)} policies"
    click.echo(
        f"{file}: {done}: the list {made.name!r} of {of_repository(made.repository)}, revision"
        f" {made.revision}, {policies}, signed by key {made.key.id}"
    )


@click.command("trust")
@click.argument("file", required=False, type=click.Path(path_type=Path))
@click.option("--key", help="The id of the owner's key, as the owner told you; else you are asked.")
@_REPOSITORY
@click.option("--revoke", is_flag=True, help="Trust it no longer, and take its pins out.")
def trust_command(file: Path | None, key: str | None, repository: str | None, revoke: bool) -> None:
    """Show the signed list in FILE, or in this repository, and trust its owner for it.

    A repository's list counts in this folder alone, and only if it is signed by that owner.
    """
    from constraintrot.coding_agents.pins import owners
    from constraintrot.coding_agents.pins.record import pins_folder
    from constraintrot.defenses.operator import UnknownKeyError
    from constraintrot.defenses.operator.pin_list import read_list

    path = (file or _root() / owners.IN_REPOSITORY).absolute()
    folder = pins_folder()
    if revoke:
        _revoke(path, folder)
        return
    found = read_list(path)
    owners.identity(path, found, repository)
    _show(found)
    if key is not None and key != found.key.id:
        raise UnknownKeyError(f"{path} is signed by key {found.key.id}, not by {key}")
    if key is None:
        click.confirm("Trust this key for this list?", abort=True)
    owners.trust(path, found, repository, folder)
    more = "" if found.repository is None else " --project"
    rules = "" if found.repository else f" --rules {path}"
    click.echo(f"trusted; constraintrot pin install AGENT{more}{rules} puts it in force.")


def _revoke(path: Path, folder: Path) -> None:
    from constraintrot.coding_agents.pins import owners
    from constraintrot.coding_agents.pins.compiled import read_compiled
    from constraintrot.coding_agents.pins.installing import uninstall
    from constraintrot.coding_agents.pins.record import records

    gone = owners.revoke(path, folder)
    click.echo("not trusted any more" if gone else "it was not trusted")
    for record in records():
        compiled = read_compiled(record.pin.folder)
        same = compiled.get("signed") and compiled["path"] == str(path)
        if same or any(one.was_compiled(compiled) for one in gone):
            uninstall(record.pin)
            click.echo(f"{record.pin.agent.title}, {record.scope}: its policies are taken out")


def _show(found: PinList) -> None:
    from constraintrot.defenses.operator.pin_list import of_repository

    say(
        f"the list {found.name!r} of {of_repository(found.repository)}, revision"
        f" {found.revision}, signed by key {found.key.id}"
    )
    for one in found.pins:
        say(f"  {one.name}:")
        for line in one.content.splitlines():
            say(f"    {line}")


def _root() -> Path:
    from constraintrot.coding_agents.pins.owners import repository_at

    return repository_at(Path.cwd()) or Path.cwd()


def source_of(rules: Path | None, seeds: Path | None) -> Source | None:
    from constraintrot.coding_agents.pins.compiled import Source
    from constraintrot.coding_agents.pins.installing import source_named

    if rules and seeds:
        raise ParameterError("give --rules or --seeds, not both")
    if seeds:
        return Source("seeds", seeds.absolute())
    return source_named(rules.absolute()) if rules else None
