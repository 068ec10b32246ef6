"""Writing a user's or a repository's rules as a signed list (``constraintrot pin export``)."""

from pathlib import Path

from constraintrot.coding_agents.pins import owners
from constraintrot.coding_agents.pins.compiled import (
    Source,
    read_compiled,
    registry_of,
    source_of,
)
from constraintrot.coding_agents.pins.file_edit import PinInstallError, make_folder
from constraintrot.coding_agents.pins.record import records
from constraintrot.defenses.operator import OperatorError, PinList, SigningKey
from constraintrot.defenses.operator.pin_list import read_list
from constraintrot.files import replace


def export(
    source: Source, out: Path, key: SigningKey, repository: str | None, folder: Path
) -> tuple[PinList, bool]:
    """Write a source as a signed list, and trust it on this machine.

    An existing list gets its next revision; it stays as it is if the pins are the same.

    Returns:
        The list, and whether it was written.
    """
    registry, _ = registry_of(source, folder)
    name = repository.rpartition("/")[2] if repository else out.name.partition(".")[0]
    made = PinList.of(registry, key.public, name=name, repository=repository, revision=1)
    before = _before(out, made)
    seen = owners.seen_revision(out, made, folder)
    if before is not None and before.pins == made.pins and before.revision >= seen:
        made, changed = before, False
    else:
        last = max(seen, before.revision if before else 0)
        made = made.model_copy(update={"revision": last + 1})
        make_folder(out.parent)
        replace(out, made.signed(key).encode("ascii"), PinInstallError, mode=None)
        changed = True
    owners.trust(out, made, repository, folder)
    return made, changed


def installed_source(project: Path | None) -> Source:
    """Return the source of the pinned rules: a project's, or the user's."""
    found = {
        source_of(read_compiled(one.pin.folder))
        for one in records()
        if one.scope == ("project" if project else "user")
        and (project is None or Path(one.project) == project)
    }
    if len(found) != 1 or (source := found.pop()).kind == "repository":
        raise PinInstallError("name the rules to export with --rules FILE or --seeds DIR")
    return source


def _before(out: Path, made: PinList) -> PinList | None:
    if not out.exists():
        return None
    try:
        before = read_list(out)
    except OperatorError as error:
        raise PinInstallError(f"{error}; move it away, or name another file") from None
    mine = (made.owner, made.name, made.repository)
    if (before.owner, before.name, before.repository) != mine:
        raise PinInstallError(
            f"{out} is the list {before.name!r} of key {before.key.id}; move it away, or name"
            " another file"
        )
    return before
